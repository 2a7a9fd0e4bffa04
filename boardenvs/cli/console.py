"""What commands share: where they print, and how they show progress."""

from __future__ import annotations

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


def make_console(*, errors: bool = False) -> Console:
    """Standard output, or standard error; a file or pipe has no width to adapt to and gets 120
    columns.

    Texts are printed as they are: names of files and players may look like rich's markup.
    """
    console = Console(highlight=False, markup=False, stderr=errors)
    if console.is_terminal:
        return console
    return Console(width=120, highlight=False, markup=False, stderr=errors)


def make_progress(console: Console) -> Progress:
    """A bar that counts, tells the time passed and left, and goes away when it is done.

    It moves where nothing is to be counted yet, too. Files and pipes get nothing of it.
    """
    name = TextColumn("{task.description}", markup=False)
    columns = (SpinnerColumn(), name, BarColumn(), MofNCompleteColumn())
    times = (TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
    hidden = not console.is_interactive  # rich would end with an empty line there
    return Progress(*columns, *times, console=console, transient=True, disable=hidden)
