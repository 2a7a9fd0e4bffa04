"""Moves as the rule sheets of the General Game Playing repository write them, without parentheses:
"4 3", "b 1 b 3", "c1 c1 c2 c2", "noop".
"""

from __future__ import annotations

import re
from string import ascii_lowercase

from boardenvs.game.contract import Game
from boardenvs.game.notation import PASS
from boardenvs.games import LinesOfAction, WolfAndSheep


def write_move(game: Game, name: str) -> str:
    """The move that players write so."""
    if name == PASS:
        return "noop"
    if isinstance(game, LinesOfAction):
        return re.sub("([a-h])([1-8])", r"\1 \2", name).replace("-", " ")
    sign = "c" if isinstance(game, WolfAndSheep) else ""
    cells = ((ascii_lowercase.index(square[0]) + 1, square[1:]) for square in name.split("-"))
    return " ".join(f"{sign}{x} {sign}{_row(game, y)}" for x, y in cells)


def read_move(game: Game, text: str) -> int:
    """The action of what `write_move` writes."""
    if text == "noop":
        return game.noop
    fields = (text if isinstance(game, LinesOfAction) else text.replace("c", "")).split(" ")
    files = (ascii_lowercase[int(x) - 1] if x.isdecimal() else x for x in fields[::2])
    cells = zip(files, fields[1::2], strict=True)
    return game.parse_action("-".join(x + _row(game, y) for x, y in cells))


def _row(game: Game, text: str) -> str:
    """The rule sheets count the rows of Othello from the bottom, players from the top."""
    return str(9 - int(text)) if game.look.from_top and text in set("12345678") else text
