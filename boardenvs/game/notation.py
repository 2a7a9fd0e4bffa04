"""What actions a game has and how they are written: by players ("d3", "b1-b3", "pass") and by the
rule sheets of the General Game Playing repository, in its Game Description Language (GDL).

A game has one of these as its `notation`: `Placing`, where an action puts a piece on a square,
`Moving`, where it moves one from a square in a direction, or a `Notation` of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from boardenvs.board.bitboard import (
    DIRECTIONS,
    SIZE,
    Direction,
    parse_square,
    square_name,
    squares_of,
    steps,
)
from boardenvs.board.symmetry import Symmetry
from boardenvs.game.contract import Game, Notation, Position
from boardenvs.utils.checks import quote

PASS = "pass"
NOOP = "noop"


@dataclass(frozen=True)
class Placing(Notation):
    """Action s places a piece on square s; 64 is noop."""

    planes = 1
    needs_position = False

    def explain(self, pieces: str) -> str:
        return (
            f"Action s, 0 to 63, places one of the side's {pieces} on square "
            "`s = 8*(y-1) + (x-1)`: 0 is a1, 7 is h1, 63 is h8."
        )

    def write(self, game: Game, action: int, position: Position | None) -> str:
        return PASS if action == 64 else square_name(action)

    def parse(self, text: str) -> int:
        return 64 if text == PASS else parse_square(text)

    def write_gdl(self, game: Game, action: int, position: Position | None) -> str:
        return NOOP if action == 64 else "{} {}".format(*xy(action))

    def parse_gdl(self, text: str) -> int:
        if text == NOOP:
            return 64
        match = re.fullmatch(r"(\d) (\d)", text)
        if match is None:
            raise ValueError(f'{quote(text)} is not a move: moves are written "4 3" or "noop"')
        return square_of(int(match[1]), int(match[2]))

    def squares(self, game: Game, action: int, position: Position | None) -> tuple[int, ...]:
        return () if action == 64 else (action,)

    def plane_images(self, symmetry: Symmetry) -> list[int]:
        return [0]


@dataclass(frozen=True)
class Moving(Notation):
    """Action 64 * d + s moves the piece on square s in direction `directions[d]`; the last is noop.

    distance: how many squares every piece goes; None where that takes a position to know.
    gdl_cell: how the rule sheet writes a cell: a format of x, y (1 to 8) and file (a to h).
    """

    directions: tuple[Direction, ...] = DIRECTIONS
    distance: int | None = None
    gdl_cell: str = "{x} {y}"

    @property
    def planes(self) -> int:  # type: ignore[override]
        return len(self.directions)

    @property
    def needs_position(self) -> bool:  # type: ignore[override]
        return self.distance is None

    def explain(self, pieces: str) -> str:
        names = ", ".join(f"{i} {_compass(d)}" for i, d in enumerate(self.directions))
        return (
            f"Action `64*d + s` moves one of the side's {pieces}, that on square "
            "`s = 8*(y-1) + (x-1)` (0 is a1, 7 is h1, 63 is h8), in direction d: "
            f"{names}; north is the way to rank 8."
        )

    def write(self, game: Game, action: int, position: Position | None) -> str:
        return self._write(game, action, position, square_name, "-") or PASS

    def parse(self, text: str) -> int:
        if text == PASS:
            return 64 * self.planes
        return self._parse(text, text.split("-"), parse_square, '"b1-b3"')

    def write_gdl(self, game: Game, action: int, position: Position | None) -> str:
        return self._write(game, action, position, self._write_cell, " ") or NOOP

    def parse_gdl(self, text: str) -> int:
        if text == NOOP:
            return 64 * self.planes
        fields = text.split(" ")
        half = len(self._write_cell(0).split(" "))
        ends = [" ".join(fields[:half]), " ".join(fields[half:])]
        example = f'"{self._write_cell(1)} {self._write_cell(17)}"'
        return self._parse(text, ends, self._parse_cell, example)

    def squares(self, game: Game, action: int, position: Position | None) -> tuple[int, ...]:
        plane, source = divmod(action, 64)
        if plane == self.planes:
            return ()
        ends = 0  # where the piece ends: not known, or off the board
        if self.distance is not None:
            ends = steps(1 << source, self.directions[plane], self.distance)
        elif position is not None and position.is_legal(action):
            new = position.step(action).opp & ~position.own  # captured pieces too, where they turn
            ways = (steps(1 << source, self.directions[plane], n) for n in range(1, SIZE))
            ends = next((end for end in ways if end & new), 0)
        return (source, *squares_of(ends))

    def plane_images(self, symmetry: Symmetry) -> list[int]:
        """ValueError where the symmetry turns a direction into one that pieces do not go."""
        images = []
        for direction in self.directions:
            image = symmetry.vector(direction.dx, direction.dy)
            found = [d for d, other in enumerate(self.directions) if (other.dx, other.dy) == image]
            if not found:
                raise ValueError(
                    f"{symmetry} turns {direction.name} into {image}, which is none of the "
                    f"directions {[d.name for d in self.directions]}"
                )
            images += found
        return images

    def _write(
        self,
        game: Game,
        action: int,
        position: Position | None,
        write: Callable[[int], str],
        separator: str,
    ) -> str:
        """The action with cells written this way and this separator; nothing for noop."""
        names = [write(square) for square in self.squares(game, action, position)]
        if len(names) == 1:
            names.append(self.directions[action // 64].name)
        return separator.join(names)

    def _write_cell(self, square: int) -> str:
        x, y = xy(square)
        return self.gdl_cell.format(x=x, y=y, file="abcdefgh"[x - 1])

    def _parse_cell(self, text: str) -> int:
        for square in range(64):
            if self._write_cell(square) == text:
                return square
        raise ValueError(
            f"{quote(text)} is not a cell: cells are written like {self._write_cell(0)!r}"
        )

    def _parse(self, text: str, ends: list[str], parse: Callable[[str], int], example: str) -> int:
        names = [d.name for d in self.directions]
        try:
            if len(ends) != 2:
                raise ValueError("a source and a target are needed")
            source = parse(ends[0])
            name = ends[1] if ends[1] in names else _direction(source, parse(ends[1])).name
            if name not in names:
                raise ValueError(f"no piece goes {name}: directions are {', '.join(names)}")
            return 64 * names.index(name) + source
        except ValueError as error:
            raise ValueError(f"{quote(text)} is not a move like {example}: {error}") from None


def _compass(direction: Direction) -> str:
    """The direction's name in full, such as "north-east"."""
    ends = ("", "north", "south")[direction.dy], ("", "east", "west")[direction.dx]
    return "-".join(filter(None, ends))


def xy(square: int) -> tuple[int, int]:
    """The cell (x, y), both from 1 to 8."""
    return square % SIZE + 1, square // SIZE + 1


def square_of(x: int, y: int) -> int:
    """The square of the cell (x, y); ValueError where it is not on the board."""
    if not (1 <= x <= SIZE and 1 <= y <= SIZE):
        raise ValueError(f"cell ({x}, {y}) is not on the board: x and y go from 1 to 8")
    return SIZE * (y - 1) + x - 1


@cache
def _direction(source: int, target: int) -> Direction:
    """The direction from one square to another; ValueError off the eight lines."""
    for direction in DIRECTIONS:
        if any(steps(1 << source, direction, n) == 1 << target for n in range(1, SIZE)):
            return direction
    raise ValueError(
        f"{square_name(source)} to {square_name(target)} is not a straight line in one of the "
        "eight directions"
    )
