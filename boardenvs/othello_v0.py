"""Othello: its environments. The docstring at run time is the game's page:
`help(boardenvs.othello_v0)` or `boardenvs games othello` shows it.
"""

from __future__ import annotations

import sys
from typing import Literal, TypedDict, Unpack

from boardenvs.envs import factory
from boardenvs.envs.aec import BoardAECEnv
from boardenvs.envs.options import BoardOptions, VectorOptions
from boardenvs.envs.page import GameModule
from boardenvs.envs.parallel import BoardParallelEnv
from boardenvs.envs.vector import BoardVectorEnv

game_id = "othello"
sys.modules[__name__].__class__ = GameModule


class OthelloRules(TypedDict, total=False):
    """The parameters of Othello's rules."""

    holes: int
    empties: Literal["nobody", "winner"]


class OthelloEnvOptions(BoardOptions, OthelloRules):
    """The options of `env`, `raw_env` and `parallel_env`."""


class OthelloVecOptions(VectorOptions, OthelloRules):
    """The options of `vec_env`."""


@factory.shows_options(game_id, BoardAECEnv)
def env(**options: Unpack[OthelloEnvOptions]) -> BoardAECEnv:
    """See `boardenvs.env`."""
    return factory.env(game_id, **options)


@factory.shows_options(game_id, BoardAECEnv)
def raw_env(**options: Unpack[OthelloEnvOptions]) -> BoardAECEnv:
    """See `boardenvs.raw_env`."""
    return factory.raw_env(game_id, **options)


@factory.shows_options(game_id, BoardParallelEnv)
def parallel_env(**options: Unpack[OthelloEnvOptions]) -> BoardParallelEnv:
    """See `boardenvs.parallel_env`."""
    return factory.parallel_env(game_id, **options)


@factory.shows_options(game_id, BoardVectorEnv)
def vec_env(num_envs: int = 1, **options: Unpack[OthelloVecOptions]) -> BoardVectorEnv:
    """See `boardenvs.vec_env`."""
    return factory.vec_env(game_id, num_envs, **options)


__all__ = ["env", "parallel_env", "raw_env", "vec_env"]
