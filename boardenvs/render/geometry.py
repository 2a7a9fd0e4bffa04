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
from boardenvs.game.look import (
    Circle,
    Drawing,
    Ink,
    Look,
    Placed,
    Polygon,
    Rect,
    Scene,
    Shape,
    Text,
)
from boardenvs.render.view import View
from boardenvs.utils.checks import check_name

MARGIN = 0.5
CAPTION = 0.45  # height of the caption's strip
ACROSS = math.sqrt(3) / 2  # between the centres of hexagons in a row
LINED = 0.96  # of a hexagon lies within its outline
BORDER = 0.7  # rows between the outermost centres of hexagons and the edge of a border
NOTEBOOK_UNIT = 48  # pixels of a square in notebooks


class BoardLook(NamedTuple):
    """The colours of a board. If `light` and `dark` are equal, lines separate the squares."""

    light: str
    dark: str
    line: str
    mark: Ink
    target: Ink


FRAME, FRAME_EDGE, LABEL, SHADE = "#4b3021", "#2c1a10", "#e6d3b3", "#3a2418"
BOARDS = {
    "felt": BoardLook("#2e8b57", "#2e8b57", "#1d6640", Ink("#f4e04d", 0.42), Ink("#0b3a20", 0.45)),
    "wood": BoardLook("#ecd3a6", "#b98654", "#8f6238", Ink("#f4e04d", 0.55), Ink("#3a2212", 0.4)),
    # Wood of one colour.
    "plain": BoardLook("#dcb35c", "#dcb35c", "#5d4416", Ink("#ffffff", 0.45), Ink("#3a2212", 0.4)),
    "blue": BoardLook("#2a5db0", "#2a5db0", "#1c4485", Ink("#f4e04d", 0.55), Ink("#ffffff", 0.4)),
}


def board_look(name: str) -> BoardLook:
    """Return the board look with this name; ValueError for an unknown one."""
    check_name("board look", name, BOARDS)
    return BOARDS[name]


class Cells(NamedTuple):
    """The places of a board's squares, each in a box of 1x1, from the board's upper left corner.

    Hexagons stand on a corner, and each row is shifted to the right by half a hexagon.
    """

    board: Board
    hexagons: bool

    @property
    def size(self) -> tuple[float, float]:
        """The width and height of the board."""
        rows, columns = self.board
        if not self.hexagons:
            return columns, rows
        return ACROSS * (columns + (rows - 1) / 2), 0.75 * (rows - 1) + 1

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Return the upper left corner of the box in file x and rank y, both from 0."""
        up = self.board.rows - 1 - y
        return (ACROSS * (x + y / 2 + 0.5) - 0.5, 0.75 * up) if self.hexagons else (x, up)

    @property
    def corners(self) -> list[tuple[float, float]]:
        """The upper left corner of each square's box."""
        rows, columns = map(range, self.board)
        return [self.place(x, y) for y in rows for x in columns]


def hexagon(size: float = 1) -> tuple[tuple[float, float], ...]:
    """Return the corners of a hexagon of this size in the middle of its box."""
    angles = (math.pi / 3 * number for number in range(6))
    return tuple((0.5 + size / 2 * math.sin(a), 0.5 - size / 2 * math.cos(a)) for a in angles)


def scene(contents: View, *, caption: bool = True) -> Scene:
    """Return the picture of a view."""
    look = contents.look
    corners = Cells(contents.board, look.hexagons).corners
    board = _board(look, contents.board, contents.sides, caption)
    badges = zip(look.badges, contents.badges, strict=True)
    layers = [
        ("hole", 0 if look.surface else contents.holes, HOLE),
        ("mark", contents.marks, mark_of(look)),
        *pieces_in(contents),
        *((name, squares, drawing) for (name, drawing), squares in badges),
        ("target", contents.targets, target_of(look)),
        *(("label", 1 << square, label(text)) for square, text in (contents.labels or {}).items()),
    ]
    placed = [Placed("board", board, 0, 0)]
    for what, squares, drawing in layers:
        ends = (corners[square] for square in squares_of(squares))
        placed += [Placed(what, drawing, MARGIN + x, MARGIN + y) for x, y in ends]
    if caption:
        text = Text(board.width / 2, CAPTION / 2, contents.caption, 0.36, Ink(LABEL))
        drawing = Drawing(board.width, CAPTION, (text,))
        placed.append(Placed("caption", drawing, 0, board.height - CAPTION - 0.08))
    return Scene(board.width, board.height, FRAME, contents.caption, tuple(placed))


def pieces_in(contents: View) -> Iterator[tuple[str, int, Drawing]]:
    """Yield the pieces of each side with their drawings: figures first, then its usual piece."""
    looks = contents.look.pieces_of(contents.sides)
    for role, (side, left, usual) in enumerate(
        zip(contents.sides, contents.pieces, looks, strict=True)
    ):
        for figure, squares in zip(contents.look.figures, contents.figures, strict=True):
            yield f"{side} {figure.word}", left & squares, figure.pieces[role]
            left &= ~squares
        yield side, left, usual.drawing


@lru_cache
def _board(look: Look, board: Board, sides: tuple[str, str], caption: bool) -> Drawing:
    """Return the frame with its labels and the empty squares."""
    cells = Cells(board, look.hexagons)
    width, bottom = (length + 2 * MARGIN for length in cells.size)
    height = bottom + CAPTION * caption
    edge, middle = 0.05, MARGIN / 2
    left = middle - 0.04 * look.hexagons  # beside a border
    files = enumerate(look.file_labels(board.columns))
    labels = [(MARGIN + cells.place(x, 0)[0] + 0.5, bottom - middle, name) for x, name in files]
    for y in reversed(range(board.rows)):
        across, down = cells.place(0, y)
        rank = board.rows - y if look.from_top else y + 1
        labels.append((left + across, MARGIN + down + 0.5, str(rank)))
    shapes = (
        Rect(0, 0, width, height, Ink(FRAME_EDGE), 0.2),
        Rect(edge, edge, width - 2 * edge, height - 2 * edge, Ink(FRAME), 0.2 - edge),
        *(moved(shape, MARGIN) for shape in ground_of(look, board, sides)),
        *(Text(x, y, name, 0.32, Ink(LABEL)) for x, y, name in labels),
    )
    return Drawing(width, height, shapes)


def moved(shape: Shape, by: float) -> Shape:
    """Return the shape, moved to the right and down."""
    if isinstance(shape, Polygon):
        return shape._replace(points=tuple((x + by, y + by) for x, y in shape.points))
    return shape._replace(x=shape.x + by, y=shape.y + by)


def ground_of(look: Look, board: Board, sides: tuple[str, str]) -> tuple[Shape, ...]:
    """Return the shapes of the empty squares, from the board's upper left corner."""
    colours, cells = board_look(look.board), Cells(board, look.hexagons)
    if look.hexagons:  # of one colour, separated by lines
        layers = ((1.06, FRAME_EDGE), (1.0, colours.line), (LINED, colours.light))
        hexagons = (
            Polygon(tuple((x + u, y + v) for u, v in hexagon(size)), Ink(colour))
            for size, colour in layers
            for x, y in cells.corners
        )
        return (*(_borders(look, cells, sides) if look.borders else ()), *hexagons)
    rows, columns = board
    edge = 0.05
    return (
        Rect(-edge, -edge, columns + 2 * edge, rows + 2 * edge, Ink(FRAME_EDGE)),
        Rect(0, 0, columns, rows, Ink(colours.dark)),
        *(look.surface or _squares(colours, cells)),
    )


def _squares(colours: BoardLook, cells: Cells) -> list[Rect]:
    """Return the lines between the squares, or the light squares."""
    rows, columns = cells.board
    if colours.light == colours.dark:
        thick, ink = 0.035, Ink(colours.line)
        files = [Rect(x - thick / 2, 0, thick, rows, ink) for x in range(1, columns)]
        return files + [Rect(0, y - thick / 2, columns, thick, ink) for y in range(1, rows)]
    # As in chess, the square in the lower right corner, h1, is light.
    return [
        Rect(x, y, 1, 1, Ink(colours.light))
        for square, (x, y) in enumerate(cells.corners)
        if is_light(square, cells.board)
    ]


def _borders(look: Look, cells: Cells, sides: tuple[str, str]) -> Iterator[Polygon]:
    """Yield the edges of a board of hexagons in the sides' colours: a parallelogram of each, which
    shows at two edges between the hexagons that lie on it.
    """
    rows, columns = cells.board
    for piece, beyond, above in zip(look.pieces_of(sides), (0, BORDER), (BORDER, 0), strict=True):
        right, top = columns - 1 + beyond, rows - 1 + above
        ends = ((-beyond, -above), (right, -above), (right, top), (-beyond, top))
        corners = (cells.place(x, y) for x, y in ends)
        yield Polygon(tuple((x + 0.5, y + 0.5) for x, y in corners), Ink(piece.colour))


def is_light(square: int, board: Board) -> bool:
    """Return whether a square is light; a1 is dark."""
    return sum(divmod(square, board.columns)) % 2 == 1


# A hole in the board: wood, with shadows of its upper and left edges.
HOLE = Drawing(
    1,
    1,
    (
        Rect(0, 0, 1, 1, Ink(SHADE)),
        Rect(0, 0, 1, 0.12, Ink("#000000", 0.55)),
        Rect(0, 0.12, 0.12, 0.88, Ink("#000000", 0.4)),
    ),
)


def mark_of(look: Look) -> Drawing:
    """Return the mark of a square of the last action: it is round where the board has a surface."""
    ink = board_look(look.board).mark
    square = Polygon(hexagon(), ink) if look.hexagons else Rect(0, 0, 1, 1, ink)
    return Drawing(1, 1, (Circle(0.5, 0.5, 0.49, ink) if look.surface else square,))


def label(text: str) -> Drawing:
    """Return what is written in a square, readable on squares and pieces."""
    ground = Circle(0.5, 0.5, 0.27, Ink(FRAME, 0.85))
    return Drawing(1, 1, (ground, Text(0.5, 0.5, text, min(0.36, 0.9 / len(text)), Ink(LABEL))))


def target_of(look: Look) -> Drawing:
    """Return the dot on a square that can be played to."""
    return Drawing(1, 1, (Circle(0.5, 0.5, 0.11, board_look(look.board).target),))
