"""What the window shows, as one picture: the board, a few lines of text and a row of buttons."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from boardenvs.board.bitboard import SIZE
from boardenvs.game.shapes import Drawing, Ink, Placed, Rect, Scene, Text
from boardenvs.render.geometry import MARGIN, Side, corner, on_squares, scene
from boardenvs.render.view import View

WIDTH = SIZE + 2 * MARGIN
HEIGHT = WIDTH + 2.5

_LINE = 0.36  # height of a line of text
_COLUMNS = 62  # characters that fit in a line
_MOST_LINES = 4
_BUTTONS_AT = HEIGHT - 0.8
_BUTTON_HEIGHT = 0.7
_GAP = 0.07

_GROUND = "#16191d"
_INK, _KEY, _PROBLEM, _FAINT = "#e8ebee", "#aab2ba", "#ffb3a7", "#6d7680"
_FACE, _FOCUS = "#2f363d", "#56b4e9"


class TextLine(NamedTuple):
    """A line of text; a problem stands out."""

    text: str
    problem: bool = False


class Button(NamedTuple):
    """A button, and the key that does the same."""

    text: str
    key: str
    enabled: bool = True
    focused: bool = False


class Shown(NamedTuple):
    """All that there is to see."""

    view: View
    side: Side
    lines: Sequence[TextLine]
    buttons: Sequence[Button]
    sources: int = 0  # squares of pieces that can move, as a bitboard
    source: int | None = None  # the one that is to move
    dragged: tuple[float, float] | None = None  # where the mouse has its piece
    hint: Sequence[int] = ()  # squares
    cursor: int | None = None  # where the keys are used


def window_scene(shown: Shown) -> Scene:
    """The picture of the window, `WIDTH` times `HEIGHT`."""
    board, held = scene(shown.view, caption=False, side=shown.side).placed, list[Placed]()
    if shown.source is not None and shown.dragged is not None:
        at = corner(shown.source, shown.side)
        held = [one for one in board if (one.x, one.y) == at and one.what in shown.view.roles]
        board = tuple(one for one in board if one not in held)
        x, y = shown.dragged
        held = [one._replace(x=x - 0.5, y=y - 0.5) for one in held]
    placed = [Placed("ground", _ground(), 0, 0), *board]
    placed += on_squares("source", shown.sources, _frame("#000000", 0.03, 0.45), shown.side)
    outlined = [(square, "#56b4e9", 0.09) for square in shown.hint]
    outlined += [(square, "#f4e04d", 0.09) for square in (shown.source,) if square is not None]
    outlined += [(square, "#ffffff", 0.05) for square in (shown.cursor,) if square is not None]
    placed += [
        Placed("outline", _frame(colour, thick), *corner(square, shown.side))
        for square, colour, thick in outlined
    ]
    placed += [*held, *_lines(shown.lines)]
    for (x, width), button in zip(_places(len(shown.buttons)), shown.buttons, strict=True):
        placed.append(Placed("button", _button(button, width), x, _BUTTONS_AT))
    return Scene(WIDTH, HEIGHT, _GROUND, shown.view.caption, tuple(placed))


def button_at(x: float, y: float, count: int) -> int | None:
    """Which of so many buttons is at a point of the picture."""
    if not _BUTTONS_AT <= y < _BUTTONS_AT + _BUTTON_HEIGHT:
        return None
    return next((i for i, (at, width) in enumerate(_places(count)) if at <= x < at + width), None)


def _places(count: int) -> list[tuple[float, float]]:
    """Where so many buttons are, and how wide."""
    width = (WIDTH - _GAP) / count - _GAP
    return [(_GAP + i * (width + _GAP), width) for i in range(count)]


def _lines(lines: Sequence[TextLine]) -> Iterator[Placed]:
    wrapped = [(part, line) for line in lines for part in textwrap.wrap(line.text, _COLUMNS)]
    for row, (text, line) in enumerate(wrapped[:_MOST_LINES]):
        ink = Ink(_PROBLEM if line.problem else _INK)
        drawing = Drawing(WIDTH, _LINE, (Text(WIDTH / 2, _LINE / 2, text, 0.3, ink),))
        yield Placed("text", drawing, 0, WIDTH + 0.12 + row * _LINE)


@lru_cache
def _ground() -> Drawing:
    return Drawing(WIDTH, HEIGHT, (Rect(0, 0, WIDTH, HEIGHT, Ink(_GROUND)),))


@lru_cache
def _frame(colour: str, thick: float, opacity: float = 1.0) -> Drawing:
    """A frame within a square."""
    ink, long = Ink(colour, opacity), 1 - 2 * thick
    return Drawing(
        1,
        1,
        (
            Rect(0, 0, 1, thick, ink),
            Rect(0, 1 - thick, 1, thick, ink),
            Rect(0, thick, thick, long, ink),
            Rect(1 - thick, thick, thick, long, ink),
        ),
    )


@lru_cache
def _button(button: Button, width: float) -> Drawing:
    ink, key = (_INK, _KEY) if button.enabled else (_FAINT, _FAINT)
    edge = 0.05
    inner = (width - 2 * edge, _BUTTON_HEIGHT - 2 * edge)
    return Drawing(
        width,
        _BUTTON_HEIGHT,
        (
            Rect(0, 0, width, _BUTTON_HEIGHT, Ink(_FOCUS if button.focused else _FACE), 0.12),
            Rect(edge, edge, *inner, Ink(_FACE), 0.12 - edge),
            Text(width / 2, 0.25, button.text, 0.24, Ink(ink)),
            Text(width / 2, 0.51, button.key, 0.2, Ink(key)),
        ),
    )
