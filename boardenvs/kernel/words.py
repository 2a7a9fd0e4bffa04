"""Words, and what rules say of them beyond the operations on words (see `operations`).

A word is an unsigned 64-bit value. On ints and in traced programs a flag is the word 0 or 1.
Arithmetic is modulo 2**64; code that is to run directly on ints must AND after every left shift,
sum or complement (a traced program cuts by itself where it matters).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

# An int, a uint64 array of shape (B,) or a `trace.Word`. Operators on such a union say nothing to
# a type checker, hence Any; the name is for the reader.
Bits: TypeAlias = Any

ALL = (1 << 64) - 1


def spread(flag: Bits) -> Bits:
    """The flag 1 as 64 ones, 0 as 64 zeros."""
    return (0 - flag) & ALL


def when(condition: Bits, function: Callable[..., Bits], *args: Bits) -> Bits:
    """`function(*args)` where `condition` is not zero, else 0; for conditions that rarely hold.

    A batch computes it only for the rows that need it. `function` must not close over words.
    """
    if isinstance(condition, int):
        return function(*args) if condition else 0
    if isinstance(condition, np.ndarray):
        rows = np.flatnonzero(condition)
        out = np.zeros_like(condition)
        if rows.size:
            out[rows] = function(*(a[rows] if isinstance(a, np.ndarray) else a for a in args))
        return out
    return condition.when(function, args)


def guard(x: Bits, function: Callable[..., Bits], *args: Bits) -> Bits:
    """`function(x, *args)`, which must be 0 wherever x is 0.

    One board saves the work where x is 0; a batch, where a branch costs more, always does it.
    """
    if isinstance(x, int):
        return function(x, *args) if x else 0
    if isinstance(x, np.ndarray):
        return function(x, *args)
    return x.guard(function, args)


class Table:
    """A constant table of words, indexed by an int, an index array or a symbol."""

    def __init__(self, values: Sequence[int]) -> None:
        self.values = tuple(values)
        self.array = np.array(self.values, dtype=np.uint64)

    def __getitem__(self, index: Bits) -> Bits:
        if isinstance(index, int):
            if not 0 <= index < len(self.values):
                raise IndexError(f"a Table of {len(self.values)} words has no element {index}")
            return self.values[index]
        if isinstance(index, np.ndarray):
            return self.array[index.astype(np.intp, copy=False)]
        return index.lookup(self)
