"""Tables for the terminal and for reports in Markdown: columns of numbers stand to the right."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

# With a unit, or with other numbers, such as the ends of an interval.
_NUMBER = re.compile(
    r"[-+\N{MINUS SIGN}]?[0-9][0-9,.]*(e[-+]?[0-9]+)?( ?%| ply| plies| m?s| to .*| [^a-z]*| \(.*)?"
)


def make_table(
    rows: Iterable[Mapping[str, object] | None],
    title: str,
    caption: str | None = None,
    marked: Sequence[int] = (),
) -> Table:
    """Rows of cells by the names of their columns, and None for a line between two; columns that
    are empty in all rows are left out, and the rows at the places `marked` are red.
    """
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(title), caption=None if caption is None else Text(caption))
    lines = list(rows)
    names, cells, right = _columns([row for row in lines if row is not None])
    for name, number in zip(names, right, strict=True):
        table.add_column(name, justify="right" if number else "left", overflow="fold")
    filled = iter(cells)
    for place, row in enumerate(lines):
        if row is None:
            table.add_section()
        else:
            style = "bold red" if place in marked else None
            table.add_row(*map(Text, next(filled)), style=style)
    return table


def html_table(rows: Sequence[Mapping[str, object]], caption: str) -> str:
    """Rows of cells by the names of their columns, for a notebook; columns that are empty in all
    rows are left out.
    """
    names, cells, right = _columns(rows)

    def line(tag: str, texts: Iterable[str]) -> str:
        ends = ("right" if number else "left" for number in right)
        parts = (
            f'<{tag} style="text-align: {end}">{escape(text)}</{tag}>'
            for end, text in zip(ends, texts, strict=True)
        )
        return f"<tr>{''.join(parts)}</tr>"

    body = "".join(line("td", row) for row in cells)
    return f"<table><caption>{escape(caption)}</caption>{line('th', names)}{body}</table>"


def markdown_table(headings: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """The lines of a table in Markdown; columns that are empty in all rows are left out."""
    heads = list(headings)
    filled = [dict(zip(heads, row, strict=True)) for row in rows]
    names, cells, right = _columns(filled or [dict.fromkeys(heads, "-")])
    ends = ["---:" if number else "---" for number in right]
    lines = [names, ends, *(cells if filled else ())]
    escaped = (" | ".join(cell.replace("|", "\\|") for cell in line) for line in lines)
    return "\n".join(f"| {line} |" for line in escaped)


def _columns(
    rows: Sequence[Mapping[str, object]],
) -> tuple[list[str], list[list[str]], list[bool]]:
    """The names of the columns that are not empty, the cells of each row as texts, and which of the
    columns stand to the right.
    """
    names = [name for name in rows[0] if any(_written(row[name]) for row in rows)] if rows else []
    cells = [[_written(row[name]) for name in names] for row in rows]
    return names, cells, list(map(_stands_right, zip(*cells, strict=True)))


def _stands_right(column: Iterable[str]) -> bool:
    """Whether most cells, of those that are not empty, are numbers."""
    numbers = [_NUMBER.fullmatch(cell) is not None for cell in column if cell]
    return 2 * sum(numbers) >= len(numbers)


def _written(value: object) -> str:
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int) else str(value)
