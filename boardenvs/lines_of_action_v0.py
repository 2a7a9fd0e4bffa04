"""Lines of Action: its environments. The docstring at run time is the game's page:
`help(boardenvs.lines_of_action_v0)` or `boardenvs games lines_of_action` shows it.
"""

from __future__ import annotations

import sys
from typing import Literal, TypedDict, Unpack

from boardenvs.envs.factory import BoardOptions, VectorOptions, makers
from boardenvs.envs.page import GameModule

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


def board_options(**options: Unpack[LinesOfActionEnvOptions]) -> None: ...


def vector_options(**options: Unpack[LinesOfActionVecOptions]) -> None: ...


env, raw_env, parallel_env, vec_env = makers(game_id, board_options, vector_options)

__all__ = ["env", "parallel_env", "raw_env", "vec_env"]
