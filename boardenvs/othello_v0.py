"""Othello: its environments. The docstring at run time is the game's page:
`help(boardenvs.othello_v0)` or `boardenvs games othello` shows it.
"""

from __future__ import annotations

import sys
from typing import Literal, TypedDict, Unpack

from boardenvs.envs.factory import BoardOptions, VectorOptions, makers
from boardenvs.envs.page import GameModule

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


def board_options(**options: Unpack[OthelloEnvOptions]) -> None: ...


def vector_options(**options: Unpack[OthelloVecOptions]) -> None: ...


env, raw_env, parallel_env, vec_env = makers(game_id, board_options, vector_options)

__all__ = ["env", "parallel_env", "raw_env", "vec_env"]
