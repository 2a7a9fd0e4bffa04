"""Nine Men's Morris: place nine men each, then move them along the lines, with three men left to
any point; a line of three removes an opposing man that is in none, or any where all are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import ClassVar

from boardenvs.board import Board, all_empty, from_squares
from boardenvs.board.bitboard import squares_of
from boardenvs.game import BLACK, WHITE, About, Game, Look, Pairs, Parts, Placing, Position
from boardenvs.game.look import Circle, Ink, Rect, Shape
from boardenvs.game.rules import DRAW
from boardenvs.kernel import Bits, Table, less, nonzero, popcount, spread

BOARD = Board(rows=7, columns=7)
MEN, LAST_TURN = 9, 200
_TEXT = """
a7 d7 g7, b6 d6 f6, c5 d5 e5, a4 b4 c4, e4 f4 g4, c3 d3 e3, b2 d2 f2, a1 d1 g1,
a7 a4 a1, b6 b4 b2, c5 c4 c3, d7 d6 d5, d3 d2 d1, e5 e4 e3, f6 f4 f2, g7 g4 g1
"""
LINES = [from_squares(line.split(), BOARD) for line in _TEXT.split(",")]
POINTS = reduce(or_, LINES)
TARGETS = tuple(squares_of(POINTS))


def _neighbours(point: int) -> int:
    """Return the points beside this one in its lines, which have a middle and two ends."""
    neighbours = 0
    for line in LINES:
        _, middle, _ = squares_of(line)
        if line >> point & 1:
            neighbours |= line ^ 1 << point if point == middle else 1 << middle
    return neighbours


# Actions: a point where a man is placed or removed; then for each target, those that men leave.
_TARGET = Table(
    [1 << square for square in range(BOARD.size)]
    + [1 << target for target in TARGETS for _ in range(BOARD.size)]
    + [0]
)
_SOURCE = Table([0] * BOARD.size + [1 << s for _ in TARGETS for s in range(BOARD.size)] + [0])


def _drawn() -> Iterator[Shape]:
    """The lines of the board, and its points."""
    ink = Ink("#4a3612")
    for line in LINES:
        (y, x), (v, u) = (divmod(end, 7) for end in (*squares_of(line),)[::2])
        yield Rect(x + 0.48, 6 - v + 0.48, u - x + 0.04, v - y + 0.04, ink)
    for y, x in (divmod(point, 7) for point in TARGETS):
        yield Circle(x + 0.5, 6 - y + 0.5, 0.1, ink)


_GROUND = (  # of the board in a terminal
    ".--.--.|.-.-.|||...||... ...||...|||.-.-.|.--.--."
)


@dataclass(frozen=True)
class NineMensMorris(Game):
    """Leave the opponent two men, or no move."""

    id: str = "nine_mens_morris"

    roles: ClassVar = ("white", "black")
    shape: ClassVar = BOARD
    numbers: ClassVar = {
        "own_hand": MEN + 1,
        "opp_hand": MEN + 1,
        "removes": 2,
        "turns": LAST_TURN + 1,
    }
    holes: ClassVar = BOARD.all ^ POINTS
    notation: ClassVar = Parts((Placing(), Pairs(TARGETS)))
    look: ClassVar = Look("plain", (WHITE, BLACK), surface=tuple(_drawn()), ground=_GROUND)
    about: ClassVar = About(
        title="Nine Men's Morris",
        rules="""\
White and black place nine men each on the 24 points in turn, white first, and then move them along
the lines to a neighbouring empty point; a side with three men moves to any. A side that closes a
line of three removes an opposing man that is in no such line, or any if all are.""",
        pieces="men",
        planes=(
            *("men that the agent has in hand, in binary, lowest digit first",) * 4,
            *("men that the opponent has in hand, in binary",) * 4,
            "everywhere if a man is to be removed",
            "turns, in binary, lowest digit first",
        ),
        end="A side that has fewer than three men, or no move, loses; after 200 turns it is a "
        "draw. Nothing is truncated.",
        source="The usual rules, with OpenSpiel's limit of 200 turns.",
        instructions="""\
White and black take turns, white first. Each side has nine men. At first a side places a man on an
empty point in each turn. When all are placed, it moves one of its men along a line to the next
point, if that is empty; a side that has only three men left may move one to any empty point. The
lines of three points are a7 d7 g7, b6 d6 f6, c5 d5 e5, a4 b4 c4, e4 f4 g4, c3 d3 e3, b2 d2 f2, a1
d1 g1, a7 a4 a1, b6 b4 b2, c5 c4 c3, d7 d6 d5, d3 d2 d1, e5 e4 e3, f6 f4 f2 and g7 g4 g1. A
side that fills a line with three of its own men is to move again and removes an opposing man that
is in no full line of its side, or any if all are. A side with fewer than three men, or without a
move, loses. After 200 turns the game is a draw.""",
    )

    def setup(self) -> tuple[int, ...]:
        return 0, 0, MEN, MEN, 0, 0

    def moves(self, own: Bits, opp: Bits, own_hand: Bits, removes: Bits) -> list[Bits]:
        empty = POINTS & ~(own | opp)
        free = opp & ~_in_lines(opp)
        taken = free | opp & spread(nonzero(free) ^ 1)
        places = spread(nonzero(own_hand))
        flies = spread(less(popcount(own), 4))
        moving = spread(removes ^ 1) & ~places
        return [
            taken & spread(removes) | empty & places & spread(removes ^ 1),
            *(
                own & (_neighbours(target) | flies) & moving & spread(nonzero(empty & 1 << target))
                for target in TARGETS
            ),
        ]

    def play(
        self,
        own: Bits,
        opp: Bits,
        own_hand: Bits,
        opp_hand: Bits,
        removes: Bits,
        turns: Bits,
        action: Bits,
    ) -> tuple[Bits, ...]:
        target, source = _TARGET[action], _SOURCE[action]
        places = spread(removes ^ 1)
        after = own & ~source | target & places
        closed = nonzero(_in_lines(after) & target & places)
        hand = own_hand - (nonzero(own_hand) & (removes ^ 1))
        return after, opp & ~(target & ~places), hand, opp_hand, closed, turns + (closed ^ 1)

    def again(self, removes: Bits) -> Bits:
        return removes

    def over(
        self,
        own: Bits,
        opp: Bits,
        own_hand: Bits,
        opp_hand: Bits,
        turns: Bits,
        moves: Sequence[Bits],
    ) -> Bits:
        stuck = all_empty(moves)
        few = less(popcount(own) + own_hand, 3) | less(popcount(opp) + opp_hand, 3)
        return stuck | few | less(turns, LAST_TURN) ^ 1

    def points(
        self, own: Bits, opp: Bits, own_hand: Bits, opp_hand: Bits, removes: Bits
    ) -> tuple[Bits, Bits]:
        """Return a side with two men, or without a move, loses."""
        stuck = all_empty(self.moves(own, opp, own_hand, removes))
        lost = stuck | less(popcount(own) + own_hand, 3)
        won = less(popcount(opp) + opp_hand, 3)
        return won & (lost ^ 1), lost

    def turn(self, position: Position) -> str:
        what = "place" if position.word("own_hand") else "move"
        return f"to {'remove' if position.word('removes') else what} a man"

    def standing(self, position: Position) -> tuple[str, str]:
        first, second, hand, other = position.by_role()[:4]
        return (
            f"{first.bit_count()} and {hand} in hand",
            f"{second.bit_count()} and {other} in hand",
        )

    def ending(self, position: Position) -> str:
        if position.result() == (DRAW, DRAW):
            return f"after {LAST_TURN} turns"
        few = min(position.own.bit_count(), position.opp.bit_count()) < 3
        return "by leaving two men" if few else "by leaving no move"

    def evaluate(self, own: Bits, opp: Bits, own_hand: Bits, opp_hand: Bits) -> tuple[Bits, Bits]:
        return popcount(own) + own_hand, popcount(opp) + opp_hand


def _in_lines(men: Bits) -> Bits:
    """Return the men that stand in a full line."""
    return reduce(or_, [line & spread(nonzero(line & ~men) ^ 1) for line in LINES])
