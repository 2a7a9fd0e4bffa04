"""Connect Four: drop discs into the files of a board of 6x7; four in a line win."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import ClassVar

from boardenvs.board import Board, Direction, Symmetry, step, steps
from boardenvs.game import BLACK, WHITE, Dropping, Game, Look
from boardenvs.kernel import Bits, Table, nonzero

BOARD = Board(rows=6, columns=7)
N, NE, E, SE, *_ = BOARD.directions
_FILE = Table([*map(BOARD.file, range(7)), 0])


@dataclass(frozen=True)
class ConnectFour(Game):
    """Drop discs into files; four in a line win."""

    id: str = "connect_four"

    roles: ClassVar = ("white", "black")
    shape: ClassVar = BOARD
    notation: ClassVar = Dropping()
    fills_up: ClassVar = True
    look: ClassVar = Look("felt", (WHITE, BLACK))

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


def _has_four(discs: Bits) -> Bits:
    def fours(way: Direction) -> Bits:
        pairs = discs & step(discs, way)
        return pairs & steps(pairs, way, 2)

    return nonzero(reduce(or_, map(fours, (N, NE, E, SE))))
