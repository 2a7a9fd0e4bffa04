"""Tables for the terminal, Markdown and notebooks; columns of numbers are right-aligned."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

# A number, perhaps with a unit or followed by other numbers, such as the end of an interval.
_NUMBER = re.compile(
    r"[-+\N{MINUS SIGN}]?[0-9][0-9,.]*½?(e[-+]?[0-9]+)?"
    r"( ?%| ply| plies| m?s| to .*| [^a-z]*| \(.*)?"
)


@dataclass(frozen=True)
class ReportTable:
    """Rows of cells by column name. Columns that are empty in all rows are left out.

    The terminal shows the rows whose indices are `marked` in red. `console.print` of rich prints a
    ReportTable as it is.
    """

    rows: Sequence[Mapping[str, object]]
    title: str = ""
    caption: str = ""
    marked: Collection[int] = ()

    def __rich__(self) -> Table:
        from rich.table import Table
        from rich.text import Text

        title, caption = (Text(text) if text else None for text in (self.title, self.caption))
        table = Table(title=title, caption=caption)
        names, cells, is_number = self._columns()
        for name, right in zip(names, is_number, strict=True):
            table.add_column(name, justify="right" if right else "left", overflow="fold")
        for index, row in enumerate(cells):
            table.add_row(*map(Text, row), style="bold red" if index in self.marked else None)
        return table

    def markdown(self) -> str:
        """Return the table in Markdown, without title and caption; empty if there are no rows."""
        names, cells, is_number = self._columns()
        if not names:
            return ""
        lines = [names, ["---:" if right else "---" for right in is_number], *cells]
        escaped = (" | ".join(cell.replace("|", "\\|") for cell in line) for line in lines)
        return "\n".join(f"| {line} |" for line in escaped)

    def html(self) -> str:
        """Return the table as HTML, such as notebooks show."""
        names, cells, is_number = self._columns()

        def line(tag: str, texts: Iterable[str]) -> str:
            parts = (
                f'<{tag} style="text-align: {"right" if right else "left"}">{escape(text)}</{tag}>'
                for right, text in zip(is_number, texts, strict=True)
            )
            return f"<tr>{''.join(parts)}</tr>"

        body = "".join(line("td", row) for row in cells)
        title = f'<caption style="white-space: nowrap">{escape(self.title)}</caption>'
        return f"<table>{title}{line('th', names)}{body}</table>"

    _repr_html_ = html

    def _columns(self) -> tuple[list[str], list[list[str]], list[bool]]:
        """Return the columns' names, the cells of each row, and which columns are of numbers."""
        rows = self.rows
        names = [name for name in rows[0] if any(_text(row[name]) for row in rows)] if rows else []
        cells = [[_text(row[name]) for name in names] for row in rows]
        return names, cells, [_is_number(column) for column in zip(*cells, strict=True)]


def _is_number(column: Iterable[str]) -> bool:
    """Return whether at least half of the cells that are not empty are numbers."""
    numbers = [_NUMBER.fullmatch(cell) is not None for cell in column if cell]
    return 2 * sum(numbers) >= len(numbers)


def _text(value: object) -> str:
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int) else str(value)
