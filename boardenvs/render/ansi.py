"""A picture as text for a terminal, with colours or in plain ASCII."""

from __future__ import annotations

import re
from functools import cache

from boardenvs.render.geometry import LABEL, SHADE, BoardLook, board_look, is_light
from boardenvs.render.view import View

RESET = "\x1b[0m"
_CODES = re.compile(r"\x1b\[[\d;]*m")


def write_ansi(contents: View, colour: bool = True) -> str:
    """Return the board with the last rank on top, and the caption as the last line.

    A piece is the first letter of its side; figures have letters of their own, small for the second
    side. "#" is a hole, "." an empty square, "*" a square that can be played to. What is written in
    the square follows, then the first letter of its badge; brackets mark the squares of the last
    action.
    """
    look, colours = contents.look, board_look(contents.look.board)
    rows, columns = contents.board
    width = len(str(rows))  # of rank numbers
    # Hexagons are four letters wide, so that each row can be shifted by half a hexagon.
    space, shift = (" ", "  ") if look.hexagons else ("", "")
    wide = 3 if contents.labels is None else 5
    names = space.join(f" {name}".ljust(wide) for name in look.file_labels(columns))
    files = " " * (width + 1) + names
    lines = [shift * (rows - 1) + files]
    for y in reversed(range(rows)):
        cells = space.join(_cell(contents, colours, columns * y + x) for x in range(columns))
        rank = f"{rows - y if look.from_top else y + 1:>{width}}"
        lines.append(f"{shift * y}{rank} {cells}{RESET} {rank}")
    text = "\n".join([*lines, files, contents.caption])
    return text if colour else _CODES.sub("", text)


def _cell(contents: View, colours: BoardLook, square: int) -> str:
    """Return a square, and what is in it."""
    look, board, bit = contents.look, contents.board, 1 << square
    ground = colours.light if is_light(square, board) else colours.dark
    symbol, ink, under = ".", colours.line, ground
    if contents.targets & bit:
        symbol, ink = "*", colours.target.colour
    elif look.ground:
        y, x = divmod(square, board.columns)
        symbol = look.ground[board.columns * (board.rows - 1 - y) + x]
    elif contents.holes & bit:
        symbol, ink, under = "#", LABEL, SHADE
    for role, piece in enumerate(look.pieces_of(contents.sides)):
        if contents.pieces[role] & bit:
            under, ink = piece.colour, _contrast(piece.colour)
            symbol = contents.sides[role][0].upper()
            for figure, squares in zip(look.figures, contents.figures, strict=True):
                if squares & bit:
                    symbol = figure.letter.lower() if role else figure.letter
    left, right = "[]" if contents.marks & bit else "  "
    for (name, _), squares in zip(look.badges, contents.badges, strict=True):
        right = name.rpartition("_")[2][0] if squares & bit else right
    around = _paint(colours.target.colour, ground)
    text = "" if contents.labels is None else f"{contents.labels.get(square, ''):>2}"
    return around + left + _paint(ink, under) + symbol + around + text + right


def _paint(ink: str, ground: str) -> str:
    return f"\x1b[1;38;5;{_code(ink)};48;5;{_code(ground)}m"


def _contrast(colour: str) -> str:
    """Return black or white, whichever is easier to read on the colour."""
    return "#ffffff" if sum(bytes.fromhex(colour[1:])) < 384 else "#000000"


@cache
def _code(colour: str) -> int | None:
    """Return the number of the nearest of the 256 colours of terminals."""
    from rich.color import Color, ColorSystem  # only text with colours needs it

    return Color.parse(colour).downgrade(ColorSystem.EIGHT_BIT).number
