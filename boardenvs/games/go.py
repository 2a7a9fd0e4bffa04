"""Go on 9x9 points with area scoring, without suicide. Two passes end a game, and so do 162 plies;
a move that repeats any position of the board before makes it a draw.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import combinations, islice
from operator import or_
from typing import ClassVar

from boardenvs.board import Board, Symmetry, by_role, step, symmetries_of
from boardenvs.board.bitslice import add
from boardenvs.game import BLACK, WHITE, About, Game, Look, Parts, Passing, Placing, Position
from boardenvs.game.look import Circle, Ink, Rect, Shape
from boardenvs.kernel import Bits, Table, less, nonzero, popcount, repeat, spread
from boardenvs.utils.checks import is_number, quote

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


_INK = Ink("#4a3612")
_SURFACE: tuple[Shape, ...] = (
    *(Rect(0.5, k + 0.485, 8, 0.03, _INK) for k in range(9)),
    *(Rect(k + 0.485, 0.5, 0.03, 8, _INK) for k in range(9)),
    Circle(4.5, 4.5, 0.08, _INK),
    *(Circle(x, y, 0.08, _INK) for x in (2.5, 6.5) for y in (2.5, 6.5)),
)


@dataclass(frozen=True)
class Go(Game):
    """Surround more points than your opponent.

    komi: the points that white gets for moving second, in whole or half points.
    """

    id: str = "go"
    komi: float = 7.5

    roles: ClassVar = ("black", "white")
    shape: ClassVar = BOARD
    squares: ClassVar = ("own", "opp", "ko")  # where it would take back at once
    numbers: ClassVar = {"passes": 3}  # in a row
    history: ClassVar = LAST_PLY
    notation: ClassVar = Parts((Placing(), Passing()))
    look: ClassVar = Look("plain", (BLACK, WHITE), surface=_SURFACE, skips_i=True)
    about: ClassVar = About(
        title="Go",
        rules="""\
Black and white place stones on empty points in turn, black first, or pass. Stones that touch along
the lines form a group; a group without an empty point beside it is captured. Suicide is not
allowed, nor is retaking a single stone at once (ko).""",
        pieces="stones",
        planes=(
            "the point where a ko forbids to play",
            "everywhere if the last move was a pass",
            "everywhere if white is to move",
        ),
        passing="It is never legal: one passes with the action before it.",
        end="The game ends after two passes in a row, or after 162 plies. Whoever has more points "
        "wins: stones on the board and empty points that only they reach; white has `komi` "
        "more. A move that repeats any earlier position of the board ends the game as a draw. "
        "Nothing is truncated.",
        options={"komi": "points for white, 0 to 81, in halves; whole points allow draws."},
        source="Area scoring as in Tromp and Taylor's rules; OpenSpiel's repetition, which draws.",
        instructions="""\
Go on 9x9 points, a1 to j9; the files are a to h and j. Black and white take turns, black first. On
its turn a side places a stone of its own on an empty point, or passes. Stones of a side that touch
along the lines form a group. A group that has no empty point beside it is captured and leaves the
board. A stone may not be placed where its own group would be captured at once, nor may a side at
once retake the single stone that has just captured a single one. A move that repeats an earlier
position of the board ends the game as a draw.

The game ends after two passes in a row, or after 162 moves. A side's points are its stones on the
board and the empty points that only its stones reach; white gets further points for moving second
(komi, 7.5 by default). More points win.""",
    )

    def __post_init__(self) -> None:
        if not (is_number(self.komi, 0, BOARD.size) and 2 * self.komi % 1 == 0):
            raise ValueError(
                f"komi is {quote(self.komi)}: it must be 0 to {BOARD.size}, in halves of a point"
            )

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

    def repetition_key(self, own: Bits, opp: Bits, to_move: Bits) -> tuple[Bits, Bits]:
        """Whose stones are where, whoever is to move."""
        return by_role(own, opp, to_move, BOARD.all)

    def planes(
        self, own: Bits, opp: Bits, ko: Bits, passes: Bits, to_move: Bits
    ) -> tuple[Bits, ...]:
        return own, opp, ko, spread(nonzero(passes), BOARD.all), spread(to_move, BOARD.all)

    def over(self, passes: Bits, ply: Bits, repeats: Bits) -> Bits:
        return less(1, passes) | less(ply, LAST_PLY) ^ 1 | _repeated(passes, repeats)

    def points(
        self, own: Bits, opp: Bits, to_move: Bits, passes: Bits, repeats: Bits
    ) -> tuple[Bits, Bits]:
        """Stones and the points that only they reach, in half points, with white's komi."""
        counts = spread(_repeated(passes, repeats) ^ 1)
        empty = BOARD.all & ~(own | opp)
        mine, theirs = (repeat(_grown, empty & _beside(x), empty) for x in (own, opp))
        area = popcount(own | mine & ~theirs), popcount(opp | theirs & ~mine)
        komi = int(2 * self.komi)
        first, second = 2 * area[0] + komi * to_move, 2 * area[1] + komi * (to_move ^ 1)
        return first & counts, second & counts

    def ending(self, position: Position) -> str:
        if points := self.won_by(position):
            return f"by {points:g} points"
        counted = position.points()[0] or position.word("passes") > 1
        return "with equal points" if counted else "by repetition"

    def standing(self, position: Position) -> tuple[str, str]:
        """Return stones, and at the end of the game points."""
        first, second = (f"{points / 2:g} points" for points in position.points())
        return (first, second) if position.is_over() else super().standing(position)

    def won_by(self, position: Position) -> float:
        first, second = position.points()
        return abs(first - second) / 2

    def evaluate(self, own: Bits, opp: Bits) -> tuple[Bits, Bits]:
        """Stones, their liberties, and the points that only one side is near to."""
        empty = BOARD.all & ~(own | opp)
        mine, theirs = (_grown(_beside(x) & empty, empty) for x in (own, opp))
        return _value(own, empty, mine & ~theirs), _value(opp, empty, theirs & ~mine)


def _repeated(passes: Bits, repeats: Bits) -> Bits:
    """Return the flag 1 where a stone has made a position that has been there."""
    return nonzero(repeats) & (nonzero(passes) ^ 1)


def _value(stones: Bits, empty: Bits, near: Bits) -> Bits:
    return 4 * popcount(stones) + 2 * popcount(_beside(stones) & empty) + popcount(near)


def _with_two_liberties(own: Bits, opp: Bits, empty: Bits) -> Bits:
    """Return the stones of groups that have two empty neighbours or more: more than four labels."""
    stones = own | opp
    linked = [own & step(own, way) | opp & step(opp, way) for way in (N, E, S, W)]
    labels = [repeat(_groups, stones & _beside(empty & points), *linked) for points in _LABELLED]
    count: list[Bits] = [0, 0, 0, 0]
    for labelled in labels:
        count = add(count, [labelled, 0, 0, 0])[:4]
    ones, twos, fours, eights = count
    return eights | fours & (twos | ones)


def _beside(points: Bits) -> Bits:
    return reduce(or_, [step(points, way) for way in (N, E, S, W)])


def _grown(group: Bits, among: Bits) -> Bits:
    return group | among & _beside(group)


def _groups(stones: Bits, *linked: Bits) -> Bits:
    """Stones, and those beside them that each of the four ways links them to."""
    reached = [step(stones, way) & link for way, link in zip((N, E, S, W), linked, strict=True)]
    return reduce(or_, reached, stones)
