"""Connect Four: drop discs into the files of a board of 6x7; four in a line win."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import ClassVar

from boardenvs.board import Board, Direction, Symmetry, step, steps
from boardenvs.game import RED, WINNING_LINE, About, Dropping, Game, Look, Position, disc
from boardenvs.game.look import Circle, Ink
from boardenvs.game.rules import DRAW
from boardenvs.kernel import Bits, Table, nonzero

BOARD = Board(rows=6, columns=7)
N, NE, E, SE, *_ = BOARD.directions
_FILE = Table([*map(BOARD.file, range(7)), 0])


YELLOW = disc("#f2c81e", "#f2c81e", "#fff3a3", "#a07c05")
_HOLES = tuple(Circle(x + 0.5, y + 0.5, 0.42, Ink("#173a75")) for y in range(6) for x in range(7))


@dataclass(frozen=True)
class ConnectFour(Game):
    """Drop discs into files; four in a line win."""

    id: str = "connect_four"

    roles: ClassVar = ("red", "yellow")
    shape: ClassVar = BOARD
    notation: ClassVar = Dropping()
    fills_up: ClassVar = True
    look: ClassVar = Look("blue", (RED, YELLOW), surface=_HOLES, badges=(WINNING_LINE,))
    about: ClassVar = About(
        title="Connect Four",
        rules="""\
Red and yellow drop discs into seven files in turn, red first. A disc falls to the lowest empty
square of its file.""",
        pieces="discs",
        passing="It is never legal in turn-based play.",
        end="Four discs of a side in a line, in any direction, win; a full board is a draw. "
        "Nothing is truncated.",
        source="With perfect play the side that moves first wins (J. D. Allen and V. Allis, 1988).",
        instructions="""\
Red and yellow take turns, red first. On its turn a side drops a disc into one of seven columns;
it falls to the lowest empty square of the column. Four discs of one side in a line, along a row, a
column or a diagonal, win. If the board is full without such a line, it is a draw.""",
    )

    @property
    def symmetries(self) -> tuple[Symmetry, ...]:
        return Symmetry(board=BOARD), Symmetry(flip_files=True, board=BOARD)

    def setup(self) -> tuple[int, int]:
        return 0, 0

    def moves(self, own: Bits, opp: Bits) -> list[Bits]:
        top = ~(own | opp) & BOARD.rank(5)
        return [top >> 5 * BOARD.columns]

    def play(self, own: Bits, opp: Bits, action: Bits) -> tuple[Bits, Bits]:
        free = _FILE[action] & ~(own | opp)
        return own | free & (0 - free), opp

    def over(self, opp: Bits, moves: Sequence[Bits]) -> Bits:
        return _has_four(opp) | nonzero(moves[0]) ^ 1

    def points(self, own: Bits, opp: Bits) -> tuple[Bits, Bits]:
        return _has_four(own), _has_four(opp)

    def ending(self, position: Position) -> str:
        return "on a full board" if position.result() == (DRAW, DRAW) else "by four in a line"


def _has_four(discs: Bits) -> Bits:
    def fours(way: Direction) -> Bits:
        pairs = discs & step(discs, way)
        return pairs & steps(pairs, way, 2)

    return nonzero(reduce(or_, map(fours, (N, NE, E, SE))))
