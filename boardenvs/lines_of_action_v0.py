"""Lines of Action: its environments. The docstring at run time is the game's page:
`help(boardenvs.lines_of_action_v0)` or `boardenvs games lines_of_action` shows it.
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

game_id = "lines_of_action"
sys.modules[__name__].__class__ = GameModule


class LinesOfActionRules(TypedDict, total=False):
    """The parameters of the rules of Lines of Action."""

    rules: Literal["classic", "described"]
    max_steps: int


class LinesOfActionEnvOptions(BoardOptions, LinesOfActionRules):
    """The options of `env`, `raw_env` and `parallel_env`."""


class LinesOfActionVecOptions(VectorOptions, LinesOfActionRules):
    """The options of `vec_env`."""


@factory.shows_options(game_id, BoardAECEnv)
def env(**options: Unpack[LinesOfActionEnvOptions]) -> BoardAECEnv:
    """See `boardenvs.env`."""
    return factory.env(game_id, **options)


@factory.shows_options(game_id, BoardAECEnv)
def raw_env(**options: Unpack[LinesOfActionEnvOptions]) -> BoardAECEnv:
    """See `boardenvs.raw_env`."""
    return factory.raw_env(game_id, **options)


@factory.shows_options(game_id, BoardParallelEnv)
def parallel_env(**options: Unpack[LinesOfActionEnvOptions]) -> BoardParallelEnv:
    """See `boardenvs.parallel_env`."""
    return factory.parallel_env(game_id, **options)


@factory.shows_options(game_id, BoardVectorEnv)
def vec_env(num_envs: int = 1, **options: Unpack[LinesOfActionVecOptions]) -> BoardVectorEnv:
    """See `boardenvs.vec_env`."""
    return factory.vec_env(game_id, num_envs, **options)


__all__ = ["env", "parallel_env", "raw_env", "vec_env"]
