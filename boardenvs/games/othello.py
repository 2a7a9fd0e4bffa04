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
from functools import partial, reduce
from operator import add
from typing import ClassVar

from boardenvs.board.bitboard import DIRECTIONS, Direction, Lanes, fill, from_squares, step, union
from boardenvs.board.symmetry import ALL_EIGHT, Symmetry
from boardenvs.game.game import Game
from boardenvs.game.look import BLACK, WHITE, Look
from boardenvs.game.notation import Placing
from boardenvs.game.rules import About
from boardenvs.games.appearance import about_othello
from boardenvs.kernel import ALL, Bits, Table, guard, less, nonzero, popcount, spread, when
from boardenvs.utils.checks import check_name, is_whole, quote

_BLACK, _RED = from_squares(["d4", "e5"]), from_squares(["d5", "e4"])
_CORNERS = from_squares(["a1", "a8", "h1", "h8"])
CENTRE_HOLES = from_squares(["c3", "c6", "f3", "f6"])

_EMPTIES = ("nobody", "winner")
_AXES = DIRECTIONS[:4]
# Steps from stable discs to those beside them: more find more, and take longer.
_STABLE_STEPS = 5

# A bracketed line lies between two discs: it has at most six squares.
_LONGEST = 6

# The weight of a disc on each square of one quarter of the board; row and column 0 are the edge.
# The weights of T. Yoshioka, S. Ishii and M. Ito, "Strategy acquisition for the game Othello based
# on reinforcement learning" (IEICE Transactions, 1999), in hundredths. They are the standard
# heuristic opponent of the literature on learning Othello.
_QUARTER = (
    (100, -25, 10, 5),
    (-25, -25, 1, 1),
    (10, 1, 5, 2),
    (5, 1, 2, 1),
)
WEIGHTS = tuple(_QUARTER[min(y, 7 - y)][min(x, 7 - x)] for y in range(8) for x in range(8))

# The disc that an action places; noop places none.
_PLACED = Table([1 << square for square in range(64)] + [0])


@dataclass(frozen=True)
class Othello(Game):
    """Place a disc so that it brackets a line of opposing discs, which flip. More discs win.

    With `empties="winner"` the winner also gets the squares that stay empty, as in tournaments.

    Action s places a disc on square s; 64 is noop.
    Planes: own discs, opposing discs and, with holes, the holes.
    """

    id: str = "othello"
    holes: int = 0  # type: ignore[misc]  # squares out of play, as a bitboard
    empties: str = "nobody"  # whose the squares are that stay empty

    roles: ClassVar = ("black", "red")
    notation: ClassVar = Placing()
    margin_counts: ClassVar = True
    fills_up: ClassVar = True
    fills_by_capture: ClassVar = True
    opening_plies: ClassVar = (6, 10)
    look: ClassVar = Look("felt", (BLACK, WHITE), sides=("black", "white"), from_top=True)

    def __post_init__(self) -> None:
        check_name("empties", self.empties, _EMPTIES)
        black, red = self.setup()
        if not is_whole(self.holes, 0, ALL) or self.holes & (black | red):
            raise ValueError(
                f"holes is {quote(self.holes)}: it must be a bitboard of 64 bits without the four "
                "squares in the centre"
            )

    @property
    def about(self) -> About:
        return about_othello(self.id, self.holes)

    @property
    def symmetries(self) -> tuple[Symmetry, ...]:
        return tuple(s for s in ALL_EIGHT if s.apply(self.holes) == self.holes)

    def setup(self) -> tuple[int, int]:
        return _BLACK, _RED

    def moves(self, own: Bits, opp: Bits, to_move: Bits) -> tuple[Bits, ...]:
        return (self.mobility(own, opp),)

    def mobility(self, own: Bits, opp: Bits) -> Bits:
        """Return the empty squares from which a line of `opp` leads to one of `own`."""
        return union(_beyond, own, opp) & ~(own | opp) & (ALL ^ self.holes)

    def play(self, own: Bits, opp: Bits, action: Bits) -> tuple[Bits, Bits]:
        placed = _PLACED[action]
        flips = union(_bracketed, placed, own, opp)
        return own | placed | flips, opp ^ flips

    def over(self, own: Bits, opp: Bits, moves: Sequence[Bits], to_move: Bits, ply: Bits) -> Bits:
        (mine,) = moves
        stuck = nonzero(mine) ^ 1
        return when(stuck, self._is_stuck, opp, own)

    def _is_stuck(self, own: Bits, opp: Bits) -> Bits:
        return nonzero(self.mobility(own, opp)) ^ 1

    def points(self, own: Bits, opp: Bits, to_move: Bits) -> tuple[Bits, Bits]:
        mine, theirs = popcount(own), popcount(opp)
        if self.empties == "nobody":
            return mine, theirs
        left = popcount(ALL ^ self.holes) - mine - theirs
        return mine + left * less(theirs, mine), theirs + left * less(mine, theirs)

    def stable(self, own: Bits, opp: Bits) -> Bits:
        """A disc cannot be flipped along a line that is full, or that ends beside it, or in
        which a stable disc of its colour is beside it. One that is safe so on all four lines is
        stable (after P. S. Rosenbloom, "A world-championship-level Othello program", 1982).
        """
        board = ALL ^ self.holes
        empty, stable = ~(own | opp) & board, 0
        for _ in range(_STABLE_STEPS + 1):
            stable = opp & ~union(_unsafe, empty, stable, board, directions=_AXES)
        return stable

    def planes(self, own: Bits, opp: Bits, to_move: Bits, ply: Bits) -> tuple[Bits, ...]:
        return (own, opp, self.holes) if self.holes else (own, opp)

    @property
    def has_heuristic(self) -> bool:
        """Whether a corner is in play: the weights count how far a square is from one."""
        return self.holes & _CORNERS != _CORNERS

    @property
    def no_heuristic(self) -> str:
        return f"{self.id} has a heuristic for boards with corners, and all four are holes"

    def evaluate(self, own: Bits, opp: Bits, to_move: Bits, ply: Bits) -> tuple[Bits, Bits]:
        """Return the weights of both sides' discs; what one costs is credited to the other side."""
        return _value(own, opp), _value(opp, own)


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
    return step(fill(own, opp & direction.inner, direction, _LONGEST), direction)


def _bracketed(direction: Direction | Lanes, placed: Bits, own: Bits, opp: Bits) -> Bits:
    """Return the line of `opp` that `placed` and a disc of `own` bracket in this direction."""
    line = fill(placed, opp & direction.inner, direction, _LONGEST)
    return guard(line, partial(_if_bracketed, direction=direction), own)


def _if_bracketed(line: Bits, own: Bits, direction: Direction | Lanes) -> Bits:
    """Return the line where a disc of `own` follows it, else nothing."""
    return line & spread(nonzero(step(line, direction) & own))


def _value(discs: Bits, others: Bits) -> Bits:
    terms = []
    for weight in sorted(set(WEIGHTS)):
        squares = sum(1 << square for square in range(64) if WEIGHTS[square] == weight)
        terms.append(popcount((discs if weight > 0 else others) & squares) * abs(weight))
    return reduce(add, terms)
