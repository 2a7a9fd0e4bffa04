"""Memory of large arrays that is used again."""

from __future__ import annotations

from typing import Any

import numpy as np

from boardenvs.game.state import Array

# Kept for the next arrays: a caller that compares an array with the previous one holds two.
_KEPT = 2


class ReusedMemory:
    """Arrays of one shape, whose memory is used again when the last view of them is gone.

    To allocate megabytes takes longer than to compute their content: the system clears new memory
    page by page, and C's allocator returns it as soon as it is free.
    """

    def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
        self._shape, self._dtype = shape, dtype
        self._free: list[Array] = []

    def take(self) -> Array:
        """An array with arbitrary content, which nothing else refers to."""
        try:
            memory = self._free.pop()
        except IndexError:
            memory = np.empty(self._shape, self._dtype)
        return np.asarray(_Loan(memory, self._free))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_free": []}


class _Loan:
    """Owns the memory of an array as long as any view of it exists."""

    def __init__(self, memory: Array, free: list[Array]) -> None:
        self.__array_interface__ = memory.__array_interface__
        self._memory, self._free = memory, free

    def __del__(self) -> None:
        if len(self._free) < _KEPT:
            self._free.append(self._memory)
