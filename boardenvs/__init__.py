"""boardenvs: two-player board games for reinforcement learning."""

from boardenvs import games
from boardenvs.errors import IllegalActionError, PositionError
from boardenvs.perft import divide, perft

__all__ = ["IllegalActionError", "PositionError", "divide", "games", "perft"]
