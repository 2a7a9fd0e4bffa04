"""Threads for large batches of machine code, which leaves Python to the others while it runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from boardenvs.utils.checks import check_whole

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

VARIABLE = "BOARDENVS_THREADS"

FEWEST_ROWS = 16384  # of a batch that threads share: below, to wake them costs too much of the gain
_MOST_THREADS = 1024
# A thread takes part after part: one that the system holds up leaves the rest to the others.
_PARTS_A_THREAD = 2
_ALIGNED = 64  # rows; so no two threads write to the same line of a cache

_chosen: int | None = None


def set_num_threads(number: int | None) -> None:
    """Use this number of threads for compiled batches of 16,384 boards and more.

    None restores the default, $BOARDENVS_THREADS or else 1. Results do not depend on it. Smaller
    batches, and all batches of the backend "numpy", use one thread. ValueError for anything except
    a whole number from 1 to 1024.

    ```python
    import boardenvs

    boardenvs.kernel.set_num_threads(2)
    env = boardenvs.othello_v0.vec_env(65_536)
    boardenvs.kernel.set_num_threads(None)
    ```
    """
    global _chosen
    _chosen = None if number is None else _checked(number, "number of threads")


def get_num_threads() -> int:
    """Return the number of threads for compiled batches of 16,384 boards and more.

    ValueError where $BOARDENVS_THREADS is no number of threads.

    ```python
    import boardenvs

    print(boardenvs.kernel.get_num_threads())  # 1, where nobody asked for more
    ```
    """
    global _chosen
    if _chosen is None:
        text = os.environ.get(VARIABLE) or "1"
        _chosen = _checked(int(text) if text.isdecimal() else text, VARIABLE)
    return _chosen


def _checked(number: Any, what: str) -> int:
    check_whole(what, number, 1, _MOST_THREADS)
    return int(number)


def run_in_parts(run: Callable[..., None], arrays: Sequence[Array], rows: int) -> None:
    """Call a function that works row by row with all rows of the arrays, in parts, by threads."""
    threads = get_num_threads()
    part = -(-rows // (threads * _PARTS_A_THREAD * _ALIGNED)) * _ALIGNED
    parts = iter([slice(start, start + part) for start in range(0, rows, part)])
    others = [
        _workers(threads - 1).submit(_run_all, run, arrays, parts) for _ in range(threads - 1)
    ]
    try:
        _run_all(run, arrays, parts)
    finally:  # after an error too no thread goes on with the arrays
        # Threads that have not started by now, on a busy machine, would find nothing to do.
        errors = [other.exception() for other in others if not other.cancel()]
    for error in errors:
        if error is not None:
            raise error


def _run_all(run: Callable[..., None], arrays: Sequence[Array], parts: Iterator[slice]) -> None:
    """The parts that nobody else has taken."""
    for part in parts:  # a list's iterator gives each element once, whichever threads ask
        run(*[array[part] for array in arrays])


@lru_cache(maxsize=1)
def _workers(number: int) -> ThreadPoolExecutor:
    """So many threads, which are started once."""
    return ThreadPoolExecutor(number, "boardenvs")


if hasattr(os, "register_at_fork"):  # the threads stay in the other process
    os.register_at_fork(after_in_child=_workers.cache_clear)
