"""The pieces of chess as drawings of a few shapes, outlined in a second colour."""

from __future__ import annotations

import math
from typing import Any

from boardenvs.game.look import (
    BLACK,
    WHITE,
    Circle,
    Drawing,
    Figure,
    Ink,
    Look,
    Polygon,
    Rect,
    mirrored,
    ring,
)

Point = tuple[float, float]

_OUTLINE = 0.028
_COLOURS = (("#f6f0df", "#2b2620"), ("#34302c", "#e8e0cf"))  # of body and lines, by role
_INK = Ink("#000000")


def _points(text: str) -> list[Any]:
    return [tuple(map(float, point.split(","))) for point in text.split()]


def _parts(kind: str) -> list[Circle | Polygon]:
    balls = [_ball(*ball) for ball in _points(_BALLS.get(kind, ""))]
    if kind == "knights":
        return [Polygon(tuple(_points(_KNIGHT)), _INK)]
    return [*balls, *(mirrored("#000000", *_points(half)) for half in _HALVES[kind])]


def _ball(x: float, y: float, radius: float) -> Circle:
    return Circle(x, y, radius, _INK)


# Balls "x,y,radius"; right halves of outlines symmetric about x = 0.5, from top to bottom.
_FOOT = " 0.74,0.79 0.77,0.89"
_BALLS = {
    "pawns": "0.5,0.35,0.125",
    "bishops": "0.5,0.155,0.05",
    "queens": "0.5,0.16,0.045 0.31,0.2,0.045 0.69,0.2,0.045 0.14,0.29,0.045 0.86,0.29,0.045",
}
_HALVES = {
    "pawns": ("0.55,0.46 0.64,0.53 0.56,0.56 0.60,0.70" + _FOOT,),
    "bishops": (
        "0.53,0.20 0.63,0.33 0.66,0.45 0.60,0.56",
        "0.58,0.57 0.65,0.62 0.57,0.65 0.60,0.74" + _FOOT,
    ),
    "rooks": (
        "0.555,0.24 0.555,0.17 0.625,0.17 0.625,0.24 0.67,0.24"
        " 0.67,0.17 0.74,0.17 0.74,0.34 0.65,0.41 0.67,0.70" + _FOOT,
    ),
    "queens": ("0.5,0.18 0.585,0.46 0.69,0.22 0.71,0.49 0.86,0.31 0.74,0.63 0.68,0.70" + _FOOT,),
    "kings": (
        "0.53,0.07 0.53,0.12 0.58,0.12 0.58,0.18 0.53,0.18 0.53,0.3",
        "0.5,0.26 0.58,0.31 0.60,0.42 0.55,0.56",
        "0.52,0.44 0.60,0.34 0.72,0.31 0.83,0.37 0.84,0.47 0.73,0.62 0.68,0.70" + _FOOT,
    ),
}
_KNIGHT = (
    "0.28,0.89 0.30,0.80 0.36,0.72 0.46,0.58 0.37,0.57 0.30,0.64"
    " 0.22,0.61 0.21,0.53 0.31,0.33 0.38,0.24 0.39,0.13 0.48,0.19"
    " 0.53,0.12 0.57,0.21 0.69,0.33 0.75,0.53 0.74,0.72 0.77,0.89"
)
# Lines on the pieces: rectangles by their upper left corner and size; and the knight's eye.
_LINES: dict[str, tuple[Rect | Circle, ...]] = {
    "knights": (_ball(0.41, 0.33, 0.028),),
    "bishops": (Rect(0.485, 0.29, 0.03, 0.2, _INK), Rect(0.42, 0.36, 0.16, 0.03, _INK)),
    "rooks": (Rect(0.35, 0.40, 0.3, 0.025, _INK), Rect(0.32, 0.70, 0.36, 0.025, _INK)),
}
_BELT = Rect(0.27, 0.785, 0.46, 0.025, _INK)


def _drawing(kind: str, role: int) -> Drawing:
    body, line = map(Ink, _COLOURS[role])
    parts = _parts(kind)
    outline = [_grown(part, _OUTLINE) for part in parts]
    inked = [part._replace(ink=line) for part in outline]
    filled = [part._replace(ink=body) for part in parts]
    lines = [mark._replace(ink=line) for mark in (*_LINES.get(kind, ()), _BELT)]
    return Drawing(1, 1, (*inked, *filled, *lines))


def _grown(part: Circle | Polygon, by: float) -> Circle | Polygon:
    """Return the part with its edge moved outwards; polygons are clockwise, as x and y grow."""
    if isinstance(part, Circle):
        return part._replace(radius=part.radius + by)
    points = part.points
    moved = []
    around = (points[-1], *points, points[0])
    for before, point, after in zip(around, points, around[2:], strict=False):
        (a, b), (c, d) = _normal(before, point), _normal(point, after)
        far = by / max(0.35, 1 + a * c + b * d)  # sharp corners are cut off
        moved.append((round(point[0] + far * (a + c), 4), round(point[1] + far * (b + d), 4)))
    return part._replace(points=tuple(moved))


def _normal(begin: Point, end: Point) -> Point:
    """Return the unit vector to the left of a line, which is outside."""
    (x, y), (u, v) = begin, end
    length = math.hypot(u - x, v - y) or 1
    return (v - y) / length, (x - u) / length


LETTERS = {"pawns": "P", "knights": "N", "bishops": "B", "rooks": "R", "queens": "Q", "kings": "K"}
LOOK = Look(
    "wood",
    (WHITE, BLACK),
    badges=(("in_check", Drawing(1, 1, (ring(0.49, 0.41, "#c81e1e"),))),),
    figures=tuple(
        Figure(kind, letter, (_drawing(kind, 0), _drawing(kind, 1)))
        for kind, letter in LETTERS.items()
    ),
)
