"""How actions are written: by players ("d3", "b1-b3", "pass") and by the rule sheets.

Two kinds of games, two kinds of action: placing a piece on a square, and moving one from a square.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

from boardenvs.board.bitboard import DIRECTIONS, SIZE, parse_square, square_name
from boardenvs.game.state import Position

PASS = "pass"
NOOP = "noop"


def xy(square: int) -> tuple[int, int]:
    """The cell (x, y), both from 1 to 8."""
    return square % SIZE + 1, square // SIZE + 1


def square_of(x: int, y: int) -> int:
    """The square of the cell (x, y); ValueError where it is not on the board."""
    if not (1 <= x <= SIZE and 1 <= y <= SIZE):
        raise ValueError(f"cell ({x}, {y}) is not on the board: x and y go from 1 to 8")
    return SIZE * (y - 1) + x - 1


def direction_between(source: int, target: int) -> int:
    """The index of the direction from one square to another; ValueError off the eight lines."""
    (x0, y0), (x1, y1) = xy(source), xy(target)
    dx, dy = x1 - x0, y1 - y0
    if (dx, dy) != (0, 0) and (dx == 0 or dy == 0 or abs(dx) == abs(dy)):
        unit = ((dx > 0) - (dx < 0), (dy > 0) - (dy < 0))
        return [(d.dx, d.dy) for d in DIRECTIONS].index(unit)
    raise ValueError(
        f"{square_name(source)} to {square_name(target)} is no straight line in one of the "
        "eight directions"
    )


def check_action(action: int, num_actions: int) -> int:
    """The action, or ValueError where it is out of range."""
    if 0 <= action < num_actions:
        return action
    raise ValueError(f"action {action} is out of range: actions are 0 to {num_actions - 1}")


class Placing:
    """Notation of a game whose actions place a piece: action s is square s, 64 is noop."""

    def action_name(self, action: int, position: Position | None = None) -> str:
        check_action(action, 65)
        return PASS if action == 64 else square_name(action)

    def parse_action(self, text: str) -> int:
        return 64 if text == PASS else parse_square(text)

    def action_gdl(self, action: int, position: Position | None = None) -> str:
        check_action(action, 65)
        return NOOP if action == 64 else "{} {}".format(*xy(action))

    def parse_gdl(self, text: str) -> int:
        if text == NOOP:
            return 64
        match = re.fullmatch(r"(\d) (\d)", text)
        if match is None:
            raise ValueError(f'{text!r} is no move: moves are written "4 3" or "noop"')
        return square_of(int(match[1]), int(match[2]))


class Moving(ABC):
    """Notation of a game whose actions move a piece: action 64*d + s moves the piece on square s
    in direction d of `bitboard.DIRECTIONS`; 512 is noop.
    """

    gdl_cell: ClassVar[str]  # how the rule sheet writes a cell: a format of x, y and file

    @abstractmethod
    def target(self, action: int, position: Position | None) -> int | None:
        """The square where the move ends; None where that takes a position and none is given."""

    def action_name(self, action: int, position: Position | None = None) -> str:
        return self._write(action, position, PASS, square_name, "-")

    def parse_action(self, text: str) -> int:
        return 512 if text == PASS else _parse_move(text, text.split("-"), parse_square, '"b1-b3"')

    def action_gdl(self, action: int, position: Position | None = None) -> str:
        return self._write(action, position, NOOP, self._write_cell, " ")

    def parse_gdl(self, text: str) -> int:
        if text == NOOP:
            return 512
        fields = text.split(" ")
        cells = [" ".join(fields[:2]), " ".join(fields[2:])]
        example = f'"{self._write_cell(1)} {self._write_cell(17)}"'
        return _parse_move(text, cells, self._parse_cell, example)

    def _write(
        self,
        action: int,
        position: Position | None,
        noop: str,
        write: Callable[[int], str],
        separator: str,
    ) -> str:
        if check_action(action, 513) == 512:
            return noop
        # What is not legal ends nowhere: its direction says more than a square would.
        known = position if position is not None and position.is_legal(action) else None
        target = self.target(action, known)
        end = DIRECTIONS[action // 64].name if target is None else write(target)
        return write(action % 64) + separator + end

    def _write_cell(self, square: int) -> str:
        x, y = xy(square)
        return self.gdl_cell.format(x=x, y=y, file="abcdefgh"[x - 1])

    def _parse_cell(self, text: str) -> int:
        for square in range(64):
            if self._write_cell(square) == text:
                return square
        raise ValueError(f"{text!r} is no cell: cells are written like {self._write_cell(0)!r}")


def _parse_move(text: str, ends: list[str], parse: Callable[[str], int], example: str) -> int:
    try:
        if len(ends) != 2:
            raise ValueError("a source and a target are needed")
        source = parse(ends[0])
        names = [d.name for d in DIRECTIONS]
        if ends[1] in names:
            return 64 * names.index(ends[1]) + source
        return 64 * direction_between(source, parse(ends[1])) + source
    except ValueError as error:
        raise ValueError(f"{text!r} is no move like {example}: {error}") from None
