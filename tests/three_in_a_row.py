"""A small game of tests: three in a row on the squares a1 to c3. It has no heuristic."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import ClassVar

from boardenvs.board.bitboard import NE, NW, E, N, from_squares, steps
from boardenvs.game.game import Game
from boardenvs.game.notation import Placing
from boardenvs.kernel import ALL, Bits, Table, nonzero

_BOARD = from_squares([f + r for f in "abc" for r in "123"])
_PLACED = Table([1 << square for square in range(64)] + [0])


@dataclass(frozen=True)
class ThreeInARow(Game):
    """Three in a row win; a full board without them is a draw."""

    id: str = "three_in_a_row"

    roles: ClassVar = ("cross", "nought")
    notation: ClassVar = Placing()
    holes: ClassVar = ALL ^ _BOARD
    opening_plies: ClassVar = (0, 3)

    def setup(self) -> tuple[int, int]:
        return 0, 0

    def moves(self, own: Bits, opp: Bits, to_move: Bits) -> tuple[Bits, ...]:
        return (_BOARD & ~(own | opp),)

    def play(self, own: Bits, opp: Bits, action: Bits) -> tuple[Bits, Bits]:
        return own | _PLACED[action], opp

    def over(self, own: Bits, opp: Bits, moves: Sequence[Bits], to_move: Bits, ply: Bits) -> Bits:
        full = nonzero(moves[0]) ^ 1
        return has_three(own) | has_three(opp) | full

    def points(self, own: Bits, opp: Bits, to_move: Bits) -> tuple[Bits, Bits]:
        return has_three(own), has_three(opp)


@dataclass(frozen=True)
class FullThreeInARow(ThreeInARow):
    """The same, for those who say that it fills the board: it does, and sooner is still better."""

    id: str = "full_three_in_a_row"
    fills_up: ClassVar = True


def has_three(pieces: Bits) -> Bits:
    """The flag 1 where three of the pieces stand in a row."""
    lines = [pieces & steps(pieces, d, 1) & steps(pieces, d, 2) for d in (N, E, NE, NW)]
    return nonzero(reduce(or_, lines))
