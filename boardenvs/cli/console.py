"""What commands share: where they print, tables, JSON, and how they show progress."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

_NUMBER = re.compile(r"[-+]?[0-9][0-9,.]*( ?%| ply| plies)?")


def make_console(*, errors: bool = False) -> Console:
    """Standard output, or standard error; a file or pipe has no width to adapt to and gets 120
    columns.

    Texts are printed as they are: names of files and players may look like rich's markup.
    """
    console = Console(highlight=False, markup=False, stderr=errors)
    if console.is_terminal:
        return console
    return Console(width=120, highlight=False, markup=False, stderr=errors)


def make_progress(console: Console | None = None) -> Progress:
    """A bar that counts, tells the time passed and left, and goes away when it is done, by default
    on standard error.

    It moves where nothing is to be counted yet, too. Files and pipes get nothing of it.
    """
    console = console or make_console(errors=True)
    name = TextColumn("{task.description}", markup=False)
    columns = (SpinnerColumn(), name, BarColumn(), MofNCompleteColumn())
    times = (TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
    hidden = not console.is_interactive  # rich would end with an empty line there
    return Progress(*columns, *times, console=console, transient=True, disable=hidden)


def make_table(
    rows: Sequence[Mapping[str, object]],
    title: str,
    caption: str | None = None,
    marked: Sequence[int] = (),
) -> Table:
    """Rows of cells by the names of their columns; columns that are empty in all rows are left out,
    numbers stand to the right, and the rows at the places `marked` in red.
    """
    table = Table(title=Text(title), caption=None if caption is None else Text(caption))
    cells = {
        name: ["" if row[name] is None else _written(row[name]) for row in rows]
        for name in (rows[0] if rows else ())
    }
    used = {name: column for name, column in cells.items() if any(column)}
    for name, column in used.items():
        is_number = all(not cell or _NUMBER.match(cell) for cell in column)
        table.add_column(name, justify="right" if is_number else "left", overflow="fold")
    for place, row in enumerate(zip(*used.values(), strict=True)):
        table.add_row(*map(Text, row), style="bold red" if place in marked else None)
    return table


def _written(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def print_json(content: Any) -> None:
    """To standard output."""
    typer.echo(json.dumps(content, indent=1))
