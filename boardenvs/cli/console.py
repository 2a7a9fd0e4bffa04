"""What commands share: where they print, how they show progress, and a backend for short work."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

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

from boardenvs.kernel import get_backend, set_backend
from boardenvs.kernel.backend import VARIABLE


def make_console() -> Console:
    """Standard output; a file or pipe has no width to adapt to and gets 120 columns."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(width=120, highlight=False)


def make_progress(console: Console) -> Progress:
    """A bar that counts, tells the time passed and left, and goes away when it is done.

    It moves where nothing is to be counted yet, too.
    """
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    times = (TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
    return Progress(*columns, *times, console=console, transient=True)


@contextmanager
def no_compiling() -> Iterator[None]:
    """Rules by NumPy, for work that is over before Numba has compiled them.

    $BOARDENVS_BACKEND, where it is set, has the last word.
    """
    if os.environ.get(VARIABLE):
        yield
        return
    before = get_backend()
    set_backend("numpy")
    try:
        yield
    finally:
        set_backend(before)
