"""The keys of the last positions of each board: which positions have been there before."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from boardenvs.kernel.backend import get_backend
from boardenvs.kernel.generated import load_source
from boardenvs.kernel.threads import FEWEST_ROWS, get_num_threads, run_in_parts

Array = np.ndarray[Any, np.dtype[Any]]

# The columns of a row are copied and compared in one pass, which Numba makes a loop over vectors.
_SOURCE = '''"""Written by boardenvs.kernel."""
from boardenvs.kernel.compile_cache import njit

@njit(nogil=True, cache=True, error_model='numpy', _nrt=False)
def move_on(past, keys, new_keys, moved, history, repeats):
    last = past.shape[1] - 1
    for row in range(past.shape[0]):
        key, count = new_keys[row], 0
        if moved[row]:
            for k in range(last):
                history[row, k + 1] = past[row, k]
                count += past[row, k] == key
            history[row, 0] = keys[row]
            count += keys[row] == key
        else:
            for k in range(last + 1):
                history[row, k] = past[row, k]
        repeats[row] = count
'''


def move_on(past: Array, keys: Array, new_keys: Array, moved: Array, history: Array) -> Array:
    """Write the keys `history` (B, H) after a ply: where `moved` (B,) bool, of the position before,
    `keys` (B,), and then of those before that, `past` (B, H), without the earliest; else `past`.

    Returns how many of them are the `new_keys` (B,), (B,) int64; 0 where nothing has moved. In
    NumPy every board must have moved.
    """
    if get_backend() == "numba":
        repeats = np.empty(len(past), np.int64)
        arrays = past, keys, new_keys, moved, history, repeats
        if len(past) >= FEWEST_ROWS and get_num_threads() > 1:
            run_in_parts(_compiled(), arrays, len(past))
        else:
            _compiled()(*arrays)
        return repeats
    history[:, 0], history[:, 1:] = keys, past[:, :-1]
    counts: Array = (history == new_keys[:, None]).sum(axis=1)
    return counts


@cache
def _compiled() -> Callable[..., None]:
    return load_source(_SOURCE).move_on
