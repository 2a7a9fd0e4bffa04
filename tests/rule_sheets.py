"""Moves as the rule sheets of the General Game Playing repository write them, without parentheses:
"4 3", "b 1 b 3", "c1 c1 c2 c2", "noop".
"""

from __future__ import annotations

from string import ascii_lowercase

from boardenvs.game.game import Game
from boardenvs.game.position import Position
from boardenvs.games import LinesOfAction

_SQUARES = {"lines_of_action": "{file} {y}", "wolf_and_sheep": "c{x} c{y}"}


def write_move(position: Position, action: int) -> str:
    """A legal action as the rule sheets write it."""
    game = position.game
    if action == game.noop:
        return "noop"
    form = _SQUARES.get(game.id, "{x} {y}")
    cells = [divmod(square, game.shape[1]) for square in game.action_squares(action, position)]
    return " ".join(form.format(file=ascii_lowercase[x], x=x + 1, y=y + 1) for y, x in cells)


def read_move(game: Game, text: str) -> int:
    """The action that the rule sheets write so; the inverse of `write_move`."""
    if text == "noop":
        return game.noop
    fields = (text if isinstance(game, LinesOfAction) else text.replace("c", "")).split(" ")
    files = (ascii_lowercase[int(x) - 1] if x.isdecimal() else x for x in fields[::2])
    cells = zip(files, fields[1::2], strict=True)
    return game.parse_action("-".join(x + _row(game, y) for x, y in cells))


def _row(game: Game, text: str) -> str:
    """The rule sheets count the rows of Othello from the bottom, players from the top."""
    return str(9 - int(text)) if game.look.from_top and text in set("12345678") else text
