"""The pieces of chess as drawings of a few shapes, outlined in a second colour."""

from __future__ import annotations

from collections.abc import Iterator

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
    read_points,
    ring,
)

_EDGE = 0.028
_COLOURS = (("#f6f0df", "#2b2620"), ("#34302c", "#e8e0cf"))  # of body and lines, by role


# Balls "x,y,radius"; outlines, of which all but the knight's are right halves from top to bottom.
_BALLS = {
    "pawns": "0.5,0.35,0.125",
    "bishops": "0.5,0.155,0.05",
    "queens": "0.5,0.16,0.045 0.31,0.2,0.045 0.69,0.2,0.045 0.14,0.29,0.045 0.86,0.29,0.045",
}
_OUTLINES = {
    "pawns": "0.55,0.46 0.64,0.53 0.56,0.56 0.60,0.70 0.74,0.79 0.77,0.89",
    "knights": "0.28,0.89 0.30,0.80 0.36,0.72 0.46,0.58 0.37,0.57 0.30,0.64"
    " 0.22,0.61 0.21,0.53 0.31,0.33 0.38,0.24 0.39,0.13 0.48,0.19"
    " 0.53,0.12 0.57,0.21 0.69,0.33 0.75,0.53 0.74,0.72 0.77,0.89",
    "bishops": "0.53,0.20 0.63,0.33 0.66,0.45 0.60,0.56;"
    " 0.58,0.57 0.65,0.62 0.57,0.65 0.60,0.74 0.74,0.79 0.77,0.89",
    "rooks": "0.555,0.24 0.555,0.17 0.625,0.17 0.625,0.24 0.67,0.24"
    " 0.67,0.17 0.74,0.17 0.74,0.34 0.65,0.41 0.67,0.70 0.74,0.79 0.77,0.89",
    "queens": "0.5,0.18 0.585,0.46 0.69,0.22 0.71,0.49 0.86,0.31 0.74,0.63 0.68,0.70"
    " 0.74,0.79 0.77,0.89",
    "kings": "0.53,0.07 0.53,0.12 0.58,0.12 0.58,0.18 0.53,0.18 0.53,0.3;"
    " 0.5,0.26 0.58,0.31 0.60,0.42 0.55,0.56;"
    " 0.52,0.44 0.60,0.34 0.72,0.31 0.83,0.37 0.84,0.47 0.73,0.62 0.68,0.70 0.74,0.79 0.77,0.89",
}
# Lines on the pieces: rectangles by their upper left corner and size; and the knight's eye.
_BELT = " 0.27,0.785,0.46,0.025"
_LINES = {
    "knights": "0.41,0.33,0.028",
    "bishops": "0.485,0.29,0.03,0.2 0.42,0.36,0.16,0.03",
    "rooks": "0.35,0.40,0.3,0.025 0.32,0.70,0.36,0.025",
}


def _parts(kind: str, ink: Ink, edge: float = 0.0) -> Iterator[Circle | Polygon]:
    for x, y, radius in read_points(_BALLS.get(kind, "")):
        yield Circle(x, y, radius + edge, ink)
    for outline in map(read_points, _OUTLINES[kind].split(";")):
        whole = Polygon(tuple(outline), ink)
        yield (whole if kind == "knights" else mirrored(ink.colour, *outline))._replace(edge=edge)


def _drawing(kind: str, role: int) -> Drawing:
    body, line = map(Ink, _COLOURS[role])
    lines = (
        Rect._make((*place, line, 0)) if len(place) == 4 else Circle._make((*place, line, None))
        for place in read_points(_LINES.get(kind, "") + _BELT)
    )
    return Drawing(1, 1, (*_parts(kind, line, _EDGE), *_parts(kind, body), *lines))


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
