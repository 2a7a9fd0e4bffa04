"""Compiled searches that end early: they run in a thread, and another array tells them to stop."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
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
        work, end = pool.submit(search), time.monotonic() + seconds
        longest = threading.TIMEOUT_MAX if stop is None else _QUESTION
        try:
            while not work.done() and not (stop and stop()):
                if (left := end - time.monotonic()) <= 0:
                    break
                wait([work], min(left, longest))
        finally:
            while not work.done():
                halt()
                wait([work], _REMINDER)
    return work.result()
