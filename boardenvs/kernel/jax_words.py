"""Words in JAX: uint64 arrays, or pairs of uint32 arrays where JAX has no 64-bit integers.

JAX has them only where `jax_enable_x64` is set, which changes the types of a whole program. Pairs
need no flag and give the same bits. Both kinds have the operators and functions that
`word_functions` writes. A half that is known is an int, and what is computed with ints costs
nothing when the program runs.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from boardenvs.kernel.words import ALL, Table

HALF = 0xFFFFFFFF
Half: TypeAlias = Any  # a uint32 array, or an int where the bits are known
# A word that is stored: a uint64 array, or (low, high) uint32 arrays.
Stored: TypeAlias = Any


@dataclass(frozen=True, eq=False)
class Word64:
    """A word as a uint64 array."""

    value: jax.Array

    def __and__(self, other: Word64 | int) -> Word64:
        return Word64(self.value & _value(other))

    def __or__(self, other: Word64 | int) -> Word64:
        return Word64(self.value | _value(other))

    def __xor__(self, other: Word64 | int) -> Word64:
        return Word64(self.value ^ _value(other))

    def __invert__(self) -> Word64:
        return Word64(~self.value)

    def __add__(self, other: Word64 | int) -> Word64:
        return Word64(self.value + _value(other))

    def __sub__(self, other: Word64 | int) -> Word64:
        return Word64(self.value - _value(other))

    def __rsub__(self, other: int) -> Word64:
        return Word64(_value(other) - self.value)

    def __mul__(self, other: Word64 | int) -> Word64:
        return Word64(self.value * _value(other))

    def __lshift__(self, distance: Word64 | int) -> Word64:
        return Word64(self.value << _value(distance))

    def __rlshift__(self, other: int) -> Word64:
        return Word64(_value(other) << self.value)

    def __rshift__(self, distance: Word64 | int) -> Word64:
        return Word64(self.value >> _value(distance))

    def __rrshift__(self, other: int) -> Word64:
        return Word64(_value(other) >> self.value)

    def __lt__(self, other: Word64 | int) -> Word64:
        return Word64((self.value < _value(other)).astype(jnp.uint64))

    def __gt__(self, other: Word64 | int) -> Word64:
        return Word64((self.value > _value(other)).astype(jnp.uint64))

    def __ne__(self, other: object) -> Word64:  # type: ignore[override]
        assert isinstance(other, (Word64, int))
        return Word64((self.value != _value(other)).astype(jnp.uint64))

    __rand__, __ror__, __rxor__, __radd__, __rmul__ = __and__, __or__, __xor__, __add__, __mul__
    __hash__ = None  # type: ignore[assignment]

    def bit_count(self) -> Word64:
        """The number of set bits."""
        return Word64(lax.population_count(self.value))

    def lookup(self, table: Table) -> Word64:
        """The element of a `Table`; the last one for an index beyond it."""
        index = self.value.astype(jnp.int32)
        return Word64(jnp.take(jnp.asarray(table.array), index, mode="clip"))

    def choose(self, word: Word64 | int) -> Word64:
        """The word where this one is not 0, else 0."""
        return Word64(jnp.where(self.value != 0, _value(word), np.uint64(0)))


def _value(word: Word64 | int) -> Any:
    return np.uint64(word & ALL) if isinstance(word, int) else word.value


@dataclass(frozen=True, eq=False)
class Pair:
    """A word as its low and its high 32 bits."""

    low: Half
    high: Half

    def __and__(self, other: Pair | int) -> Pair:
        other = _pair(other)
        return Pair(_and(self.low, other.low), _and(self.high, other.high))

    def __or__(self, other: Pair | int) -> Pair:
        other = _pair(other)
        return Pair(_or(self.low, other.low), _or(self.high, other.high))

    def __xor__(self, other: Pair | int) -> Pair:
        other = _pair(other)
        return Pair(_xor(self.low, other.low), _xor(self.high, other.high))

    def __invert__(self) -> Pair:
        return Pair(_xor(self.low, HALF), _xor(self.high, HALF))

    def __add__(self, other: Pair | int) -> Pair:
        other = _pair(other)
        low = _add(self.low, other.low)
        # Nothing added carries nothing; else a sum is below its parts where it went round.
        carry = 0 if _is(self.low, 0) or _is(other.low, 0) else _less(low, self.low)
        return Pair(low, _add(_add(self.high, other.high), carry))

    def __sub__(self, other: Pair | int) -> Pair:
        other = _pair(other)
        borrow = 0 if _is(other.low, 0) else _less(self.low, other.low)
        high = _sub(_sub(self.high, other.high), borrow)
        return Pair(_sub(self.low, other.low), high)

    def __mul__(self, other: Pair | int) -> Pair:
        other = _pair(other)
        low, carried = _product(self.low, other.low)
        high = _add(_mul(self.low, other.high), _mul(self.high, other.low))
        return Pair(low, _add(carried, high))

    def __lshift__(self, distance: Pair | int) -> Pair:
        by = _pair(distance).low
        if not isinstance(by, int):
            return Pair(*_shift_by_word(self.low, self.high, by, lax.shift_left))
        if by >= 32:
            return Pair(0, _left(self.low, by - 32))
        return Pair(_left(self.low, by), _or(_left(self.high, by), _right(self.low, 32 - by)))

    def __rshift__(self, distance: Pair | int) -> Pair:
        by = _pair(distance).low
        if not isinstance(by, int):
            return Pair(*_shift_by_word(self.high, self.low, by, lax.shift_right_logical)[::-1])
        if by >= 32:
            return Pair(_right(self.high, by - 32), 0)
        return Pair(_or(_right(self.low, by), _left(self.high, 32 - by)), _right(self.high, by))

    def __rsub__(self, other: int) -> Pair:
        return _pair(other) - self

    def __rlshift__(self, other: int) -> Pair:
        return _pair(other) << self

    def __rrshift__(self, other: int) -> Pair:
        return _pair(other) >> self

    def __lt__(self, other: Pair | int) -> Pair:
        other = _pair(other)
        low = _less(self.low, other.low)
        if _is(self.high, 0) and _is(other.high, 0):
            return Pair(low, 0)
        same = _xor(_nonzero(_xor(self.high, other.high)), 1)
        return Pair(_or(_less(self.high, other.high), _and(same, low)), 0)

    def __gt__(self, other: Pair | int) -> Pair:
        return _pair(other) < self

    def __ne__(self, other: object) -> Pair:  # type: ignore[override]
        assert isinstance(other, (Pair, int))
        differ = self ^ other
        return Pair(_nonzero(_or(differ.low, differ.high)), 0)

    __rand__, __ror__, __rxor__, __radd__, __rmul__ = __and__, __or__, __xor__, __add__, __mul__
    __hash__ = None  # type: ignore[assignment]

    def bit_count(self) -> Pair:
        """The number of set bits."""
        return Pair(_add(_popcount(self.low), _popcount(self.high)), 0)

    def lookup(self, table: Table) -> Pair:
        """The element of a `Table`; the last one for an index beyond it."""
        index = _array(self.low).astype(jnp.int32)
        low, high = table.array & np.uint64(HALF), table.array >> np.uint64(32)
        halves = [
            jnp.take(jnp.asarray(half.astype(np.uint32)), index, mode="clip") if half.any() else 0
            for half in (low, high)
        ]
        return Pair(*halves)

    def choose(self, word: Pair | int) -> Pair:
        """The word where this one is not 0, else 0."""
        word = _pair(word)
        mask = _sub(0, _nonzero(_or(self.low, self.high)))
        return Pair(_and(mask, word.low), _and(mask, word.high))


def when(condition: Any, function: Callable[..., Any], *args: Any) -> Any:
    """The function's one result where the condition is not 0, else 0. XLA works on all rows alike:
    the function is computed for all.
    """
    (result,) = function(*args)
    return condition.choose(result)


@dataclass(frozen=True)
class Words:
    """How words of one kind are stored.

    `load` makes a word of what is stored, or of a uint32 or int32 array; `store` the reverse.
    """

    name: str  # "uint64" or "pairs"
    load: Callable[[Stored], Any]
    store: Callable[[Any], Stored]
    join: Callable[[jax.Array, jax.Array], Stored]  # of its low and high 32 bits, uint32
    low: Callable[[Stored], jax.Array]  # the low 32 bits, uint32
    halves: Callable[[Sequence[Stored]], list[jax.Array]]  # low, high, low, ... as uint32
    bits: Callable[[Sequence[Stored]], jax.Array]  # W words as (64 * W,) bool, lowest bit first


def words_in_use() -> Words:
    """uint64 where JAX has it (`jax_enable_x64`), else pairs."""
    return UINT64 if jax.dtypes.canonicalize_dtype(np.uint64) == np.uint64 else PAIRS


# ---- uint64 --------------------------------------------------------------------------------------


def _halves(words: Sequence[jax.Array]) -> list[jax.Array]:
    shifted = (part for word in words for part in (word, word >> np.uint64(32)))
    return [part.astype(jnp.uint32) for part in shifted]


def _bits(words: Sequence[jax.Array]) -> jax.Array:
    return _spread(jnp.stack(words), 64)


def _spread(numbers: jax.Array, width: int) -> jax.Array:
    """The bits of each number, lowest first, as one array of bool."""
    places = jnp.arange(width, dtype=numbers.dtype)[None, :]  # of one rank: JAX may insist
    one = jnp.ones((), numbers.dtype)
    return ((numbers[:, None] >> places) & one).reshape(-1).astype(jnp.bool_)


UINT64 = Words(
    name="uint64",
    load=lambda x: Word64(x.astype(jnp.uint64)),
    store=lambda word: jnp.asarray(_value(word), jnp.uint64),
    join=lambda low, high: low.astype(jnp.uint64) | (high.astype(jnp.uint64) << np.uint64(32)),
    low=lambda word: word.astype(jnp.uint32),
    halves=_halves,
    bits=_bits,
)


# ---- pairs ---------------------------------------------------------------------------------------


def _pair(value: Pair | int) -> Pair:
    return value if isinstance(value, Pair) else Pair(value & HALF, (value & ALL) >> 32)


def _load_pair(stored: Stored) -> Pair:
    if isinstance(stored, tuple):
        return Pair(*stored)
    return Pair(stored.astype(jnp.uint32), 0)  # no number here is negative


def _store_pair(word: Pair | int) -> Stored:
    word = _pair(word)
    return _array(word.low), _array(word.high)


def _bits_of_pairs(words: Sequence[Stored]) -> jax.Array:
    return _spread(jnp.stack([half for word in words for half in word]), 32)


PAIRS = Words(
    name="pairs",
    load=_load_pair,
    store=_store_pair,
    join=lambda low, high: (low, high),
    low=lambda word: word[0],
    halves=lambda words: [half for word in words for half in word],
    bits=_bits_of_pairs,
)


# ---- halves: arrays of uint32, or ints -----------------------------------------------------------


def _is(half: Half, value: int) -> bool:
    return isinstance(half, int) and half == value


def _array(half: Half) -> jax.Array:
    return jnp.asarray(half, jnp.uint32)


def _known(*halves: Half) -> bool:
    return all(isinstance(half, int) for half in halves)


def _by(function: Callable[..., Any], *halves: Half) -> Half:
    """The function of halves, at once where all are known."""
    if _known(*halves):
        return int(function(*halves)) & HALF
    return function(*(np.uint32(x) if isinstance(x, int) else x for x in halves))


def _and(x: Half, y: Half) -> Half:
    if _is(x, 0) or _is(y, 0):
        return 0
    if _is(x, HALF):
        return y
    return x if _is(y, HALF) else _by(operator.and_, x, y)


def _or(x: Half, y: Half) -> Half:
    if _is(x, 0):
        return y
    return x if _is(y, 0) else _by(operator.or_, x, y)


def _xor(x: Half, y: Half) -> Half:
    if _is(x, 0):
        return y
    return x if _is(y, 0) else _by(operator.xor, x, y)


def _add(x: Half, y: Half) -> Half:
    if _is(x, 0):
        return y
    return x if _is(y, 0) else _by(operator.add, x, y)


def _sub(x: Half, y: Half) -> Half:
    return x if _is(y, 0) else _by(operator.sub, x, y)


def _mul(x: Half, y: Half) -> Half:
    if _is(x, 0) or _is(y, 0):
        return 0
    return _by(operator.mul, x, y)


def _product(x: Half, y: Half) -> tuple[Half, Half]:
    """All 64 bits of a product, by parts of 16 bits: XLA has no operation for the high ones."""
    if _is(x, 0) or _is(y, 0):
        return 0, 0
    x0, x1 = _and(x, 0xFFFF), _right(x, 16)
    y0, y1 = _and(y, 0xFFFF), _right(y, 16)
    first = _mul(x0, y0)
    second = _add(_mul(x1, y0), _right(first, 16))
    third = _add(_mul(x0, y1), _and(second, 0xFFFF))
    low = _or(_left(third, 16), _and(first, 0xFFFF))
    return low, _add(_add(_mul(x1, y1), _right(second, 16)), _right(third, 16))


def _left(x: Half, by: int) -> Half:
    if by >= 32:
        return 0
    return x if by == 0 or _is(x, 0) else _by(lambda a: a << by, x)


def _right(x: Half, by: int) -> Half:
    if by >= 32:
        return 0
    return x if by == 0 or _is(x, 0) else _by(lambda a: a >> by, x)


def _shift_by_word(
    near: Half, far: Half, by: jax.Array, shift: Callable[..., jax.Array]
) -> tuple[jax.Array, jax.Array]:
    """A shift from the near half to the far one, by a distance below 64 that is not known.

    XLA's shifts by 32 and more, which 0 - 32 and the like are too, give 0.
    """
    back = lax.shift_right_logical if shift is lax.shift_left else lax.shift_left
    near, far, by = jnp.broadcast_arrays(_array(near), _array(far), by)
    width = jnp.full_like(by, 32)
    crossing = jnp.where(by == 0, jnp.zeros_like(near), back(near, width - by))
    beyond = jnp.where(by >= 32, shift(near, by - width), jnp.zeros_like(near))
    return shift(near, by), shift(far, by) | crossing | beyond


def _less(x: Half, y: Half) -> Half:
    if _known(x, y):
        return int(x < y)
    return (_array(x) < _array(y)).astype(jnp.uint32)


def _nonzero(x: Half) -> Half:
    return int(x != 0) if isinstance(x, int) else (x != 0).astype(jnp.uint32)


def _popcount(x: Half) -> Half:
    return x.bit_count() if isinstance(x, int) else lax.population_count(x)
