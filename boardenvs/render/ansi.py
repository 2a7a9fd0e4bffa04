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
    look = board_look(contents.look.board)
    rows, columns = contents.board
    width = len(str(rows))  # of rank numbers
    # Hexagons are four letters wide, so that each row can be shifted by half a hexagon.
    space, shift = (" ", 2) if contents.look.hexagons else ("", 0)
    wide = 3 if contents.labels is None else 5
    names = space.join(f" {name} ".ljust(wide) for name in contents.look.files[:columns])
    files = " " * (width + 1) + names
    ranks = [" " * shift * (rows - 1) + files]
    for y in reversed(range(rows)):
        cells = space.join(_cell(contents, look, columns * y + x) for x in range(columns))
        rank = f"{rows - y if contents.look.from_top else y + 1:>{width}}"
        ranks.append(f"{' ' * shift * y}{rank} {cells}{RESET} {rank}")
    text = "\n".join([*ranks, files, contents.caption])
    return text if colour else _CODES.sub("", text)


def _cell(contents: View, look: BoardLook, square: int) -> str:
    bit = 1 << square
    ground = look.light if is_light(square, contents.board) else look.dark
    symbol, ink, under = ".", look.line, ground
    if contents.targets & bit:
        symbol, ink = "*", look.target.colour
    elif contents.look.ground:
        y, x = divmod(square, contents.board.columns)
        symbol = contents.look.ground[contents.board.columns * (contents.board.rows - 1 - y) + x]
    elif contents.holes & bit:
        symbol, ink, under = "#", LABEL, SHADE
    looks = contents.look.pieces_of(contents.sides)
    for role, (look_of_side, pieces) in enumerate(zip(looks, contents.pieces, strict=True)):
        if pieces & bit:
            under = look_of_side.colour
            symbol, ink = contents.sides[role][0].upper(), _contrast(under)
            for figure, squares in zip(contents.look.figures, contents.figures, strict=True):
                if squares & bit:
                    symbol = figure.letter.lower() if role else figure.letter
    left, right = "[]" if contents.marks & bit else "  "
    for (name, _), squares in zip(contents.look.badges, contents.badges, strict=True):
        right = name.rpartition("_")[2][0] if squares & bit else right
    around = _paint(look.target.colour, ground)
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
