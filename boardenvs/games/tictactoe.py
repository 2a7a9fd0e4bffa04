"""Tic-tac-toe: three marks in a line win."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import ClassVar

from boardenvs.board import Board, Symmetry, each_square, steps, symmetries_of
from boardenvs.game import WINNING_LINE, About, Game, Look, Placing, Position, piece
from boardenvs.game.look import Ink, Rect, read_shapes, ring
from boardenvs.game.rules import DRAW
from boardenvs.kernel import Bits, nonzero

BOARD = Board(rows=3, columns=3)


_INK = Ink("#4a3612")
_SURFACE = (
    *(Rect(0.15, y - 0.03, 2.7, 0.06, _INK) for y in (1, 2)),
    *(Rect(x - 0.03, 0.15, 0.06, 2.7, _INK) for x in (1, 2)),
)


_BLUE, _RED = "#1f4fa3", "#b3261e"
_X = piece(_BLUE, tuple(read_shapes(f"pair {_BLUE} 0.2,0.29 0.29,0.2 0.8,0.71 0.71,0.8")))
_O = piece(_RED, (ring(0.34, 0.22, _RED),))


@dataclass(frozen=True)
class TicTacToe(Game):
    """Mark squares in turn; three in a line win."""

    id: str = "tictactoe"

    roles: ClassVar = ("x", "o")
    shape: ClassVar = BOARD
    notation: ClassVar = Placing()
    fills_up: ClassVar = True
    opening_plies: ClassVar = (0, 2)
    look: ClassVar = Look("plain", (_X, _O), surface=_SURFACE, badges=(WINNING_LINE,))
    about: ClassVar = About(
        title="Tic-tac-toe",
        rules="X and O mark empty squares in turn, X first.",
        pieces="marks",
        passing="It is never legal in turn-based play.",
        end="Three marks of a side in a line win; a full board is a draw, as every game is with "
        "perfect play. Nothing is truncated.",
        instructions="""\
X and O take turns, X first. On its turn a side marks an empty square of a board of 3x3. Three marks
of one side in a line, along a row, a column or a diagonal, win. If the board is full without such a
line, it is a draw.""",
    )

    @property
    def symmetries(self) -> tuple[Symmetry, ...]:
        return symmetries_of(BOARD)

    def setup(self) -> tuple[int, int]:
        return 0, 0

    def moves(self, own: Bits, opp: Bits) -> list[Bits]:
        return [~(own | opp) & BOARD.all]

    def play(self, own: Bits, opp: Bits, action: Bits) -> tuple[Bits, Bits]:
        return own | each_square(BOARD)[action], opp

    def over(self, opp: Bits, moves: Sequence[Bits]) -> Bits:
        return _has_three(opp) | nonzero(moves[0]) ^ 1

    def points(self, own: Bits, opp: Bits) -> tuple[Bits, Bits]:
        return _has_three(own), _has_three(opp)

    def ending(self, position: Position) -> str:
        return "on a full board" if position.result() == (DRAW, DRAW) else "by three in a line"


def _has_three(marks: Bits) -> Bits:
    threes = [marks & steps(marks, d, 1) & steps(marks, d, 2) for d in BOARD.directions[:4]]
    return nonzero(reduce(or_, threes))
