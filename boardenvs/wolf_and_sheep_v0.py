"""Wolf and Sheep: its environments. The docstring at run time is the game's page:
`help(boardenvs.wolf_and_sheep_v0)` or `boardenvs games wolf_and_sheep` shows it.
"""

from __future__ import annotations

import sys
from typing import Literal, TypedDict, Unpack

from boardenvs.envs.factory import BoardOptions, VectorOptions, makers
from boardenvs.envs.page import GameModule

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


def board_options(**options: Unpack[WolfAndSheepEnvOptions]) -> None: ...


def vector_options(**options: Unpack[WolfAndSheepVecOptions]) -> None: ...


env, raw_env, parallel_env, vec_env = makers(game_id, board_options, vector_options)

__all__ = ["env", "parallel_env", "raw_env", "vec_env"]
