"""Breakthrough, a game by Dan Troyka (2000), on 8x8 squares.

Source: the rules at https://boardgamegeek.com/boardgame/3825/breakthrough, with the sides as
OpenSpiel has them: black starts on the upper two ranks and moves first.

No position is a draw, and no side is ever without a move: of its foremost pieces each has a square
diagonally ahead, and no piece of its own can stand there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import ClassVar

from boardenvs.board import IDENTITY, MIRROR, NE, NW, RANK_1, SE, SW, N, S, Symmetry, step
from boardenvs.game import BLACK, WHITE, Feature, Game, Look, Moving, PositionError
from boardenvs.kernel import ALL, Bits, Table, nonzero, popcount, spread

PIECES = 16  # of a side at the start, and so at most

UPWARD = (NW, N, NE)
DIRECTIONS = (*UPWARD, SE, S, SW)  # in the order of the action numbers
STRAIGHT = (N, S)

# The square that an action leaves and the one that it enters; noop neither.
_ACTIONS = [(direction, 1 << square) for direction in DIRECTIONS for square in range(64)]
_SOURCE = Table([square for _, square in _ACTIONS] + [0])
_TARGET = Table([step(square, direction) for direction, square in _ACTIONS] + [0])

# By role: the rank that wins.
_GOAL = Table([RANK_1, RANK_1 << 56])

# The value of a piece by the steps it has come, and by role the rank where it has come so far.
_WORTH = (12, 10, 10, 11, 13, 18, 30)
_COME = [Table([RANK_1 << 8 * (7 - steps), RANK_1 << 8 * steps]) for steps in range(7)]


@dataclass(frozen=True)
class Breakthrough(Game):
    """Reach the opponent's home rank, or capture all of its pieces.

    A piece goes one square straight or diagonally forward; it captures diagonally only. Action
    64*d + s moves the piece on square s in direction d, with d = 0 to 5 for nw, n, ne, se, s, sw;
    384 is noop. Planes: own pieces, opposing pieces, and all ones if white is to move.
    """

    id: str = "breakthrough"

    roles: ClassVar = ("black", "white")
    notation: ClassVar = Moving(DIRECTIONS, distance=1)
    opening_plies: ClassVar = (4, 12)
    mover_symmetry: ClassVar = Symmetry(flip_ranks=True)
    look: ClassVar = Look("wood", (BLACK, WHITE))

    @property
    def symmetries(self) -> tuple[Symmetry, ...]:
        return IDENTITY, MIRROR

    def setup(self) -> tuple[int, int]:
        return RANK_1 << 48 | RANK_1 << 56, RANK_1 | RANK_1 << 8

    def moves(self, own: Bits, opp: Bits, to_move: Bits) -> tuple[Bits, ...]:
        white = spread(to_move)
        up, down = own & white, own & ~white
        free = ~own & ALL
        empty = free & ~opp
        return tuple(
            (up if d in UPWARD else down) & step(empty if d in STRAIGHT else free, d.opposite)
            for d in DIRECTIONS
        )

    def play(self, own: Bits, opp: Bits, action: Bits) -> tuple[Bits, Bits]:
        source, target = _SOURCE[action], _TARGET[action]
        return own & ~source | target, opp & ~target

    def over(self, own: Bits, opp: Bits, moves: Sequence[Bits], to_move: Bits, ply: Bits) -> Bits:
        mine, theirs = self.points(own, opp, to_move)
        return mine | theirs

    def points(self, own: Bits, opp: Bits, to_move: Bits) -> tuple[Bits, Bits]:
        return _has_won(own, opp, to_move), _has_won(opp, own, to_move ^ 1)

    def planes(self, own: Bits, opp: Bits, to_move: Bits, ply: Bits) -> tuple[Bits, ...]:
        return own, opp, spread(to_move)

    def evaluate(self, own: Bits, opp: Bits, to_move: Bits, ply: Bits) -> tuple[Bits, Bits]:
        """The values of the pieces, by how far they have come."""
        return _value(own, to_move), _value(opp, to_move ^ 1)

    def features(self, own: Bits, opp: Bits, to_move: Bits, ply: Bits) -> dict[str, Feature]:
        """How many pieces of either side have come how far."""
        sides = (("own", own, to_move), ("opposing", opp, to_move ^ 1))
        return {
            f"{side} on rank {steps + 1}": Feature(popcount(pieces & rank[role]), 9)
            for side, pieces, role in sides
            for steps, rank in enumerate(_COME)
        }

    def check_squares(self, squares: tuple[int, ...]) -> None:
        for role, pieces in zip(self.roles, squares, strict=True):
            if pieces.bit_count() > PIECES:
                raise PositionError(
                    f"{role} has {pieces.bit_count()} pieces: a side has at most {PIECES}"
                )
        first, second = squares
        if all(self.points(first, second, 0)):
            raise PositionError("both sides have won: only one can")


def _has_won(pieces: Bits, others: Bits, role: Bits) -> Bits:
    """The flag 1 where the pieces of this role have reached their goal or there are no others."""
    return nonzero(pieces & _GOAL[role]) | (nonzero(others) ^ 1)


def _value(pieces: Bits, role: Bits) -> Bits:
    there = [popcount(pieces & rank[role]) for rank in _COME]
    return reduce(add, [number * worth for number, worth in zip(there, _WORTH, strict=True)])
