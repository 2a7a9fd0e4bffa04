"""Choices, loops and tables for rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from boardenvs.kernel.operations import ALL, ROUNDS, Bits, nonzero
from boardenvs.kernel.wide import WIDTH, Wide, join, split


def spread(flag: Bits, squares: int = ALL) -> Bits:
    """Return the squares if the flag is 1, and 0 if it is 0; by default 64 ones.

    On a board of more than 64 squares, `squares` make a set as wide as the board.
    """
    if isinstance(flag, int):
        return -flag & squares
    width = 1 if squares == ALL else max(-(-squares.bit_length() // 64), WIDTH.get())
    return join([0 - flag & part for part in split(squares, width)])


def when(condition: Bits, function: Callable[..., Bits], *args: Bits) -> Bits:
    """`function(*args)` where `condition` is not zero, else 0; for conditions that rarely hold.

    A traced batch computes it only for the rows that need it, unless an argument has several words.
    `function` must not close over words.
    """
    if isinstance(condition, int):
        return function(*args) if condition else 0
    if isinstance(condition, np.ndarray | Wide) or any(isinstance(x, Wide) for x in args):
        mask = 0 - nonzero(condition) & ALL
        return join([word & mask for word in _words(function(*args))])
    return condition.when(function, args)


def guard(x: Bits, function: Callable[..., Bits], *args: Bits) -> Bits:
    """`function(x, *args)`, which must be 0 wherever x is 0.

    One board saves the work where x is 0; a batch, where a branch costs more, always does it.
    """
    if isinstance(x, int):
        return function(x, *args) if x else 0
    if isinstance(x, (np.ndarray, Wide)):
        return function(x, *args)
    return x.guard(function, args)


def repeat(function: Callable[..., Bits], value: Bits, *args: Bits) -> Bits:
    """Repeat `value = function(value, *args)` until nothing changes, as groups of squares grow.

    It must end within 256 rounds, the number of squares of the largest board: ValueError on ints if
    it does not; compiled code stops there. A batch repeats until all rows that are computed
    together have ended. `function` must not close over words.
    """
    symbols = [word for x in (value, *args) for word in _words(x) if hasattr(word, "repeat")]
    if symbols:
        counts = [len(_words(x)) for x in (value, *args)]

        def on_words(*words: Bits) -> tuple[Bits, ...]:
            parts = iter(words)
            values = [join([next(parts) for _ in range(count)]) for count in counts]
            return split(function(*values), counts[0])

        words = [word for x in (value, *args) for word in _words(x)]
        return join(symbols[0].repeat(on_words, words, counts[0]))
    for _ in range(ROUNDS):
        before, value = value, function(value, *args)
        changed = nonzero(value ^ before)
        if not (changed.any() if isinstance(changed, np.ndarray) else changed):
            return value
    raise ValueError(
        f"{function} still changes its value in round {ROUNDS}: it must come to an end"
    )


def rounds(function: Callable[..., Bits], value: Bits, *args: Bits) -> tuple[Bits, Bits]:
    """Return the result of `repeat`, and in how many rounds the value changed: a distance, if an
    area grows by a step a round until it reaches its goal.
    """

    def counted(both: Bits, *args: Bits) -> Bits:
        *words, count = _words(both)
        before = join(words)
        after = function(before, *args)
        return Wide([*_words(after), count + nonzero(after ^ before)])

    *words, count = _words(repeat(counted, Wide([*_words(value), 0]), *args))
    return join(words), count


def _words(value: Bits) -> tuple[Bits, ...]:
    return value.words if isinstance(value, Wide) else (value,)


class Table:
    """A constant table of numbers, indexed by an int, an index array or a symbol.

    words: how many words an element takes, by default as many as the largest needs; a table of
    sets of a large board needs `board.words`.
    """

    def __init__(self, values: Sequence[int], words: int = 1) -> None:
        self.values = tuple(values)
        count = max(-(-max(self.values, default=0).bit_length() // 64), words)
        self._parts = [self]
        if count > 1:
            parts = zip(*(split(value, count) for value in self.values), strict=True)
            self._parts = list(map(Table, parts))
        self.array = np.array(self.values, np.uint64 if count == 1 else object)

    def __getitem__(self, index: Bits) -> Bits:
        if isinstance(index, int):
            if not 0 <= index < len(self.values):
                raise IndexError(f"a Table of {len(self.values)} words has no element {index}")
            return self.values[index]
        if len(self._parts) > 1:
            return Wide([part[index] for part in self._parts])
        if isinstance(index, np.ndarray):
            return self.array[index.astype(np.intp, copy=False)]
        return index.lookup(self)
