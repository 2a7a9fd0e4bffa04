"""Compiled searches that end early: they run in a thread, and another array tells them to stop."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TypeVar

_REMINDER = 0.01  # seconds between two signals to a search that has to stop
_QUESTION = 0.01  # seconds between two calls of `stop`

_Result = TypeVar("_Result")


def run_until(
    search: Callable[[], _Result],
    halt: Callable[[], None],
    seconds: float = math.inf,
    stop: Callable[[], bool] | None = None,
) -> _Result:
    """Return the result of a search, which `halt` ends after these seconds, once `stop()` returns
    True, or on Ctrl-C. `stop` is called every few milliseconds in this thread.
    """
    with ThreadPoolExecutor(1) as pool:
        work = pool.submit(search)
        try:
            _wait(work, seconds, stop)
        finally:
            while not work.done():
                halt()
                wait([work], _REMINDER)
    return work.result()


def _wait(work: Future[_Result], seconds: float, stop: Callable[[], bool] | None) -> None:
    """Wait for the work, but at most these seconds or until `stop()`."""
    end = time.monotonic() + seconds
    longest = threading.TIMEOUT_MAX if stop is None else _QUESTION
    while not work.done() and not (stop is not None and stop()):
        left = end - time.monotonic()
        if left <= 0:
            return
        wait([work], min(left, longest))
