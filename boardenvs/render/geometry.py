"""Places and colours of everything in the picture of a position, which all renderers draw.

Squares or hexagons lie in boxes one unit wide. A frame of half a unit around the board has the
labels of files and ranks; the caption is in a strip of the frame below the board.
"""

from __future__ import annotations

import math
from functools import lru_cache
from string import ascii_lowercase
from typing import NamedTuple

from boardenvs.board.bitboard import Board, squares_of
from boardenvs.game.look import Circle, Drawing, Ink, Placed, Polygon, Rect, Scene, Shape, Text
from boardenvs.render.view import View
from boardenvs.utils.checks import unknown

MARGIN = 0.5
CAPTION = 0.45  # height of the caption's strip
LINED = 0.96  # of a hexagon lies within its outline
NOTEBOOK_UNIT = 48  # pixels of a square in notebooks


class BoardLook(NamedTuple):
    """The colours of a board. If `light` and `dark` are equal, lines separate the squares."""

    frame: str
    frame_edge: str
    label: str
    light: str
    dark: str
    line: str
    hole: str
    mark: Ink
    target: Ink


_FELT = BoardLook(
    frame="#4b3021",
    frame_edge="#2c1a10",
    label="#e6d3b3",
    light="#2e8b57",
    dark="#2e8b57",
    line="#1d6640",
    hole="#3a2418",
    mark=Ink("#f4e04d", 0.42),
    target=Ink("#0b3a20", 0.45),
)
BOARDS = {
    "felt": _FELT,
    "wood": _FELT._replace(
        light="#ecd3a6",
        dark="#b98654",
        line="#8f6238",
        mark=Ink("#f4e04d", 0.55),
        target=Ink("#3a2212", 0.40),
    ),
}


def board_look(name: str) -> BoardLook:
    """Return the board look with this name; ValueError for an unknown one."""
    if name not in BOARDS:
        raise ValueError(unknown("board look", name, BOARDS))
    return BOARDS[name]


class Cells(NamedTuple):
    """The places of a board's squares, each in a box of 1x1, from the board's upper left corner.

    Hexagons stand on a corner, and each row is shifted to the right by half a hexagon.
    """

    board: Board
    hexagons: bool

    @property
    def across(self) -> float:
        """The distance between neighbours in a row."""
        return math.sqrt(3) / 2 if self.hexagons else 1

    @property
    def size(self) -> tuple[float, float]:
        """The width and height of the board."""
        rows, columns = self.board
        if not self.hexagons:
            return columns, rows
        return self.across * (columns + (rows - 1) / 2), 0.75 * (rows - 1) + 1

    def corner(self, square: int, flipped: bool = False) -> tuple[float, float]:
        """Return the upper left corner of a square's box; `flipped` turns the board around."""
        y, x = divmod(self.board.size - 1 - square if flipped else square, self.board.columns)
        if not self.hexagons:
            return x, self.board.rows - 1 - y
        return self.across * (x + y / 2 + 0.5) - 0.5, 0.75 * (self.board.rows - 1 - y)

    def outline(self, shrunk: float = 1) -> tuple[tuple[float, float], ...]:
        """Return the corners of a square in its box, scaled by `shrunk` around its centre."""
        u, v = shrunk * self.across / 2, shrunk / 2
        if not self.hexagons:
            return (0.5 - u, 0.5 - v), (0.5 + u, 0.5 - v), (0.5 + u, 0.5 + v), (0.5 - u, 0.5 + v)
        right = (0.5 + u, 0.5 - v / 2), (0.5 + u, 0.5 + v / 2)
        return (0.5, 0.5 - v), *right, (0.5, 0.5 + v), *((1 - x, y) for x, y in reversed(right))


def scene(seen: View, *, caption: bool = True, flipped: bool = False) -> Scene:
    """Return the picture of a view."""
    look = board_look(seen.look.board)
    cells = Cells(seen.board, seen.look.hexagons)
    width, height = (length + 2 * MARGIN for length in cells.size)
    height += CAPTION if caption else 0
    drawings = [piece.drawing for piece in seen.look.pieces_of(seen.sides)]
    layers = [
        ("hole", seen.holes, _hole(look)),
        ("mark", seen.marks, mark(look, cells)),
        *zip(seen.sides, seen.pieces, drawings, strict=True),
        *((name, s, d) for (name, d), s in zip(seen.look.badges, seen.badges, strict=True)),
        ("target", seen.targets, target(look)),
    ]
    placed = [Placed("board", _board(look, cells, height, (flipped, seen.look.from_top)), 0, 0)]
    for what, squares, drawing in layers:
        corners = (cells.corner(square, flipped) for square in squares_of(squares))
        placed += [Placed(what, drawing, MARGIN + x, MARGIN + y) for x, y in corners]
    if caption:
        text = Text(width / 2, CAPTION / 2, seen.caption, 0.36, Ink(look.label))
        drawing = Drawing(width, CAPTION, (text,))
        placed.append(Placed("caption", drawing, 0, height - CAPTION - 0.08))
    return Scene(width, height, look.frame, seen.caption, tuple(placed))


@lru_cache
def _board(look: BoardLook, cells: Cells, height: float, turned: tuple[bool, bool]) -> Drawing:
    """Return the frame with its labels and the empty squares."""
    rows, columns = cells.board
    width, bottom = (length + 2 * MARGIN for length in cells.size)
    edge = 0.05
    shapes: list[Shape] = [
        Rect(0, 0, width, height, Ink(look.frame_edge), 0.2),
        Rect(edge, edge, width - 2 * edge, height - 2 * edge, Ink(look.frame), 0.2 - edge),
    ]
    shapes += _hexagons(look, cells) if cells.hexagons else _squares(look, cells)
    flipped, from_top = turned
    files, ranks = ascii_lowercase[:columns], range(rows, 0, -1)
    if flipped:
        files = files[::-1]
    if flipped != from_top:
        ranks = ranks[::-1]
    middle = MARGIN / 2
    firsts = [cells.corner(columns * y) for y in reversed(range(rows))]  # of each row, from the top
    left = MARGIN + (1 - cells.across) / 2 - middle
    places = [(MARGIN + cells.corner(x)[0] + 0.5, bottom - middle, f) for x, f in enumerate(files)]
    places += [
        (left + x, MARGIN + y + 0.5, str(rank)) for (x, y), rank in zip(firsts, ranks, strict=True)
    ]
    shapes += [Text(x, y, name, 0.32, Ink(look.label)) for x, y, name in places]
    return Drawing(width, height, tuple(shapes))


def _squares(look: BoardLook, cells: Cells) -> list[Shape]:
    """Return the squares: separated by lines, or light and dark."""
    rows, columns = cells.board
    edge = 0.05
    shapes: list[Shape] = [
        Rect(
            MARGIN - edge, MARGIN - edge, columns + 2 * edge, rows + 2 * edge, Ink(look.frame_edge)
        ),
        Rect(MARGIN, MARGIN, columns, rows, Ink(look.dark)),
    ]
    if look.light == look.dark:
        thick, ink = 0.035, Ink(look.line)
        start = MARGIN - thick / 2
        shapes += [Rect(start + x, MARGIN, thick, rows, ink) for x in range(1, columns)]
        shapes += [Rect(MARGIN, start + y, columns, thick, ink) for y in range(1, rows)]
    else:
        # As in chess, the square in the lower right corner, h1, is light.
        light = [cells.corner(s) for s in range(cells.board.size) if is_light(s, cells.board)]
        shapes += [Rect(MARGIN + x, MARGIN + y, 1, 1, Ink(look.light)) for x, y in light]
    return shapes


def _hexagons(look: BoardLook, cells: Cells) -> list[Shape]:
    """Return hexagons of one colour, separated by lines."""
    corners = [cells.corner(square) for square in range(cells.board.size)]
    layers = ((1.06, look.frame_edge), (1.0, look.line), (LINED, look.light))
    return [
        Polygon(
            tuple((MARGIN + x + u, MARGIN + y + v) for u, v in cells.outline(size)), Ink(colour)
        )
        for size, colour in layers
        for x, y in corners
    ]


def is_light(square: int, board: Board) -> bool:
    """Whether a square is light; a1 is dark."""
    y, x = divmod(square, board.columns)
    return (x + y) % 2 == 1


@lru_cache
def _hole(look: BoardLook) -> Drawing:
    """Return a hole in the board: wood, with shadows of its upper and left edges."""
    depth = 0.12
    return Drawing(
        1,
        1,
        (
            Rect(0, 0, 1, 1, Ink(look.hole)),
            Rect(0, 0, 1, depth, Ink("#000000", 0.55)),
            Rect(0, depth, depth, 1 - depth, Ink("#000000", 0.4)),
        ),
    )


@lru_cache
def mark(look: BoardLook, cells: Cells) -> Drawing:
    """Return the mark of a square of the last action."""
    shape = Polygon(cells.outline(), look.mark) if cells.hexagons else Rect(0, 0, 1, 1, look.mark)
    return Drawing(1, 1, (shape,))


@lru_cache
def target(look: BoardLook) -> Drawing:
    """Return the dot on a square that can be played to."""
    return Drawing(1, 1, (Circle(0.5, 0.5, 0.11, look.target),))
