"""Places and colours of everything in the picture of a position, which all renderers draw.

Squares or hexagons lie in boxes one unit wide. A frame of half a unit around the board has the
labels of files and ranks; the caption is in a strip of the frame below the board.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
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
    "plain": _FELT._replace(  # wood of one colour
        light="#dcb35c",
        dark="#dcb35c",
        line="#5d4416",
        mark=Ink("#ffffff", 0.45),
        target=Ink("#3a2212", 0.40),
    ),
    "blue": _FELT._replace(
        light="#2a5db0",
        dark="#2a5db0",
        line="#1c4485",
        mark=Ink("#f4e04d", 0.55),
        target=Ink("#ffffff", 0.40),
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
    layers = [
        ("hole", 0 if seen.look.surface else seen.holes, _hole(look)),
        ("mark", seen.marks, mark_of(seen)),
        *_pieces(seen),
        *((name, s, d) for (name, d), s in zip(seen.look.badges, seen.badges, strict=True)),
        ("target", seen.targets, target(look)),
    ]
    turned = flipped, seen.look.from_top, seen.look.files
    placed = [Placed("board", _board(look, cells, height, turned, ground_of(seen)), 0, 0)]
    for what, squares, drawing in layers:
        corners = (cells.corner(square, flipped) for square in squares_of(squares))
        placed += [Placed(what, drawing, MARGIN + x, MARGIN + y) for x, y in corners]
    for square, written in (seen.labels or {}).items():
        x, y = cells.corner(square, flipped)
        placed.append(Placed("label", label(look, written), MARGIN + x, MARGIN + y))
    if caption:
        text = Text(width / 2, CAPTION / 2, seen.caption, 0.36, Ink(look.label))
        drawing = Drawing(width, CAPTION, (text,))
        placed.append(Placed("caption", drawing, 0, height - CAPTION - 0.08))
    return Scene(width, height, look.frame, seen.caption, tuple(placed))


def _pieces(seen: View) -> Iterator[tuple[str, int, Drawing]]:
    """Yield the pieces of each side with their drawings: figures first, then its usual piece."""
    for role, usual in enumerate(seen.look.pieces_of(seen.sides)):
        side, left = seen.sides[role], seen.pieces[role]
        for figure, squares in zip(seen.look.figures, seen.figures, strict=True):
            yield f"{side} {figure.word}", left & squares, figure.pieces[role]
            left &= ~squares
        yield side, left, usual.drawing


def ground_of(seen: View) -> tuple[Shape, ...]:
    """Return the shapes of the empty squares, from the board's upper left corner."""
    look, cells = board_look(seen.look.board), Cells(seen.board, seen.look.hexagons)
    if seen.look.borders:
        first, second = (piece.colour for piece in seen.look.pieces_of(seen.sides))
        return (*_borders(cells, first, second), *_hexagons(look, cells))
    if cells.hexagons:
        return tuple(_hexagons(look, cells))
    return tuple(_squares(look, cells, seen.look.surface))


@lru_cache
def _board(
    look: BoardLook,
    cells: Cells,
    height: float,
    turned: tuple[bool, bool, str],
    ground: tuple[Shape, ...],
) -> Drawing:
    """Return the frame with its labels and the empty squares."""
    rows, columns = cells.board
    width, bottom = (length + 2 * MARGIN for length in cells.size)
    edge = 0.05
    shapes: list[Shape] = [
        Rect(0, 0, width, height, Ink(look.frame_edge), 0.2),
        Rect(edge, edge, width - 2 * edge, height - 2 * edge, Ink(look.frame), 0.2 - edge),
    ]
    shapes += [moved(shape, MARGIN) for shape in ground]
    flipped, from_top, letters = turned
    files, ranks = letters[:columns], range(rows, 0, -1)
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


def moved(shape: Shape, by: float) -> Shape:
    """Return the shape, moved to the right and down."""
    if isinstance(shape, Polygon):
        return shape._replace(points=tuple((x + by, y + by) for x, y in shape.points))
    return shape._replace(x=shape.x + by, y=shape.y + by)


def _squares(look: BoardLook, cells: Cells, surface: tuple[Shape, ...]) -> list[Shape]:
    """Return the squares: separated by lines, or light and dark; or else the board's surface."""
    rows, columns = cells.board
    edge = 0.05
    shapes: list[Shape] = [
        Rect(-edge, -edge, columns + 2 * edge, rows + 2 * edge, Ink(look.frame_edge)),
        Rect(0, 0, columns, rows, Ink(look.dark)),
    ]
    if surface:
        shapes += surface
    elif look.light == look.dark:
        thick, ink = 0.035, Ink(look.line)
        shapes += [Rect(x - thick / 2, 0, thick, rows, ink) for x in range(1, columns)]
        shapes += [Rect(0, y - thick / 2, columns, thick, ink) for y in range(1, rows)]
    else:
        # As in chess, the square in the lower right corner, h1, is light.
        light = [cells.corner(s) for s in range(cells.board.size) if is_light(s, cells.board)]
        shapes += [Rect(x, y, 1, 1, Ink(look.light)) for x, y in light]
    return shapes


def _hexagons(look: BoardLook, cells: Cells) -> list[Shape]:
    """Return hexagons of one colour, separated by lines."""
    corners = [cells.corner(square) for square in range(cells.board.size)]
    layers = ((1.06, look.frame_edge), (1.0, look.line), (LINED, look.light))
    return [
        Polygon(tuple((x + u, y + v) for u, v in cells.outline(size)), Ink(colour))
        for size, colour in layers
        for x, y in corners
    ]


def _borders(cells: Cells, first: str, second: str) -> list[Shape]:
    """Return the edges of a board of hexagons in the sides' colours: triangles under the hexagons
    at the edge, whose ends show. An edge at a corner of the board is half of each colour.
    """
    rows, columns = cells.board
    ends = cells.outline(1.22)
    shapes: list[Shape] = []
    for square in range(cells.board.size):
        y, x = divmod(square, columns)
        left, top = cells.corner(square)
        # Edges of a hexagon by the corner that they begin with, clockwise from the top.
        mine = (5, 0) * (y == rows - 1) + (2, 3) * (y == 0)
        theirs = (4, 5) * (x == 0) + (1, 2) * (x == columns - 1)
        for edge in {*mine, *theirs}:
            (a, b), (c, d) = ends[edge], ends[(edge + 1) % 6]
            half = ((a + c) / 2, (b + d) / 2)
            colours = first if edge in mine else second, second if edge in theirs else first
            # Clockwise, the right and left edges of the board begin with a corner.
            for points, colour in zip((((a, b), half), (half, (c, d))), colours[::-1], strict=True):
                triangle = ((left + u, top + v) for u, v in ((0.5, 0.5), *points))
                shapes.append(Polygon(tuple(triangle), Ink(colour)))
    return shapes


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


def mark_of(seen: View) -> Drawing:
    """Return the mark of a square of the last action: it is round where the board has a surface."""
    ink, cells = board_look(seen.look.board).mark, Cells(seen.board, seen.look.hexagons)
    if seen.look.surface:
        return Drawing(1, 1, (Circle(0.5, 0.5, 0.49, ink),))
    return Drawing(
        1, 1, (Polygon(cells.outline(), ink) if cells.hexagons else Rect(0, 0, 1, 1, ink),)
    )


@lru_cache
def label(look: BoardLook, text: str) -> Drawing:
    """Return what is written in a square, readable on squares and pieces."""
    ground = Circle(0.5, 0.5, 0.27, Ink(look.frame, 0.85))
    return Drawing(
        1, 1, (ground, Text(0.5, 0.5, text, min(0.36, 0.9 / len(text)), Ink(look.label)))
    )


@lru_cache
def target(look: BoardLook) -> Drawing:
    """Return the dot on a square that can be played to."""
    return Drawing(1, 1, (Circle(0.5, 0.5, 0.11, look.target),))
