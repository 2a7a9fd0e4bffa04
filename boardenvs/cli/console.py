"""What commands share: where they print, how they show progress, how they end, and a backend for
short work.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

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

from boardenvs.kernel import get_backend, set_backend
from boardenvs.kernel.backend import VARIABLE
from boardenvs.utils.checks import cut
from boardenvs.utils.raised import describe, place_of
from boardenvs.utils.signals import interrupting

_MOST = 2000  # characters of a message

# What wrong input, files and machines raise. Anything else is a fault of ours, and needs its
# traceback; or of a user's game or agent, and needs its place.
_EXPECTED = (ValueError, OSError, RuntimeError, MemoryError, ImportError)


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

    It moves where nothing is to be counted yet, too.
    """
    name = TextColumn("{task.description}", markup=False)
    columns = (SpinnerColumn(), name, BarColumn(), MofNCompleteColumn())
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


@contextmanager
def ending_in_a_line() -> Iterator[None]:
    """Have a command end by expected errors in one line, exit code 2, and by signals with 130."""
    try:
        with interrupting():
            yield
    except (BrokenPipeError, typer.Exit, typer.Abort):  # the reader has seen enough: typer ends
        raise
    except _EXPECTED as error:
        _fail(cut(message_of(error), _MOST), error)
    except Exception as error:
        if place_of(error) is None:
            raise
        _fail(describe(error), error)
    except KeyboardInterrupt as error:
        typer.secho("interrupted", err=True)
        raise SystemExit(130) from error


def _fail(message: str, error: Exception) -> None:
    typer.secho(f"error: {message}", err=True, fg="red")
    raise SystemExit(2) from error


def message_of(error: BaseException) -> str:
    """What an expected error tells its user."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{cut(str(error.filename), 200)}: {error.strerror}"
    if isinstance(error, MemoryError):
        return f"there is too little memory for this. {error}".strip()
    return str(error) or type(error).__name__
