"""Output of commands: consoles, JSON and progress.

rich is imported when it prints, so that help is quick.
"""

from __future__ import annotations

import json
import logging
import shlex
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from boardenvs.utils.checks import printable

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions as Shown, RenderableType
    from rich.segment import Segment


def make_console(*, errors: bool = False) -> Console:
    """Return a console for standard output or standard error.

    Files and pipes have 120 columns. Texts are printed as they are, since names may look like
    rich's markup, except for control characters; see `printable`.
    """
    from rich.console import Console

    class PlainConsole(Console):
        def render(
            self, renderable: RenderableType, options: Shown | None = None
        ) -> Iterator[Segment]:
            for part in super().render(renderable, options):
                yield part if part.control else part._replace(text=printable(part.text))

    console = PlainConsole(highlight=False, markup=False, stderr=errors)
    if not console.is_terminal:
        console.width = 120
    return console


@contextmanager
def counting(
    title: str, every: float = 5.0, console: Console | None = None
) -> Iterator[Callable[..., None]]:
    """Show a progress bar on a console, by default of standard error, and yield the function that
    moves it.

    The function takes how many are done, the total, and optionally a new title. In files and pipes
    a line shows the progress, at most one in `every` seconds.
    """
    from rich.progress import MofNCompleteColumn, Progress, TextColumn

    console = console or make_console(errors=True)
    due = time.monotonic() + every
    columns = TextColumn("{task.description}", markup=False), *Progress.get_default_columns()[1:]
    with Progress(
        *columns,
        MofNCompleteColumn(),
        console=console,
        transient=True,
        disable=not console.is_interactive,  # rich would end with an empty line there
    ) as progress:
        task = progress.add_task(title, total=None)

        def show(done: float, of: float | None, name: str | None = None) -> None:
            nonlocal due
            progress.update(task, completed=done, total=of, description=name)
            if progress.disable and time.monotonic() >= due:
                console.print(f"{done} of {of or 'unknown'}: {name or title}", soft_wrap=True)
                due = time.monotonic() + every

        yield show


def show_log() -> None:
    """Print what the package logs, such as that it compiles rules, to standard error."""
    log, handler = logging.getLogger("boardenvs"), logging.lastResort
    assert handler, "Python's own, which prints messages alone"
    for its in (log, handler):
        its.setLevel(logging.INFO)
    log.addHandler(handler)


def print_report(console: Console, counts: Mapping[str, float], name: str = "the player") -> None:
    """Print what a player counted, such as its illegal replies, if it counted anything."""
    if said := [f"{key.replace('_', ' ')} {value:,.12g}" for key, value in counts.items() if value]:
        console.print(f"{name} counted: {', '.join(said)}", soft_wrap=True)


def python_command(*words: str) -> str:
    """Return `python -m WORDS` for a shell in this folder, with the Python that runs."""
    python = "python" if shutil.which("python") == sys.executable else sys.executable
    return shlex.join([python, "-m", *words])


def print_json(content: Any) -> None:
    """Print as JSON to standard output."""
    print(json.dumps(content, indent=1))
