"""Hex on 11x11 cells: black connects ranks 1 and 11, white files a and k. A cell has six
neighbours: those beside it in its file and rank, and those to the south-east and north-west.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import ClassVar

from boardenvs.board import Board, Symmetry, step
from boardenvs.game import BLACK, WHITE, WINNING_LINE, About, Game, Look, Placing, Position
from boardenvs.kernel import Bits, Table, nonzero, repeat, spread

BOARD = Board(rows=11, columns=11)
N, _, E, SE, S, _, W, NW = BOARD.directions
_PLACED = Table([1 << cell for cell in range(BOARD.size)] + [0])


@dataclass(frozen=True)
class Hex(Game):
    """Connect your two edges of the board by a chain of stones."""

    id: str = "hex"

    roles: ClassVar = ("black", "white")
    shape: ClassVar = BOARD
    notation: ClassVar = Placing()
    mover_symmetry: ClassVar = Symmetry(transpose=True, board=BOARD)
    look: ClassVar = Look(
        "plain", (BLACK, WHITE), hexagons=True, borders=True, badges=(WINNING_LINE,)
    )
    about: ClassVar = About(
        title="Hex",
        rules="""\
Black and white place stones on empty cells in turn, black first. Black connects ranks 1 and 11,
white files a and k. A cell has six neighbours: those beside it in its file and rank, and those to
the south-east and north-west.""",
        pieces="stones",
        planes=("everywhere if white is to move",),
        passing="It is never legal in turn-based play.",
        end="The side whose stones connect its two edges wins; there is no draw. Nothing is "
        "truncated.",
        source="Hex by P. Hein and J. Nash, without the rule of swapping sides: black has an "
        "advantage.",
        instructions="""\
Black and white take turns, black first. On its turn a side places a stone on an empty cell of a
board of 11x11 hexagons. A cell touches up to six others: the two beside it in its row, the two
beside it in its column, and two on one diagonal: f6 touches f5, f7, e6, g6, e7 and g5. Black wins
by a chain of touching stones from the edge a1 to k1 to the edge a11 to k11, white by one from the
edge a1 to a11 to the edge k1 to k11. There is no draw, and nobody passes.""",
    )

    @property
    def symmetries(self) -> tuple[Symmetry, ...]:
        return Symmetry(board=BOARD), Symmetry(flip_files=True, flip_ranks=True, board=BOARD)

    def setup(self) -> tuple[int, int]:
        return 0, 0

    def moves(self, own: Bits, opp: Bits) -> list[Bits]:
        return [~(own | opp) & BOARD.all]

    def play(self, own: Bits, opp: Bits, action: Bits) -> tuple[Bits, Bits]:
        return own | _PLACED[action], opp

    def over(self, opp: Bits, to_move: Bits) -> Bits:
        return connects(opp, to_move ^ 1)  # only the side that has moved can have won

    def points(self, own: Bits, opp: Bits, to_move: Bits) -> tuple[Bits, Bits]:
        return connects(own, to_move), connects(opp, to_move ^ 1)

    def ending(self, position: Position) -> str:
        return "by connecting its edges"

    def planes(self, own: Bits, opp: Bits, to_move: Bits) -> tuple[Bits, ...]:
        return own, opp, spread(to_move, BOARD.all)


def connects(stones: Bits, role: Bits) -> Bits:
    """Return the flag 1 where the role's stones connect its edges."""
    black, white = spread(role ^ 1, BOARD.all), spread(role, BOARD.all)
    first = BOARD.rank(0) & black | BOARD.file(0) & white
    last = BOARD.rank(10) & black | BOARD.file(10) & white
    return nonzero(repeat(_grown, stones & first, stones) & last)


def _grown(group: Bits, stones: Bits) -> Bits:
    return group | stones & reduce(or_, [step(group, way) for way in (N, E, SE, S, W, NW)])
