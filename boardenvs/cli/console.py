"""What commands share: where they print, JSON, and how they show progress.

rich is imported when it prints, so that help is quick.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress


def make_console(*, errors: bool = False) -> Console:
    """Standard output, or standard error; a file or pipe has no width to adapt to and gets 120
    columns.

    Texts are printed as they are: names of files and players may look like rich's markup.
    """
    from rich.console import Console

    console = Console(highlight=False, markup=False, stderr=errors)
    if not console.is_terminal:
        console.width = 120
    return console


def make_progress(console: Console | None = None) -> Progress:
    """A bar that counts, tells the time passed and left, and goes away when it is done, by default
    on standard error.

    It moves where nothing is to be counted yet, too. Files and pipes get nothing of it.
    """
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = console or make_console(errors=True)
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_interactive,  # rich would end with an empty line there
    )


@contextmanager
def counting(name: str) -> Iterator[Callable[..., None]]:
    """A bar of `make_progress`, and what moves it: called with how many of how many are done, and
    with another name where it has one.
    """
    with make_progress() as progress:
        task = progress.add_task(name, total=None)

        def show(done: float, of: float | None, name: str | None = None) -> None:
            progress.update(task, completed=done, total=of, description=name)

        yield show


def print_report(console: Console, counted: Mapping[str, float]) -> None:
    """What a player counted, such as its illegal replies; nothing where it counted nothing."""
    said = [f"{name.replace('_', ' ')} {value:,}" for name, value in counted.items() if value]
    if said:
        console.print(f"the player counted: {', '.join(said)}", soft_wrap=True)


def print_json(content: Any) -> None:
    """To standard output."""
    typer.echo(json.dumps(content, indent=1))
