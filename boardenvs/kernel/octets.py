"""Words as octets of 0 and 1, one a bit, in NumPy."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

Octets: TypeAlias = np.ndarray[Any, np.dtype[np.uint8]]

# Bytes that `unpack` makes at once before it copies them: they should not leave the cache.
_UNPACKED_AT_ONCE = 1 << 17


def unpack(
    words: np.ndarray[Any, np.dtype[np.uint64]],
    count: int,
    out: Octets | None = None,
) -> Octets:
    """The lowest `count` bits of each row of words (B, W) as 0 and 1, (B, count) uint8.

    With `out`, written there: memory that is used again saves the page faults of new memory.
    """
    octets = np.ascontiguousarray(words, "<u8").view(np.uint8)
    if out is None:
        return np.unpackbits(octets, axis=1, count=count, bitorder="little")
    rows = max(1, _UNPACKED_AT_ONCE // count)
    for start in range(0, len(octets), rows):
        part = slice(start, start + rows)
        out[part] = np.unpackbits(octets[part], axis=1, count=count, bitorder="little")
    return out
