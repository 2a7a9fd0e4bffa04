"""Arrays of one shape, again and again, in memory that nobody holds any more."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

# Kept for the next arrays: a caller that compares an array with the previous one holds two.
_KEPT = 2


class ReusedMemory:
    """Gives out arrays whose memory comes back when the last view of them is gone.

    New memory of some megabytes costs more than to compute what is written to it: the system clears
    it page by page, and C's allocator hands it back as soon as it is free.
    """

    def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
        self._shape, self._dtype = shape, dtype
        self._free: list[Array] = []

    def take(self) -> Array:
        """An array with arbitrary content, which nobody else has."""
        try:
            memory = self._free.pop()
        except IndexError:
            memory = np.empty(self._shape, self._dtype)
        return np.asarray(_Loan(memory, self._free))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_free": []}


class _Loan:
    """Owns an array's memory as long as any array stands on it."""

    def __init__(self, memory: Array, free: list[Array]) -> None:
        self.__array_interface__ = memory.__array_interface__
        self._memory, self._free = memory, free

    def __del__(self) -> None:
        if len(self._free) < _KEPT:
            self._free.append(self._memory)
