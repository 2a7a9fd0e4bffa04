"""Games: their rules and everything that is derived from them.

Authors of games import from here, from `boardenvs.board` and from `boardenvs.kernel`;
boardenvs/games/README.md shows how to add a game.
"""

from boardenvs.game.errors import PositionError
from boardenvs.game.game import Game
from boardenvs.game.look import (
    BLACK,
    CROWN,
    RED,
    WHITE,
    WINNING_LINE,
    Figure,
    Look,
    PieceLook,
    disc,
    piece,
)
from boardenvs.game.notation import (
    Dropping,
    Moving,
    Named,
    Notation,
    Pairs,
    Parts,
    Passing,
    Placing,
)
from boardenvs.game.position import Position
from boardenvs.game.rules import MAX_VALUE, About, Feature
from boardenvs.game.state import State

__all__ = [
    "BLACK",
    "CROWN",
    "MAX_VALUE",
    "RED",
    "WHITE",
    "WINNING_LINE",
    "About",
    "Dropping",
    "Feature",
    "Figure",
    "Game",
    "Look",
    "Moving",
    "Named",
    "Notation",
    "Pairs",
    "Parts",
    "Passing",
    "PieceLook",
    "Placing",
    "Position",
    "PositionError",
    "State",
    "disc",
    "piece",
]
