"""boardenvs: two-player board games for reinforcement learning.

    env = boardenvs.othello_v0.env()

Public modules `othello_v0`, `othello_holes_v0`, `reversi_v0`, `wolf_and_sheep_v0` and
`lines_of_action_v0` hold the environments; `games.make` gives the rules themselves, batched, and
`make_agent` players.
"""

from boardenvs import (
    games,
    lines_of_action_v0,
    othello_holes_v0,
    othello_v0,
    reversi_v0,
    wolf_and_sheep_v0,
)
from boardenvs.agents import make_agent
from boardenvs.envs.core import ResetNeededError
from boardenvs.envs.factory import env, parallel_env, raw_env, vec_env
from boardenvs.envs.registration import register, register_game
from boardenvs.game.contract import Game
from boardenvs.game.errors import IllegalActionError, PositionError
from boardenvs.game.perft import divide, perft
from boardenvs.kernel import get_backend, set_backend
from boardenvs.utils.version import __version__ as __version__

register()

__all__ = [
    "Game",
    "IllegalActionError",
    "PositionError",
    "ResetNeededError",
    "divide",
    "env",
    "games",
    "get_backend",
    "lines_of_action_v0",
    "make_agent",
    "othello_holes_v0",
    "othello_v0",
    "parallel_env",
    "perft",
    "raw_env",
    "register_game",
    "reversi_v0",
    "set_backend",
    "vec_env",
    "wolf_and_sheep_v0",
]
