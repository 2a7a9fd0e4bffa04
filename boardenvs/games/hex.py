"""Hex, by default on 11x11 cells: black connects the first and the last rank, white the first and
the last file. A cell has six neighbours: those beside it in its file and rank, and those to the
south-east and north-west.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial, reduce
from operator import or_
from typing import ClassVar

from boardenvs.board import LARGEST, Board, Direction, Symmetry, each_square, step, symmetries_of
from boardenvs.game import BLACK, WHITE, WINNING_LINE, About, Game, Look, Placing, Position
from boardenvs.kernel import Bits, nonzero, repeat, spread
from boardenvs.utils.checks import check_whole


@dataclass(frozen=True)
class Hex(Game):
    """Connect your two edges of the board by a chain of stones."""

    id: str = "hex"
    size: int = 11  # ranks, and files

    roles: ClassVar = ("black", "white")
    notation: ClassVar = Placing()
    look: ClassVar = Look(
        "plain", (BLACK, WHITE), hexagons=True, borders=True, badges=(WINNING_LINE,)
    )

    def __post_init__(self) -> None:
        check_whole("size", self.size, 2, LARGEST)

    @property
    def about(self) -> About:
        n, last = self.size, self.look.files[self.size - 1]
        return About(
            title="Hex",
            rules=f"""\
Black and white place stones on empty cells in turn, black first. Black connects ranks 1 and {n},
white files a and {last}. A cell has six neighbours: those beside it in its file and rank, and those
to the south-east and north-west.""",
            pieces="stones",
            planes=("everywhere if white is to move",),
            passing="It is never legal in turn-based play.",
            end="The side whose stones connect its two edges wins; there is no draw. Nothing is "
            "truncated.",
            options={"size": "ranks, and files: 2 to 16."},
            source="Hex by P. Hein and J. Nash, without the rule of swapping sides: black has an "
            "advantage.",
            instructions=f"""\
Black and white take turns, black first. On its turn a side places a stone on an empty cell of a
board of {n}x{n} hexagons. A cell touches up to six others: the two beside it in its row, the two
beside it in its column, and two on one diagonal: b2 touches b1, b3, a2, c2, a3 and c1, as far as
the board goes. Black wins by a chain of touching stones from the edge a1 to {last}1 to the edge
a{n} to {last}{n}, white by one from the edge a1 to a{n} to the edge {last}1 to {last}{n}. There is
no draw, and nobody passes.""",
        )

    @property
    def mover_symmetry(self) -> Symmetry:  # type: ignore[override]
        return Symmetry(transpose=True, board=self.board)

    @property
    def symmetries(self) -> tuple[Symmetry, ...]:
        return symmetries_of(self.board)[:4:3]

    def setup(self) -> tuple[int, int]:
        return 0, 0

    def moves(self, own: Bits, opp: Bits) -> list[Bits]:
        return [~(own | opp) & self.board.all]

    def play(self, own: Bits, opp: Bits, action: Bits) -> tuple[Bits, Bits]:
        return own | each_square(self.board)[action], opp

    def over(self, opp: Bits, to_move: Bits) -> Bits:
        return connects(opp, to_move ^ 1, self.board)  # only the side that has moved can have won

    def points(self, own: Bits, opp: Bits, to_move: Bits) -> tuple[Bits, Bits]:
        return connects(own, to_move, self.board), connects(opp, to_move ^ 1, self.board)

    def ending(self, position: Position) -> str:
        return "by connecting its edges"

    def planes(self, own: Bits, opp: Bits, to_move: Bits) -> tuple[Bits, ...]:
        return own, opp, spread(to_move, self.board.all)


def connects(stones: Bits, role: Bits, board: Board) -> Bits:
    """Return the flag 1 where the role's stones connect its edges."""
    black, white = spread(role ^ 1, board.all), spread(role, board.all)
    end = board.rows - 1
    first = board.rank(0) & black | board.file(0) & white
    last = board.rank(end) & black | board.file(end) & white
    north, _, east, southeast, south, _, west, northwest = board.directions
    ways = north, east, southeast, south, west, northwest
    return nonzero(repeat(partial(_grown, ways), stones & first, stones) & last)


def _grown(ways: Sequence[Direction], group: Bits, stones: Bits) -> Bits:
    return group | stones & reduce(or_, [step(group, way) for way in ways])
