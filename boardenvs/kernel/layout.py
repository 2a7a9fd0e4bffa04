"""How the words of a rule lie in the arrays of a batch, and words as bytes of 0 and 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from boardenvs.utils.checks import quote

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

    @property
    def is_one_by_one(self) -> bool:
        """Whether every word has an array (B,) of its own."""
        return set(self.inputs + self.outputs) == {1}

    def check(self, name: str, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        """TypeError or ValueError unless the rule of this name can read and write these arrays."""
        rows, widths = len(inputs[0]), self.inputs + self.outputs
        for place, (array, width) in enumerate(zip([*inputs, *outputs], widths, strict=True)):
            written = place >= len(inputs)
            what = f"{name}: the array {'to write' if written else 'to read'}"
            if not isinstance(array, np.ndarray):
                raise TypeError(f"{what} is {quote(array)}: it must be a NumPy array")
            kind, shape = array.dtype, (rows, abs(width)) if width != 1 else (rows,)
            if kind.kind not in "iub" or not kind.isnative or (width < 0 and kind.itemsize > 1):
                needed = "int8, uint8 or bool" if width < 0 else "integers or bool"
                raise TypeError(f"{what} is {kind}: it must be {needed}")
            if array.shape != shape and not (width == 1 and array.shape == (rows, 1)):
                raise ValueError(f"{what} has shape {array.shape}: it must be {shape}")
            if rows and array.size > rows and array.strides[1] != kind.itemsize:
                raise ValueError(f"{what} has strides {array.strides}: its rows must be contiguous")
            if written and not array.flags.writeable:
                raise ValueError(f"{what} is read-only")


def words_of(width: int) -> int:
    """The number of words in a row of an array of a `Layout`."""
    return width if width > 0 else -(width // 64)


def pack_bits(flags: np.ndarray[Any, Any]) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """The reverse of `unpack`: flags (B, count) as bits of words (B, W), lowest first."""
    packed = np.packbits(flags.view(np.uint8), axis=1, bitorder="little")
    words = np.zeros((len(flags), -(-flags.shape[1] // 64)), "<u8")
    words.view(np.uint8)[:, : packed.shape[1]] = packed
    return words.astype(np.uint64, copy=False)


def unpack(
    words: np.ndarray[Any, np.dtype[np.uint64]],
    count: int,
    out: Bytes | None = None,
) -> Bytes:
    """The lowest `count` bits of each row of words (B, W) as 0 and 1, (B, count) uint8.

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
