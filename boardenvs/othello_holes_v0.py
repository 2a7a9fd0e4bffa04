"""Othello with holes: its environments. The docstring at run time is the game's page:
`help(boardenvs.othello_holes_v0)` or `boardenvs games othello_holes` shows it.
"""

from __future__ import annotations

import sys

from boardenvs.envs.factory import makers
from boardenvs.envs.page import GameModule
from boardenvs.othello_v0 import board_options, vector_options

game_id = "othello_holes"
sys.modules[__name__].__class__ = GameModule
env, raw_env, parallel_env, vec_env = makers(game_id, board_options, vector_options)

__all__ = ["env", "parallel_env", "raw_env", "vec_env"]
