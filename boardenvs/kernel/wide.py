"""Sets of more than 64 squares: one value to rules, several words to everything else."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from functools import reduce
from itertools import accumulate
from typing import Any

from boardenvs.kernel.operations import (
    ALL,
    Bits,
    add_operators,
    less,
    nonzero,
    popcount,
    refuse_operators,
)

# How many words a set of squares takes on the board of the rule that is being run.
WIDTH: ContextVar[int] = ContextVar("WIDTH", default=1)

_EACH = {"and": operator.and_, "or": operator.or_, "xor": operator.xor}


class Wide:
    """A number of several words, lowest first, which are arrays or words of a traced program.

    It has the operators that sets of squares need: `& | ^ ~`, shifts by a known distance, `+`, `-`,
    and `popcount` and `nonzero`, which give a word. The other operand is as wide, or an int.
    """

    __slots__ = ("words",)
    __array_ufunc__ = None  # so that an array as the other operand leaves the operation to this

    def __init__(self, words: Sequence[Bits]) -> None:
        self.words = tuple(words)

    def apply(self, name: str, *operands: Any) -> Any:
        """Return an operation with this as an operand; TypeError if there is no such operation."""
        if name in ("nonzero", "popcount"):
            return _SUMS[name](self.words)
        if name in ("shl", "shr"):
            distance = operator.index(operands[1])
            return Wide(self._moved(distance if name == "shl" else -distance))
        parts = [split(x, len(self.words)) for x in map(self._checked, operands)]
        if name == "not":
            return Wide([~word & ALL for word in self.words])
        if name in _EACH:
            return Wide(list(map(_EACH[name], *parts)))
        if name in _CARRYING:
            first, second = parts
            return Wide(list(_with_carry(first, second, *_CARRYING[name])))
        raise TypeError(f"there is no {name!r} for sets of more than 64 squares")

    def _checked(self, operand: Any) -> Any:
        if isinstance(operand, int):
            return operand
        if not isinstance(operand, Wide) or len(operand.words) != len(self.words):
            raise TypeError(
                f"a set of squares in {len(self.words)} words has another operand than such a set "
                "or an int: of a flag, spread(flag, squares) makes one, of a small set in a Table "
                "Table(values, BOARD.words)"
            )
        return operand

    def _moved(self, distance: int) -> list[Bits]:
        """Return the words of it shifted to the left, to the right where negative."""
        whole, rest = divmod(distance, 64)
        count = len(self.words)
        moved: list[Bits] = []
        for k in range(count):
            parts = []
            if 0 <= k - whole < count:
                word = self.words[k - whole]
                parts.append(word << rest & ALL if rest else word)
            if rest and 0 <= k - whole - 1 < count:
                parts.append(self.words[k - whole - 1] >> 64 - rest)
            moved.append(reduce(operator.or_, parts) if parts else 0)
        return moved


add_operators(Wide)
refuse_operators(Wide)

_SUMS: dict[str, Callable[[Sequence[Bits]], Bits]] = {
    "nonzero": lambda words: nonzero(reduce(operator.or_, words)),
    "popcount": lambda words: reduce(operator.add, map(popcount, words)),
}
# Carry to the next word: a sum carries if it is below a summand, a difference if
# what is taken is more than there is.
_CARRYING: dict[str, tuple[Callable[..., Bits], Callable[..., Bits]]] = {
    "add": (operator.add, lambda a, b, result: less(result, b)),
    "sub": (operator.sub, lambda a, b, result: less(a, b)),
}


def _with_carry(
    first: Sequence[Bits],
    second: Sequence[Bits],
    operation: Callable[..., Bits],
    carries: Callable[..., Bits],
) -> Iterator[Bits]:
    carry: Bits = 0
    for a, b in zip(first, second, strict=True):
        result = operation(a, b) & ALL
        total = operation(result, carry) & ALL
        yield total
        carry = carries(a, b, result) | carries(result, carry, total)


def split(value: Bits, count: int) -> tuple[Bits, ...]:
    """Return the lowest `count` words of a value; a word, and no more, is one of them."""
    if isinstance(value, int):
        return tuple(value >> 64 * k & ALL for k in range(count))
    words = value.words if isinstance(value, Wide) else (value,)
    return (*words, *[0] * (count - len(words)))[:count]


def join(words: Sequence[Bits]) -> Bits:
    """Return the value of these words, lowest first."""
    if len(words) == 1:
        return words[0]
    if all(isinstance(word, int) for word in words):
        return sum(word << 64 * k for k, word in enumerate(words))
    return Wide(words)


def pack(values: Sequence[Bits], sizes: Sequence[int]) -> list[Bits]:
    """Pack values of these numbers of bits into words, one after the other."""
    count = -(-sum(sizes) // 64)
    starts = accumulate(sizes, initial=0)
    sets: list[Bits] = [Wide(split(value, count)) for value in values]
    moved = [
        (squares & (1 << size) - 1) << start
        for squares, size, start in zip(sets, sizes, starts, strict=False)
    ]
    return list(reduce(operator.or_, moved, Wide([0] * count)).words)
