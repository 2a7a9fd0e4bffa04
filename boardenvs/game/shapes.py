"""The few shapes that every picture is made of, in units of one square; no drawing library.

x grows to the right and y downwards, as in SVG. Tuples all the way down: equal drawings are equal
keys, so that a renderer draws each of them once.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias


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
    """A filled polygon."""

    points: tuple[tuple[float, float], ...]
    ink: Ink


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
