"""How the board and the pieces of a game look: data that `boardenvs.render` draws.

Pictures are made of a few shapes, in units of one square; x grows to the right and y downwards, as
in SVG. They are tuples all the way down: equal drawings are equal keys, so that a renderer draws
each of them once.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Iterator
from string import ascii_lowercase
from typing import Any, NamedTuple, TypeAlias


class Ink(NamedTuple):
    """A colour "#rrggbb" and its opacity, 0 to 1."""

    colour: str
    opacity: float = 1.0


class Rect(NamedTuple):
    """A rectangle by its upper left corner, with rounded corners where `radius` is not 0."""

    x: float
    y: float
    width: float
    height: float
    ink: Ink
    radius: float = 0.0


class Circle(NamedTuple):
    """A disc. With a `glow` it is opaque, and turns to that colour towards its upper left."""

    x: float
    y: float
    radius: float
    ink: Ink
    glow: str | None = None


class Polygon(NamedTuple):
    """A filled polygon, whose ink reaches as far as `edge` beyond its sides."""

    points: tuple[tuple[float, float], ...]
    ink: Ink
    edge: float = 0.0


class Text(NamedTuple):
    """A line of text, centred at (x, y)."""

    x: float
    y: float
    text: str
    size: float
    ink: Ink


Shape: TypeAlias = Rect | Circle | Polygon | Text

# Where a circle's glow is brightest, from its centre, in radii.
GLOW_AT = (-0.32, -0.42)


class Drawing(NamedTuple):
    """Shapes from bottom to top, within (0, 0) and (width, height)."""

    width: float
    height: float
    shapes: tuple[Shape, ...]


class Placed(NamedTuple):
    """A drawing with its upper left corner at (x, y), and what it shows: "board", "black"."""

    what: str
    drawing: Drawing
    x: float
    y: float


class Scene(NamedTuple):
    """A whole picture: drawings from bottom to top, on a plain ground."""

    width: float
    height: float
    ground: str
    title: str
    placed: tuple[Placed, ...]


SHADOW = Ink("#000000", 0.30)


class PieceLook(NamedTuple):
    """A piece in a box of one square, and the one colour that stands for it in a terminal."""

    colour: str
    drawing: Drawing


class Figure(NamedTuple):
    """How the pieces on the squares of a word look, by role, and their letter in a terminal."""

    word: str
    letter: str
    pieces: tuple[Drawing, Drawing]


class Look(NamedTuple):
    """How a game is drawn.

    board: a name in `boardenvs.render.geometry.BOARDS`: "felt" (squares parted by lines) or "wood"
    (light and dark squares). pieces: by role; None draws discs with the first letters of the roles.
    hexagons: whether the squares are hexagons; each row lies half a hexagon to the right of the row
    below, so that a square has neighbours to the north, south, west, east, north-west and
    south-east. badges: pictures of one square each, to draw on the squares of a word, whether a
    piece is there or not, by the word's name: ("kings", CROWN), ("black_walls", WALL), or on those
    that `Rules.badge` returns for another name, as for `WINNING_LINE`. figures: pieces with a look
    of their own, on the squares of words. surface: what is drawn on the empty board in place of
    squares, from the board's upper left corner. borders: whether the edges of a board of hexagons
    are in the colours of the sides, the first and last rank in the first side's. ground: for
    terminals, a letter for each square of a board with a surface, row by row from the top. sides:
    the names of the sides for people; None for the roles. from_top: whether ranks are counted from
    the top. skips_i: whether the ninth file is j, as in Go. numbered: whether the board shows
    numbers of files, as moves name them.
    """

    board: str = "wood"
    pieces: tuple[PieceLook, PieceLook] | None = None
    hexagons: bool = False
    badges: tuple[tuple[str, Drawing], ...] = ()
    figures: tuple[Figure, ...] = ()
    surface: tuple[Shape, ...] = ()
    borders: bool = False
    ground: str = ""
    sides: tuple[str, str] | None = None
    from_top: bool = False
    skips_i: bool = False
    numbered: bool = False

    @property
    def files(self) -> str:
        """The letters of files, of which a board has the first."""
        return ascii_lowercase.replace("i", "") if self.skips_i else ascii_lowercase

    def file_labels(self, columns: int) -> list[str]:
        """Return what stands beside the files of a board: their letters or their numbers."""
        return [str(x + 1) if self.numbered else self.files[x] for x in range(columns)]

    def pieces_of(self, roles: tuple[str, str]) -> tuple[PieceLook, PieceLook]:
        """Return the looks of both roles' pieces."""
        if self.pieces is not None:
            return self.pieces
        return lettered(BLACK, roles[0], "#ffffff"), lettered(WHITE, roles[1], "#000000")


def piece(colour: str, shapes: tuple[Shape, ...]) -> PieceLook:
    """Return the look of a piece that these shapes draw, from bottom to top, in a box of one
    square.
    """
    return PieceLook(colour, Drawing(1, 1, shapes))


def disc(colour: str, body: str, glow: str, rim: str) -> PieceLook:
    """Return a disc lit from the upper left."""
    return piece(
        colour,
        (
            Circle(0.53, 0.555, 0.41, SHADOW),
            Circle(0.5, 0.5, 0.41, Ink(rim)),
            Circle(0.5, 0.49, 0.385, Ink(body), glow),
        ),
    )


def lettered(look: PieceLook, role: str, colour: str) -> PieceLook:
    """Return the piece with the first letter of its role on it."""
    letter = Text(0.5, 0.5, role[0].upper(), 0.5, Ink(colour))
    return piece(look.colour, (*look.drawing.shapes, letter))


def mirrored(ink: str, *right: tuple[float, float]) -> Polygon:
    """Return a polygon symmetric about x = 0.5, given by its right half from top to bottom."""
    left = tuple((round(1 - x, 3), y) for x, y in reversed(right))
    return Polygon((*right, *left), Ink(ink))


def read_points(text: str) -> list[Any]:
    """Return tuples of numbers, such as points "x,y" or discs "x,y,radius"."""
    return [tuple(map(float, point.split(","))) for point in text.split()]


def read_shapes(text: str) -> Iterator[Circle | Polygon]:
    """Yield the shapes of a text: in each line what is drawn, the colour, and numbers: "discs", the
    right "half" of a polygon, or the right one of a "pair".
    """
    for line in text.strip().splitlines():
        kind, ink, numbers = line.split(maxsplit=2)
        points = read_points(numbers)
        if kind == "discs":
            yield from (Circle(x, y, radius, Ink(ink)) for x, y, radius in points)
        elif kind == "half":
            yield mirrored(ink, *points)
        else:
            for half in points, [(round(1 - x, 3), y) for x, y in points]:
                yield Polygon(tuple(half), Ink(ink))


def ring(outer: float, inner: float, colour: str) -> Polygon:
    """Return a ring around the middle of a square."""
    circle = [cmath.rect(1, math.tau * k / 60) for k in range(61)]
    points = *(outer * z for z in circle), *(inner * z for z in circle[::-1])
    places = ((round(0.5 + z.real, 3), round(0.5 + z.imag, 3)) for z in points)
    return Polygon(tuple(places), Ink(colour))


CROWN = Drawing(
    1, 1, tuple(read_shapes("half #d4a017 0.5,0.3 0.6,0.5 0.72,0.36 0.68,0.68 0.5,0.68"))
)
BLACK = disc("#000000", "#1b1d20", "#656b73", "#08090a")
WHITE = disc("#ffffff", "#e2dccd", "#ffffff", "#a79d88")
RED = disc("#af0000", "#c0281f", "#ff8a76", "#6f120d")
# A badge of the pieces that have won a game, such as four in a line.
WINNING_LINE = (
    "winning_line",
    Drawing(1, 1, (ring(0.43, 0.31, "#1b1d20"), ring(0.41, 0.33, "#ffffff"))),
)
