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
from operator import or_
from typing import ClassVar

from boardenvs.board.bitboard import (
    DIRECTIONS,
    Direction,
    fill,
    from_squares,
    square_name,
    squares_of,
    step,
)
from boardenvs.board.symmetry import ALL_EIGHT
from boardenvs.game.contract import Game
from boardenvs.game.errors import PositionError
from boardenvs.game.notation import Placing
from boardenvs.kernel import ALL, Bits, Table, guard, nonzero, popcount, spread, when
from boardenvs.utils.checks import is_whole

CENTRE_HOLES = from_squares(["c3", "c6", "f3", "f6"])

# A bracketed line lies between two discs: at most six squares, none at either end of the board.
_LONGEST = 6
_INNER = {d: d.reach & d.opposite.reach for d in DIRECTIONS}

# The disc that an action places; noop places none.
_PLACED = Table([1 << square for square in range(64)] + [0])


@dataclass(frozen=True)
class Othello(Placing, Game):
    """Place a disc so that it brackets a line of opposing discs, which flip. More discs win.

    Action s places a disc on square s; 64 is noop.
    Planes: own discs, opposing discs and, with holes, the holes.
    """

    id: str = "othello"
    holes: int = 0  # type: ignore[misc]  # squares out of play, as a bitboard

    roles: ClassVar = ("black", "red")
    opening_plies = (6, 10)
    board_look: ClassVar = "felt"
    action_planes: ClassVar = 1
    symmetries: ClassVar = ALL_EIGHT

    def __post_init__(self) -> None:
        centre = self.setup()[0] | self.setup()[1]
        if not is_whole(self.holes, 0, ALL) or self.holes & centre:
            raise ValueError(
                f"holes is {self.holes!r}: it must be a bitboard of 64 bits without the four "
                "squares in the centre"
            )

    def setup(self) -> tuple[int, int]:
        return from_squares(["d4", "e5"]), from_squares(["d5", "e4"])

    def moves(self, own: Bits, opp: Bits, to_move: Bits) -> tuple[Bits, ...]:
        return (self.mobility(own, opp),)

    def mobility(self, own: Bits, opp: Bits) -> Bits:
        """The empty squares from which a line of `opp` leads to one of `own`."""
        beyond = [step(fill(own, opp & _INNER[d], d, _LONGEST), d) for d in DIRECTIONS]
        empty = ~(own | opp) & (ALL ^ self.holes)
        return reduce(or_, beyond) & empty

    def play(self, own: Bits, opp: Bits, action: Bits) -> tuple[Bits, Bits]:
        placed = _PLACED[action]
        flips = flipped(placed, own, opp)
        return own | placed | flips, opp ^ flips

    def over(self, own: Bits, opp: Bits, moves: Sequence[Bits], to_move: Bits, ply: Bits) -> Bits:
        (mine,) = moves
        stuck = nonzero(mine) ^ 1
        return when(stuck, self._is_stuck, opp, own)

    def _is_stuck(self, own: Bits, opp: Bits) -> Bits:
        return nonzero(self.mobility(own, opp)) ^ 1

    def points(self, own: Bits, opp: Bits, to_move: Bits) -> tuple[Bits, Bits]:
        return popcount(own), popcount(opp)

    def planes(self, own: Bits, opp: Bits, to_move: Bits, ply: Bits) -> tuple[Bits, ...]:
        return (own, opp, self.holes) if self.holes else (own, opp)

    def check_squares(self, squares: tuple[int, int]) -> None:
        on_holes = (squares[0] | squares[1]) & self.holes
        if on_holes:
            names = ", ".join(square_name(s) for s in squares_of(on_holes))
            raise PositionError(f"there is a disc on {names}, which is a hole")


def flipped(placed: Bits, own: Bits, opp: Bits) -> Bits:
    """The discs of `opp` in the lines that `placed` and a disc of `own` bracket."""
    lines = [
        guard(fill(placed, opp & _INNER[d], d, _LONGEST), partial(_if_bracketed, direction=d), own)
        for d in DIRECTIONS
    ]
    return reduce(or_, lines)


def _if_bracketed(line: Bits, own: Bits, direction: Direction) -> Bits:
    """The line where a disc of `own` follows it, else nothing."""
    return line & spread(nonzero(step(line, direction) & own))
