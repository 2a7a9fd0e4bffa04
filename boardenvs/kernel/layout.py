"""How the words of a rule lie in the arrays of a batch, and words as bytes of 0 and 1."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np

Bytes: TypeAlias = np.ndarray[Any, np.dtype[np.uint8]]

# Bytes that `unpack` makes at once before it copies them: they should not leave the cache.
_UNPACKED_AT_ONCE = 1 << 17


class Layout(NamedTuple):
    """For each array how many of the rule's words a row of it holds, in their order.

    1: an array (B,) or (B, 1). n > 1: an array (B, n). -n, of an output: an array (B, n) of bytes,
    which gets the lowest n bits of as many words as they take, as 0 and 1. Rows of more than one
    element are contiguous.
    """

    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


def words_of(width: int) -> int:
    """Return the number of words in a row of an array of a `Layout`."""
    return width if width > 0 else -(width // 64)


def pack_bits(flags: np.ndarray[Any, Any]) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """Return the reverse of `unpack`: flags (B, count) as bits of words (B, W), lowest first."""
    packed = np.packbits(flags.view(np.uint8), axis=1, bitorder="little")
    words = np.zeros((len(flags), -(-flags.shape[1] // 64)), "<u8")
    words.view(np.uint8)[:, : packed.shape[1]] = packed
    return words.astype(np.uint64, copy=False)


def unpack(
    words: np.ndarray[Any, np.dtype[np.uint64]],
    count: int,
    out: Bytes | None = None,
) -> Bytes:
    """Return the lowest `count` bits of each row of words (B, W) as 0 and 1, (B, count) uint8.

    With `out`, written there: memory that is used again saves the page faults of new memory.
    """
    packed = np.ascontiguousarray(words, "<u8").view(np.uint8)
    if out is None:
        return np.unpackbits(packed, axis=1, count=count, bitorder="little")
    rows = max(1, _UNPACKED_AT_ONCE // count)
    for start in range(0, len(packed), rows):
        part = slice(start, start + rows)
        out[part] = np.unpackbits(packed[part], axis=1, count=count, bitorder="little")
    return out
