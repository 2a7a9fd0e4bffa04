"""How processes end: errors in one line with exit code 2, SIGTERM and SIGHUP like Ctrl-C with 130.

Signals that `nohup` ignores stay ignored.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from boardenvs.utils.checks import cut, printable
from boardenvs.utils.imports import describe, place_of

_MOST = 2000  # characters of a message
# Wrong input, files and machines raise these. Other errors are our own faults, shown with their
# traceback, or faults of user code, shown with their place.
_EXPECTED = (ValueError, OSError, RuntimeError, MemoryError, ImportError)

ENDING = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)
)  # Windows has no SIGHUP


@contextmanager
def ending_in_a_line() -> Iterator[None]:
    """End expected errors with one line and exit code 2, and signals with exit code 130."""
    import typer

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
        typer.secho(printable(why_interrupted(error)), err=True)
        raise SystemExit(130) from error


def _fail(message: str, error: Exception) -> None:
    import typer

    typer.secho(f"error: {printable(message)}", err=True, fg="red")
    raise SystemExit(2) from error


def why_interrupted(error: KeyboardInterrupt) -> str:
    """Return why a command ended early."""
    return "interrupted" if type(error) is KeyboardInterrupt else cut(f"stopped: {error}", _MOST)


def message_of(error: BaseException) -> str:
    """Return the message of an expected error."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{cut(str(error.filename), 200)}: {error.strerror}"
    if isinstance(error, MemoryError):
        return f"there is too little memory for this. {error}".strip()
    return str(error) or type(error).__name__


@contextmanager
def handling(numbers: tuple[signal.Signals, ...], handle: Callable[[int], None]) -> Iterator[None]:
    """Call `handle` for the first of these signals within the block.

    Later ones do what they did before, except SIGHUP, which a shell and the kernel may both send.
    Signals can only be handled in the main thread.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {
        number: handler
        for number in numbers
        # None: a handler that Python did not set, and could not set again
        if (handler := signal.getsignal(number)) is not None
        and (number == signal.SIGINT or handler != signal.SIG_IGN)
    }

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def first(number: int, frame: FrameType | None) -> None:
        restore()
        if number == getattr(signal, "SIGHUP", None):
            signal.signal(number, signal.SIG_IGN)
            leave_terminal()
        handle(number)

    for number in before:
        signal.signal(number, first)
    try:
        yield
    finally:
        restore()


def leave_terminal() -> None:
    """Discard output to a terminal that is gone."""
    with open(os.devnull, "r+b") as nowhere:
        for number in filter(os.isatty, range(3)):
            os.dup2(nowhere.fileno(), number)


@contextmanager
def interrupting() -> Iterator[None]:
    """Raise KeyboardInterrupt for these signals within the block, as Ctrl-C does."""

    def interrupt(number: int) -> None:
        raise KeyboardInterrupt(signal.Signals(number).name)

    with handling(ENDING, interrupt):
        yield
