"""Go, by default on 9x9 points, with area scoring, without suicide. Two passes end a game, and so
do two plies for each point, 162; a move that repeats any position before makes it a draw.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from itertools import combinations, count, islice
from math import comb
from operator import or_
from typing import ClassVar

from boardenvs.board import LARGEST, Direction, Symmetry, by_role, each_square, step, symmetries_of
from boardenvs.board.bitslice import add
from boardenvs.game import BLACK, WHITE, About, Game, Look, Parts, Passing, Placing, Position
from boardenvs.game.look import Circle, Ink, Rect
from boardenvs.kernel import Bits, less, nonzero, popcount, repeat, spread
from boardenvs.utils.checks import check_whole, is_number, quote

_INK = Ink("#4a3612")
_MOST_KOMI = 81


@dataclass(frozen=True)
class Go(Game):
    """Surround more points than your opponent.

    komi: the points that white gets for moving second, in whole or half points. size: lines each
    way.
    """

    id: str = "go"
    komi: float = 7.5
    size: int = 9

    roles: ClassVar = ("black", "white")
    squares: ClassVar = ("own", "opp", "ko")  # where it would take back at once
    numbers: ClassVar = {"passes": 3}  # in a row
    notation: ClassVar = Parts((Placing(), Passing()))

    def __post_init__(self) -> None:
        check_whole("size", self.size, 2, LARGEST)
        if not (is_number(self.komi, 0, _MOST_KOMI) and 2 * self.komi % 1 == 0):
            raise ValueError(
                f"komi is {quote(self.komi)}: it must be 0 to {_MOST_KOMI}, in halves of a point"
            )

    @cached_property
    def look(self) -> Look:  # type: ignore[override]
        n, far = self.size, 2.5 if self.size < 12 else 3.5
        dots = [(x, y) for x in (far, n - far) for y in (far, n - far) if n > 8]
        dots += [(n / 2, n / 2)] * (n % 2)
        return Look(
            "plain",
            (BLACK, WHITE),
            surface=(
                *(Rect(0.5, k + 0.485, n - 1, 0.03, _INK) for k in range(n)),
                *(Rect(k + 0.485, 0.5, 0.03, n - 1, _INK) for k in range(n)),
                *(Circle(x, y, 0.08, _INK) for x, y in dots),
            ),
            skips_i=True,
        )

    @property
    def about(self) -> About:
        n, plies = self.size, self.history
        last = self.look.files[n - 1]
        return About(
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
            end=f"The game ends after two passes in a row, or after {plies} plies. Whoever has "
            "more points wins: stones on the board and empty points that only they reach; white "
            "has `komi` more. A move that repeats any earlier position of the board ends the game "
            "as a draw. Nothing is truncated.",
            options={
                "komi": "points for white, 0 to 81, in halves; whole points allow draws.",
                "size": "lines each way, 2 to 16.",
            },
            source="Area scoring as in Tromp and Taylor's rules; OpenSpiel's repetition, which "
            "draws.",
            instructions=f"""\
Go on {n}x{n} points, a1 to {last}{n}; no file is i. Black and white take turns, black first. On its
turn a side places a stone of its own on an empty point, or passes. Stones of a side that touch
along the lines form a group. A group that has no empty point beside it is captured and leaves the
board. A stone may not be placed where its own group would be captured at once, nor may a side at
once retake the single stone that has just captured a single one. A move that repeats an earlier
position of the board ends the game as a draw.

The game ends after two passes in a row, or after {plies} moves. A side's points are its stones on
the board and the empty points that only its stones reach; white gets further points for moving
second (komi, {self.komi:g}). More points win.""",
        )

    @property
    def symmetries(self) -> tuple[Symmetry, ...]:
        return symmetries_of(self.board)

    @property
    def history(self) -> int:  # type: ignore[override]
        """All plies of the longest game."""
        return 2 * self.board.size

    def setup(self) -> tuple[int, ...]:
        return 0, 0, 0, 0

    def moves(self, own: Bits, opp: Bits, ko: Bits) -> list[Bits]:
        empty = self.board.all & ~(own | opp)
        strong = self._with_two_liberties(own, opp, empty)
        open_ = self._beside(empty | own & strong | opp & ~strong)
        return [empty & ~ko & open_, 1]

    def play(self, own: Bits, opp: Bits, passes: Bits, action: Bits) -> tuple[Bits, ...]:
        placed = each_square(self.board, 2)[action]
        own = own | placed
        alive = repeat(self._grown, opp & self._beside(self.board.all & ~(own | opp)), opp)
        taken = opp & ~alive
        one = less(popcount(taken), 2) & (nonzero(self._beside(placed) & ~opp) ^ 1)
        passed = nonzero(placed) ^ 1
        return own, opp & alive, taken & spread(one, self.board.all), (passes + 1) & spread(passed)

    def repetition_key(self, own: Bits, opp: Bits, to_move: Bits) -> tuple[Bits, Bits]:
        """Whose stones are where, whoever is to move."""
        return by_role(own, opp, to_move, self.board.all)

    def planes(
        self, own: Bits, opp: Bits, ko: Bits, passes: Bits, to_move: Bits
    ) -> tuple[Bits, ...]:
        all_ = self.board.all
        return own, opp, ko, spread(nonzero(passes), all_), spread(to_move, all_)

    def over(self, passes: Bits, ply: Bits, repeats: Bits) -> Bits:
        return less(1, passes) | less(ply, self.history) ^ 1 | _repeated(passes, repeats)

    def points(
        self, own: Bits, opp: Bits, to_move: Bits, passes: Bits, repeats: Bits
    ) -> tuple[Bits, Bits]:
        """Stones and the points that only they reach, in half points, with white's komi."""
        counts = spread(_repeated(passes, repeats) ^ 1)
        empty = self.board.all & ~(own | opp)
        mine, theirs = (repeat(self._grown, empty & self._beside(x), empty) for x in (own, opp))
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
        first, second = (f"{x / 2:g} point{'s' * (x != 2)}" for x in position.points())
        return (first, second) if position.is_over() else super().standing(position)

    def won_by(self, position: Position) -> float:
        first, second = position.points()
        return abs(first - second) / 2

    def evaluate(self, own: Bits, opp: Bits) -> tuple[Bits, Bits]:
        """Stones, their liberties, and the points that only one side is near to."""
        empty = self.board.all & ~(own | opp)
        mine, theirs = (self._grown(self._beside(x) & empty, empty) for x in (own, opp))
        return self._value(own, empty, mine & ~theirs), self._value(opp, empty, theirs & ~mine)

    def _value(self, stones: Bits, empty: Bits, near: Bits) -> Bits:
        liberties = popcount(self._beside(stones) & empty)
        return 4 * popcount(stones) + 2 * liberties + popcount(near)

    def _with_two_liberties(self, own: Bits, opp: Bits, empty: Bits) -> Bits:
        """Return the stones of groups that have two empty neighbours or more: more than four
        labels.
        """
        stones, ways = own | opp, self._ways
        linked = [own & step(own, way) | opp & step(opp, way) for way in ways]
        groups = partial(_groups, ways)
        digits = [0, 0, 0, 0]
        for points in self._labelled:
            labels = repeat(groups, stones & self._beside(empty & points), *linked)
            digits = add(digits, [labels, 0, 0, 0])[:4]
        ones, twos, fours, eights = digits
        return eights | fours & (twos | ones)

    @cached_property
    def _labelled(self) -> list[int]:
        """The points of each label. A point has four labels, no two points the same: the labels of
        two are more than four.
        """
        labels = next(n for n in count(4) if comb(n, 4) >= self.board.size)
        of_points = list(islice(combinations(range(labels), 4), self.board.size))
        return [
            sum(1 << point for point, own in enumerate(of_points) if label in own)
            for label in range(labels)
        ]

    @property
    def _ways(self) -> tuple[Direction, ...]:
        return self.board.directions[::2]

    def _beside(self, points: Bits) -> Bits:
        return reduce(or_, [step(points, way) for way in self._ways])

    def _grown(self, group: Bits, among: Bits) -> Bits:
        return group | among & self._beside(group)


def _repeated(passes: Bits, repeats: Bits) -> Bits:
    """Return the flag 1 where a stone has made a position that has been there."""
    return nonzero(repeats) & (nonzero(passes) ^ 1)


def _groups(ways: Sequence[Direction], stones: Bits, *linked: Bits) -> Bits:
    """Stones, and those beside them that each of the four ways links them to."""
    reached = [step(stones, way) & link for way, link in zip(ways, linked, strict=True)]
    return reduce(or_, reached, stones)
