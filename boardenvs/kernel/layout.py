"""How the words of a rule lie in the arrays of a batch."""

from __future__ import annotations

from typing import NamedTuple


class Layout(NamedTuple):
    """For each array how many of the rule's words a row of it holds, in their order.

    1: an array (B,). n > 1: an array (B, n), C-contiguous. -n, of an output: an array (B, m) of
    octets, C-contiguous, which gets the lowest m bits of n words as 0 and 1.
    """

    inputs: tuple[int, ...]
    outputs: tuple[int, ...]

    @property
    def is_one_by_one(self) -> bool:
        """Whether every word has an array (B,) of its own."""
        return set(self.inputs + self.outputs) == {1}


def one_by_one(inputs: int, outputs: int) -> Layout:
    """An array (B,) for each word."""
    return Layout((1,) * inputs, (1,) * outputs)
