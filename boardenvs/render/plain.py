"""A position as plain text that needs no picture: for prompts."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import indent

from boardenvs.board.bitboard import drawn
from boardenvs.game.position import Position


def write_plain(position: Position) -> str:
    """Return the board, rows from the top, with what its letters and other words mean."""
    game, (height, width) = position.game, position.game.board
    own = game.text_of(position)
    if own is not None:
        return indent(own, "    ")
    first, second = game.sides
    sets = [(side[0].upper(), position.pieces(i)) for i, side in enumerate(game.sides)]
    signs = drawn([*sets, ("#", game.holes)], game.board.size)
    firsts = reversed(range(0, height * width, width))  # of each row, from the top
    labels = game.labels(position) or {}
    cells = [f"{sign}{labels.get(square, '')}" for square, sign in enumerate(signs)]
    files = game.look.file_labels(width)
    wide = max(map(len, (*cells, *files)))
    rows = [f"{game.square_name(a)[1:]:>2} {_line(cells[a:][:width], wide)}" for a in firsts]
    lines = [f"   {_line(files, wide)}", *rows]
    legend = (
        f"{first[0].upper()} is one of the {game.about.pieces} of {first}, "
        f"{second[0].upper()} one of {second}, and . an empty square"
        f"{', # a hole' if game.holes else ''}."
    )
    further = game.further_texts(position).items()  # such as kings
    texts = [f"{name.replace('_', ' ')}: {text}" for name, text in further]
    return "\n".join([*(f"    {line}" for line in lines), "", legend, *texts])


def _line(cells: Sequence[str], wide: int) -> str:
    return " ".join(cell.ljust(wide) for cell in cells).rstrip()
