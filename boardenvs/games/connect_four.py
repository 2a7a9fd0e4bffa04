"""Connect Four: drop discs into files, by default of a board of 6x7; four in a line win."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import or_
from typing import ClassVar

from boardenvs.board import LARGEST, Direction, Symmetry, steps, symmetries_of
from boardenvs.game import (
    RED,
    WINNING_LINE,
    About,
    Dropping,
    Game,
    Look,
    Position,
    PositionError,
    disc,
)
from boardenvs.game.look import Circle, Ink
from boardenvs.game.rules import DRAW
from boardenvs.kernel import Bits, Table, nonzero
from boardenvs.utils.checks import check_whole

YELLOW = disc("#f2c81e", "#f2c81e", "#fff3a3", "#a07c05")


@dataclass(frozen=True)
class ConnectFour(Game):
    """Drop discs into files; four in a line win, or as many as `connect` says."""

    id: str = "connect_four"
    rows: int = 6
    columns: int = 7
    connect: int = 4

    roles: ClassVar = ("red", "yellow")
    notation: ClassVar = Dropping()
    fills_up: ClassVar = True

    def __post_init__(self) -> None:
        check_whole("rows", self.rows, 1, LARGEST)
        check_whole("columns", self.columns, 1, LARGEST)
        check_whole("connect", self.connect, 2, max(self.rows, self.columns))

    @cached_property
    def look(self) -> Look:  # type: ignore[override]
        holes = tuple(
            Circle(x + 0.5, y + 0.5, 0.42, Ink("#173a75"))
            for y in range(self.rows)
            for x in range(self.columns)
        )
        return Look("blue", (RED, YELLOW), surface=holes, badges=(WINNING_LINE,), numbered=True)

    @property
    def about(self) -> About:
        rows, columns, connect = self.rows, self.columns, self.connect
        return About(
            title="Connect Four",
            rules=f"""\
Red and yellow drop discs into {columns} files in turn, red first. A disc falls to the lowest empty
square of its file.""",
            pieces="discs",
            passing="It is never legal in turn-based play.",
            end=f"{connect} discs of a side in a line, in any direction, win; a full board is a "
            "draw. Nothing is truncated.",
            options={
                "rows": "squares of a file, 1 to 16.",
                "columns": "files, 1 to 16.",
                "connect": "discs in a line that win, 2 or more.",
            },
            source="With perfect play the side that moves first wins (J. D. Allen and V. Allis, "
            "1988) on 6x7.",
            instructions=f"""\
Red and yellow take turns, red first. The board has {rows} rows and {columns} columns. On its turn a
side drops a disc into one of the columns; it falls to the lowest empty square of the column.
{connect} discs of one side in a line, along a row, a column or a diagonal, win. If the board is
full without such a line, it is a draw.""",
        )

    @property
    def symmetries(self) -> tuple[Symmetry, ...]:
        return symmetries_of(self.board)[:4:2]

    @cached_property
    def _files(self) -> Table:
        return Table([*map(self.board.file, range(self.columns)), 0], self.board.words)

    def setup(self) -> tuple[int, int]:
        return 0, 0

    def moves(self, own: Bits, opp: Bits) -> list[Bits]:
        last = self.rows - 1
        return [(~(own | opp) & self.board.rank(last)) >> last * self.columns]

    def play(self, own: Bits, opp: Bits, action: Bits) -> tuple[Bits, Bits]:
        free = self._files[action] & ~(own | opp)
        return own | free & (0 - free), opp

    def over(self, opp: Bits, moves: Sequence[Bits]) -> Bits:
        return self._connects(opp) | nonzero(moves[0]) ^ 1

    def points(self, own: Bits, opp: Bits) -> tuple[Bits, Bits]:
        return self._connects(own), self._connects(opp)

    def check_squares(self, squares: tuple[int, ...]) -> None:
        taken = squares[0] | squares[1]
        if floating := taken & ~(taken << self.columns | self.board.rank(0)):
            raise PositionError(f"{self.square_names(floating)}: no disc is below")

    def ending(self, position: Position) -> str:
        full = position.result() == (DRAW, DRAW)
        return "on a full board" if full else f"by {self.connect} in a line"

    def _connects(self, discs: Bits) -> Bits:
        """Return the flag 1 where enough discs are in a line."""

        def lines(way: Direction) -> Bits:
            ends, length = discs, 1
            while length < self.connect:  # twice as long, or as long as is needed
                more = min(length, self.connect - length)
                ends, length = ends & steps(ends, way, more), length + more
            return ends

        return nonzero(reduce(or_, map(lines, self.board.directions[:4])))
