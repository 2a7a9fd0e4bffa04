"""Othello, Othello with holes and Reversi.

Source: the rule sheets `othello-comp2007`, `othelloHoles` and `reversi` of the General Game
Playing repository. The rules of Othello and Reversi are the same there; with holes, four squares
are never occupied and no line of discs runs through them.

A side passes only when it has no move, and the game ends as soon as neither side has one: no
trailing double pass is played.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from operator import add
from typing import ClassVar

from boardenvs.board.bitboard import (
    LARGEST,
    Direction,
    Lanes,
    each_square,
    fill,
    from_squares,
    squares_of,
    step,
    union,
)
from boardenvs.board.symmetry import Symmetry, symmetries_of
from boardenvs.game.game import Game
from boardenvs.game.look import BLACK, WHITE, Look
from boardenvs.game.notation import Placing
from boardenvs.game.rules import About
from boardenvs.games.appearance import about_othello
from boardenvs.kernel import Bits, guard, less, nonzero, popcount, spread, when
from boardenvs.utils.checks import check_name, check_whole, is_whole, quote

# The squares diagonally beside the centre of the board, on 8x8.
CENTRE_HOLES = from_squares(["c3", "c6", "f3", "f6"])

_EMPTIES = ("nobody", "winner")
# Steps from stable discs to those beside them: more find more, and take longer.
_STABLE_STEPS = 5

# The weight of a disc by its distances from the nearest edges along rank and file; the last row and
# column hold for all greater distances.
# The weights of T. Yoshioka, S. Ishii and M. Ito, "Strategy acquisition for the game Othello based
# on reinforcement learning" (IEICE Transactions, 1999), in hundredths. They are the standard
# heuristic opponent of the literature on learning Othello.
_QUARTER = (
    (100, -25, 10, 5),
    (-25, -25, 1, 1),
    (10, 1, 5, 2),
    (5, 1, 2, 1),
)


@dataclass(frozen=True)
class Othello(Game):
    """Place a disc so that it brackets a line of opposing discs, which flip. More discs win.

    With `empties="winner"` the winner also gets the squares that stay empty, as in tournaments.

    Action s places a disc on square s; 64 is noop, on a board of another size n*n.
    Planes: own discs, opposing discs and, with holes, the holes.
    """

    id: str = "othello"
    holes: int = 0  # type: ignore[misc]  # squares out of play, as a bitboard
    empties: str = "nobody"  # whose the squares are that stay empty
    size: int = 8  # ranks, and files

    roles: ClassVar = ("black", "red")
    notation: ClassVar = Placing()
    margin_counts: ClassVar = True
    fills_up: ClassVar = True
    fills_by_capture: ClassVar = True
    look: ClassVar = Look("felt", (BLACK, WHITE), sides=("black", "white"), from_top=True)

    def __post_init__(self) -> None:
        check_name("empties", self.empties, _EMPTIES)
        check_whole("size", self.size, 4, LARGEST, even=True)
        first, row = self._first, self.size
        if self.holes == CENTRE_HOLES:  # they are named so on boards of all sizes
            corners = (-row - 1, 2 - row, 2 * row - 1, 2 * row + 2)
            object.__setattr__(self, "holes", sum(1 << first + away for away in corners))
        black, red = self.setup()
        bits = self.size**2
        if not is_whole(self.holes, 0, (1 << bits) - 1) or self.holes & (black | red):
            raise ValueError(
                f"holes is {quote(self.holes)}: it must be a bitboard of {bits} bits without the "
                "four squares in the centre"
            )

    @property
    def about(self) -> About:
        names = map(self.square_names, (*self.setup(), self.holes))
        return about_othello(self.id, self.size, *names)

    @property
    def opening_plies(self) -> tuple[int, int]:  # type: ignore[override]
        return (6, 10) if self.size > 4 else (2, 4)

    @property
    def symmetries(self) -> tuple[Symmetry, ...]:
        return tuple(s for s in symmetries_of(self.board) if s.apply(self.holes) == self.holes)

    @property
    def _first(self) -> int:
        """The lowest of the four squares in the centre."""
        return (self.size + 1) * (self.size // 2 - 1)

    @property
    def _in_play(self) -> int:
        return self.board.all ^ self.holes

    def setup(self) -> tuple[int, int]:
        first, row = self._first, self.size
        return 1 << first | 1 << first + row + 1, 1 << first + row | 1 << first + 1

    def moves(self, own: Bits, opp: Bits, to_move: Bits) -> tuple[Bits, ...]:
        return (self.mobility(own, opp),)

    def mobility(self, own: Bits, opp: Bits) -> Bits:
        """Return the empty squares from which a line of `opp` leads to one of `own`."""
        lines = union(_beyond, own, opp, directions=self.board.directions)
        return lines & ~(own | opp) & self._in_play

    def play(self, own: Bits, opp: Bits, action: Bits) -> tuple[Bits, Bits]:
        placed = each_square(self.board)[action]
        flips = union(_bracketed, placed, own, opp, directions=self.board.directions)
        return own | placed | flips, opp ^ flips

    def over(self, own: Bits, opp: Bits, moves: Sequence[Bits], to_move: Bits, ply: Bits) -> Bits:
        (mine,) = moves
        return when(nonzero(mine) ^ 1, self._is_stuck, opp, own)

    def _is_stuck(self, own: Bits, opp: Bits) -> Bits:
        return nonzero(self.mobility(own, opp)) ^ 1

    def points(self, own: Bits, opp: Bits, to_move: Bits) -> tuple[Bits, Bits]:
        mine, theirs = popcount(own), popcount(opp)
        if self.empties == "nobody":
            return mine, theirs
        left = popcount(self._in_play) - mine - theirs
        return mine + left * less(theirs, mine), theirs + left * less(mine, theirs)

    def stable(self, own: Bits, opp: Bits) -> Bits:
        """A disc cannot be flipped along a line that is full, or that ends beside it, or in
        which a stable disc of its colour is beside it. One that is safe so on all four lines is
        stable (after P. S. Rosenbloom, "A world-championship-level Othello program", 1982).
        """
        board, axes = self._in_play, self.board.directions[:4]
        empty, stable = ~(own | opp) & board, 0
        for _ in range(_STABLE_STEPS + 1):
            stable = opp & ~union(_unsafe, empty, stable, board, directions=axes)
        return stable

    def planes(self, own: Bits, opp: Bits, to_move: Bits, ply: Bits) -> tuple[Bits, ...]:
        return (own, opp, self.holes) if self.holes else (own, opp)

    @cached_property
    def weights(self) -> dict[int, int]:
        """The weight of a disc on each square in play; the edges are those of the smallest
        rectangle that holds them all, so that holes may make a board smaller.
        """
        places = [divmod(square, self.size) for square in squares_of(self._in_play)]
        (low, left), (high, right) = (map(end, zip(*places, strict=True)) for end in (min, max))
        return {
            self.size * y + x: _QUARTER[min(y - low, high - y, 3)][min(x - left, right - x, 3)]
            for y, x in places
        }

    @property
    def has_heuristic(self) -> bool:
        """Whether a corner is in play: the weights count how far a square is from one."""
        return _QUARTER[0][0] in self.weights.values()

    @property
    def no_heuristic(self) -> str:
        return f"{self.id} has a heuristic for boards with corners, and all four are holes"

    def evaluate(self, own: Bits, opp: Bits, to_move: Bits, ply: Bits) -> tuple[Bits, Bits]:
        """Return the weights of both sides' discs; what one costs is credited to the other side."""
        return _value(self.weights, own, opp), _value(self.weights, opp, own)


OthelloHoles = partial(Othello, id="othello_holes", holes=CENTRE_HOLES)
Reversi = partial(Othello, id="reversi")


def _unsafe(axis: Direction | Lanes, empty: Bits, stable: Bits, board: Bits) -> Bits:
    """Return the squares whose line along this axis is not full, but for its ends and those beside
    stable ones.
    """
    inner = step(board, axis) & step(board, axis.opposite)
    open_lines = fill(empty, board, axis) | fill(empty, board, axis.opposite)
    return open_lines & inner & ~(step(stable, axis) | step(stable, axis.opposite))


def _beyond(direction: Direction | Lanes, own: Bits, opp: Bits) -> Bits:
    """Return the squares beyond lines of `opp` that begin beside `own`."""
    longest = direction.board.rows - 2  # it lies between two discs
    return step(fill(own, opp & direction.inner, direction, longest), direction)


def _bracketed(direction: Direction | Lanes, placed: Bits, own: Bits, opp: Bits) -> Bits:
    """Return the line of `opp` that `placed` and a disc of `own` bracket in this direction."""
    line = fill(placed, opp & direction.inner, direction, direction.board.rows - 2)
    return guard(line, partial(_if_bracketed, direction=direction), own)


def _if_bracketed(line: Bits, own: Bits, direction: Direction | Lanes) -> Bits:
    """Return the line where a disc of `own` follows it, else nothing."""
    return line & spread(nonzero(step(line, direction) & own), direction.board.all)


def _value(weights: dict[int, int], discs: Bits, others: Bits) -> Bits:
    terms = []
    for weight in sorted({*weights.values()}):
        squares = sum(1 << square for square in weights if weights[square] == weight)
        terms.append(popcount((discs if weight > 0 else others) & squares) * abs(weight))
    return reduce(add, terms)
