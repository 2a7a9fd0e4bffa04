"""Go on 9x9 points with area scoring and 7.5 points for white, without suicide. Two passes end a
game, and so do 162 plies; a move that repeats any position of the board before makes it a draw.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import combinations, islice
from operator import or_
from typing import ClassVar

from boardenvs.board import Board, Symmetry, step, symmetries_of
from boardenvs.board.bitslice import add
from boardenvs.game import BLACK, WHITE, Game, Look, Parts, Passing, Placing
from boardenvs.kernel import Bits, Table, less, nonzero, popcount, repeat, spread

BOARD = Board(rows=9, columns=9)
N, _, E, _, S, _, W, _ = BOARD.directions
LAST_PLY = 2 * BOARD.size
_PLACED = Table([1 << point for point in range(BOARD.size)] + [0, 0])
# Each point has four of nine labels, no two points the same: the labels of two are more than four.
_LABELLED = [
    sum(
        1 << point
        for point, label in enumerate(islice(combinations(range(9), 4), BOARD.size))
        if k in label
    )
    for k in range(9)
]


@dataclass(frozen=True)
class Go(Game):
    """Surround more points than your opponent."""

    id: str = "go"

    roles: ClassVar = ("black", "white")
    shape: ClassVar = BOARD
    squares: ClassVar = ("own", "opp", "ko")  # where it would take back at once
    numbers: ClassVar = {"passes": 3}  # in a row
    history: ClassVar = LAST_PLY
    notation: ClassVar = Parts((Placing(), Passing()))
    look: ClassVar = Look("felt", (BLACK, WHITE))

    @property
    def symmetries(self) -> tuple[Symmetry, ...]:
        return symmetries_of(BOARD)

    def setup(self) -> tuple[int, ...]:
        return 0, 0, 0, 0

    def moves(self, own: Bits, opp: Bits, ko: Bits) -> list[Bits]:
        empty = BOARD.all & ~(own | opp)
        strong = _with_two_liberties(own, opp, empty)
        open_ = _beside(empty | own & strong | opp & ~strong)
        return [empty & ~ko & open_, 1]

    def play(self, own: Bits, opp: Bits, passes: Bits, action: Bits) -> tuple[Bits, ...]:
        placed = _PLACED[action]
        own = own | placed
        alive = repeat(_grown, opp & _beside(BOARD.all & ~(own | opp)), opp)
        taken = opp & ~alive
        one = less(popcount(taken), 2) & (nonzero(_beside(placed) & ~opp) ^ 1)
        passed = nonzero(placed) ^ 1
        return own, opp & alive, taken & spread(one, BOARD.all), (passes + 1) & spread(passed)

    def known(self, own: Bits, opp: Bits, to_move: Bits) -> tuple[Bits, Bits]:
        """Whose stones are where, whoever is to move."""
        other = (own ^ opp) & spread(to_move, BOARD.all)
        return own ^ other, opp ^ other

    def planes(
        self, own: Bits, opp: Bits, ko: Bits, passes: Bits, to_move: Bits
    ) -> tuple[Bits, ...]:
        return own, opp, ko, spread(nonzero(passes), BOARD.all), spread(to_move, BOARD.all)

    def over(self, passes: Bits, ply: Bits, repeats: Bits) -> Bits:
        return less(1, passes) | less(ply, LAST_PLY) ^ 1 | _repeated(passes, repeats)

    def points(
        self, own: Bits, opp: Bits, to_move: Bits, passes: Bits, repeats: Bits
    ) -> tuple[Bits, Bits]:
        """Stones and the points that only they reach, in half points; 7.5 more for white."""
        counts = spread(_repeated(passes, repeats) ^ 1)
        empty = BOARD.all & ~(own | opp)
        mine, theirs = (repeat(_grown, empty & _beside(x), empty) for x in (own, opp))
        area = popcount(own | mine & ~theirs), popcount(opp | theirs & ~mine)
        first, second = 2 * area[0] + 15 * to_move, 2 * area[1] + 15 * (to_move ^ 1)
        return first & counts, second & counts


def _repeated(passes: Bits, repeats: Bits) -> Bits:
    """The flag 1 where a stone has made a position that has been there."""
    return nonzero(repeats) & (nonzero(passes) ^ 1)


def _with_two_liberties(own: Bits, opp: Bits, empty: Bits) -> Bits:
    """The stones of groups that have two empty neighbours or more: more than four labels."""
    stones = own | opp
    linked = [own & step(own, way) | opp & step(opp, way) for way in (N, E, S, W)]
    found = [repeat(_groups, stones & _beside(empty & points), *linked) for points in _LABELLED]
    count: list[Bits] = [0, 0, 0, 0]
    for labelled in found:
        count = add(count, [labelled, 0, 0, 0])[:4]
    ones, twos, fours, eights = count
    return eights | fours & (twos | ones)


def _beside(points: Bits) -> Bits:
    return reduce(or_, [step(points, way) for way in (N, E, S, W)])


def _grown(group: Bits, among: Bits) -> Bits:
    return group | among & _beside(group)


def _groups(found: Bits, *linked: Bits) -> Bits:
    """Stones, and those beside them that each of the four ways links them to."""
    reached = [step(found, way) & link for way, link in zip((N, E, S, W), linked, strict=True)]
    return reduce(or_, reached, found)
