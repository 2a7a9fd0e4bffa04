"""Signals that ask a process to end, as Ctrl-C does: SIGTERM, and SIGHUP of a terminal that closes.

What `nohup` has a process ignore stays ignored.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

ENDING = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)
)  # Windows has no SIGHUP


@contextmanager
def handling(numbers: tuple[signal.Signals, ...], handle: Callable[[int], None]) -> Iterator[None]:
    """Within this context the first of these signals calls `handle`.

    The next ones do what they did before, but for SIGHUP: a shell and the kernel may both send it.
    In other threads than the first the signals cannot be handled, and stay as they are.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in numbers}
    # None: a handler that Python did not set, and could not set again
    before = {
        number: handler
        for number, handler in before.items()
        if handler is not None and not (number != signal.SIGINT and handler == signal.SIG_IGN)
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
    """Have what is printed go nowhere where it went to a terminal: that is gone."""
    with open(os.devnull, "r+b") as nowhere:
        for stream in (sys.stdin, sys.stdout, sys.stderr):
            try:
                number = stream.fileno()
                if os.isatty(number):
                    os.dup2(nowhere.fileno(), number)
            except (OSError, ValueError, AttributeError):  # no file, or closed
                continue


@contextmanager
def interrupting() -> Iterator[None]:
    """Within this context these signals raise KeyboardInterrupt, as Ctrl-C does."""

    def interrupt(number: int) -> None:
        raise KeyboardInterrupt(signal.Signals(number).name)

    with handling(ENDING, interrupt):
        yield
