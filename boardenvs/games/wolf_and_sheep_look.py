"""The pieces of Wolf and Sheep."""

from __future__ import annotations

from boardenvs.game.look import SHADOW, Look, PieceLook, mirrored, pair, piece
from boardenvs.game.shapes import Circle, Ink, Shape


def _wolf() -> PieceLook:
    fur, dark, pale = "#56616f", "#323a45", "#c3cad3"
    shapes: tuple[Shape, ...] = (
        Circle(0.54, 0.64, 0.325, SHADOW),
        # Head with ears and ruff, inside of the ears, cheeks, muzzle, eyes, nose.
        mirrored(
            dark,
            (0.58, 0.27),
            (0.79, 0.05),
            (0.86, 0.40),
            (0.93, 0.63),
            (0.78, 0.72),
            (0.66, 0.88),
            (0.56, 0.96),
        ),
        mirrored(
            fur,
            (0.58, 0.31),
            (0.765, 0.12),
            (0.82, 0.42),
            (0.87, 0.60),
            (0.74, 0.68),
            (0.63, 0.84),
            (0.55, 0.92),
        ),
        *pair(dark, (0.66, 0.31), (0.745, 0.20), (0.765, 0.38)),
        *pair(pale, (0.87, 0.60), (0.74, 0.68), (0.63, 0.84), (0.57, 0.70), (0.66, 0.60)),
        mirrored(pale, (0.53, 0.56), (0.57, 0.70), (0.63, 0.84), (0.55, 0.92)),
        *pair("#ffc93c", (0.58, 0.545), (0.70, 0.47), (0.67, 0.56)),
        mirrored("#15191e", (0.56, 0.80), (0.54, 0.86), (0.51, 0.89)),
    )
    return piece("#303030", shapes)


def _sheep() -> PieceLook:
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
    shapes: tuple[Shape, ...] = (
        Circle(0.53, 0.56, 0.40, SHADOW),
        *(Circle(x, y, 0.155, Ink("#a59c8b")) for x, y in wool),
        *(Circle(x, y, 0.13, Ink("#f1ece1")) for x, y in wool),
        Circle(0.5, 0.48, 0.30, Ink("#f1ece1"), "#ffffff"),
        # Ears, face, fringe, eyes.
        *pair(face, (0.60, 0.44), (0.70, 0.43), (0.82, 0.53), (0.80, 0.60), (0.70, 0.57)),
        mirrored(face, (0.56, 0.36), (0.64, 0.43), (0.645, 0.58), (0.60, 0.75), (0.55, 0.81)),
        Circle(0.41, 0.38, 0.07, Ink("#fbf8f1")),
        Circle(0.50, 0.36, 0.085, Ink("#fbf8f1")),
        Circle(0.59, 0.38, 0.07, Ink("#fbf8f1")),
        Circle(0.435, 0.535, 0.035, Ink("#ffffff")),
        Circle(0.565, 0.535, 0.035, Ink("#ffffff")),
    )
    return piece("#ffffff", shapes)


LOOK = Look("wood", (_wolf(), _sheep()))
