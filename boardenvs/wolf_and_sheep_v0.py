"""Wolf and Sheep: its environments. The docstring at run time is the game's page:
`help(boardenvs.wolf_and_sheep_v0)` or `boardenvs games wolf_and_sheep` shows it.
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

game_id = "wolf_and_sheep"
sys.modules[__name__].__class__ = GameModule


class WolfAndSheepRules(TypedDict, total=False):
    """The parameters of the rules of Wolf and Sheep."""

    rules: Literal["classic", "described"]
    max_plies: int | None


class WolfAndSheepEnvOptions(BoardOptions, WolfAndSheepRules):
    """The options of `env`, `raw_env` and `parallel_env`."""


class WolfAndSheepVecOptions(VectorOptions, WolfAndSheepRules):
    """The options of `vec_env`."""


@factory.shows_options(game_id, BoardAECEnv)
def env(**options: Unpack[WolfAndSheepEnvOptions]) -> BoardAECEnv:
    """See `boardenvs.env`."""
    return factory.env(game_id, **options)


@factory.shows_options(game_id, BoardAECEnv)
def raw_env(**options: Unpack[WolfAndSheepEnvOptions]) -> BoardAECEnv:
    """See `boardenvs.raw_env`."""
    return factory.raw_env(game_id, **options)


@factory.shows_options(game_id, BoardParallelEnv)
def parallel_env(**options: Unpack[WolfAndSheepEnvOptions]) -> BoardParallelEnv:
    """See `boardenvs.parallel_env`."""
    return factory.parallel_env(game_id, **options)


@factory.shows_options(game_id, BoardVectorEnv)
def vec_env(num_envs: int = 1, **options: Unpack[WolfAndSheepVecOptions]) -> BoardVectorEnv:
    """See `boardenvs.vec_env`."""
    return factory.vec_env(game_id, num_envs, **options)


__all__ = ["env", "parallel_env", "raw_env", "vec_env"]
