"""The looks: colours of a board, and the drawing of a piece, by the names that games give.

A board is looked up by `Game.board_look`, a piece by the name of its role. A role that is not
listed is drawn as a plain disc with its first letter.
"""

from __future__ import annotations

from typing import NamedTuple

from boardenvs.render.shapes import Circle, Drawing, Ink, Polygon, Shape, Text
from boardenvs.utils.checks import unknown

SHADOW = Ink("#000000", 0.30)


class BoardLook(NamedTuple):
    """The colours of a board; with two equal squares, lines part them."""

    frame: str
    frame_edge: str
    label: str
    light: str
    dark: str
    line: str
    hole: str
    mark: Ink
    target: Ink


BOARDS = {
    "felt": BoardLook(
        frame="#4b3021",
        frame_edge="#2c1a10",
        label="#e6d3b3",
        light="#2e8b57",
        dark="#2e8b57",
        line="#1d6640",
        hole="#3a2418",
        mark=Ink("#f4e04d", 0.42),
        target=Ink("#0b3a20", 0.45),
    ),
    "wood": BoardLook(
        frame="#4b3021",
        frame_edge="#2c1a10",
        label="#e6d3b3",
        light="#ecd3a6",
        dark="#b98654",
        line="#8f6238",
        hole="#3a2418",
        mark=Ink("#f4e04d", 0.55),
        target=Ink("#3a2212", 0.40),
    ),
}


class PieceLook(NamedTuple):
    """A piece in a box of one square, and the one colour that stands for it in a terminal."""

    colour: str
    drawing: Drawing


def board_look(name: str) -> BoardLook:
    """The board look with this name; ValueError for an unknown one."""
    if name not in BOARDS:
        raise ValueError(unknown("board look", name, BOARDS))
    return BOARDS[name]


def piece_look(role: str) -> PieceLook:
    """How the pieces of a role look."""
    if role in PIECES:
        return PIECES[role]
    letter = Text(0.5, 0.5, role[0].upper(), 0.5, Ink("#ffffff"))
    return _piece("#51698f", (*_disc("#51698f", "#8ea6cc", "#2f4263"), letter))


def _piece(colour: str, shapes: tuple[Shape, ...]) -> PieceLook:
    return PieceLook(colour, Drawing(1, 1, shapes))


def _disc(body: str, glow: str, rim: str) -> tuple[Shape, ...]:
    return (
        Circle(0.53, 0.555, 0.41, SHADOW),
        Circle(0.5, 0.5, 0.41, Ink(rim)),
        Circle(0.5, 0.49, 0.385, Ink(body), glow),
    )


def _mirrored(ink: str, *right: tuple[float, float]) -> Polygon:
    """A polygon symmetric about x = 0.5, given by its right half from top to bottom."""
    left = tuple((round(1 - x, 3), y) for x, y in reversed(right))
    return Polygon((*right, *left), Ink(ink))


def _pair(ink: str, *right: tuple[float, float]) -> tuple[Polygon, Polygon]:
    """A polygon and its mirror image at x = 0.5."""
    left = tuple((round(1 - x, 3), y) for x, y in right)
    return Polygon(right, Ink(ink)), Polygon(left, Ink(ink))


def _wolf() -> tuple[Shape, ...]:
    fur, dark, pale = "#56616f", "#323a45", "#c3cad3"
    return (
        Circle(0.54, 0.64, 0.325, SHADOW),
        # Head with ears and ruff, inside of the ears, cheeks, muzzle, eyes, nose.
        _mirrored(
            dark,
            (0.58, 0.27),
            (0.79, 0.05),
            (0.86, 0.40),
            (0.93, 0.63),
            (0.78, 0.72),
            (0.66, 0.88),
            (0.56, 0.96),
        ),
        _mirrored(
            fur,
            (0.58, 0.31),
            (0.765, 0.12),
            (0.82, 0.42),
            (0.87, 0.60),
            (0.74, 0.68),
            (0.63, 0.84),
            (0.55, 0.92),
        ),
        *_pair(dark, (0.66, 0.31), (0.745, 0.20), (0.765, 0.38)),
        *_pair(pale, (0.87, 0.60), (0.74, 0.68), (0.63, 0.84), (0.57, 0.70), (0.66, 0.60)),
        _mirrored(pale, (0.53, 0.56), (0.57, 0.70), (0.63, 0.84), (0.55, 0.92)),
        *_pair("#ffc93c", (0.58, 0.545), (0.70, 0.47), (0.67, 0.56)),
        _mirrored("#15191e", (0.56, 0.80), (0.54, 0.86), (0.51, 0.89)),
    )


def _sheep() -> tuple[Shape, ...]:
    wool = [
        (0.5, 0.2),
        (0.7, 0.27),
        (0.81, 0.45),
        (0.77, 0.65),
        (0.62, 0.77),
        (0.38, 0.77),
        (0.23, 0.65),
        (0.19, 0.45),
        (0.3, 0.27),
    ]
    face = "#3b3434"
    return (
        Circle(0.53, 0.56, 0.40, SHADOW),
        *(Circle(x, y, 0.155, Ink("#a59c8b")) for x, y in wool),
        *(Circle(x, y, 0.13, Ink("#f1ece1")) for x, y in wool),
        Circle(0.5, 0.48, 0.30, Ink("#f1ece1"), "#ffffff"),
        # Ears, face, fringe, eyes.
        *_pair(face, (0.60, 0.44), (0.70, 0.43), (0.82, 0.53), (0.80, 0.60), (0.70, 0.57)),
        _mirrored(face, (0.56, 0.36), (0.64, 0.43), (0.645, 0.58), (0.60, 0.75), (0.55, 0.81)),
        Circle(0.41, 0.38, 0.07, Ink("#fbf8f1")),
        Circle(0.50, 0.36, 0.085, Ink("#fbf8f1")),
        Circle(0.59, 0.38, 0.07, Ink("#fbf8f1")),
        Circle(0.435, 0.535, 0.035, Ink("#ffffff")),
        Circle(0.565, 0.535, 0.035, Ink("#ffffff")),
    )


PIECES = {
    "black": _piece("#000000", _disc("#1b1d20", "#656b73", "#08090a")),
    "white": _piece("#ffffff", _disc("#e2dccd", "#ffffff", "#a79d88")),
    "red": _piece("#af0000", _disc("#c0281f", "#ff8a76", "#6f120d")),
    "wolf": _piece("#303030", _wolf()),
    "sheep": _piece("#ffffff", _sheep()),
}
