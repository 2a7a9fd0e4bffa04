"""The names of Othello's common openings, however the board is turned."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from boardenvs.board.bitboard import EIGHT
from boardenvs.game.position import Position
from boardenvs.games import make
from boardenvs.games.othello import Othello
from boardenvs.records.moves import parse_line, put_passes
from boardenvs.records.record import replay

_NAMES = Path(__file__).with_name("openings.txt")  # moves and a name a line


def opening_of(position: Position) -> str | None:
    """Return the name of the opening that has just been reached; None if it has none."""
    game = position.game
    if not isinstance(game, Othello) or game.holes or game.board != EIGHT:
        return None
    return _names().get((*position.words, position.to_move))


@cache
def _names() -> dict[tuple[int, ...], str]:
    """Return the names by words and side to move."""
    names, game = {}, make("othello")
    lines = [line.split(maxsplit=1) for line in _NAMES.read_text(encoding="utf-8").splitlines()]
    records = put_passes([*filter(None, (parse_line(moves, game) for moves, _ in lines))])
    for (_, name), record in zip(lines, records, strict=True):
        last = replay(record)[-1]
        for symmetry in game.symmetries:
            turned = last.image(symmetry)
            names[(*turned.words, turned.to_move)] = name
    return names
