"""Words in JAX: pairs of uint32 arrays, on which what `word_functions` writes runs.

JAX has 64-bit integers only where `jax_enable_x64` is set, which changes the types of a whole
program. A half that is known is an int, and what is computed with ints costs nothing when the
program runs.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental.xla_metadata import set_xla_metadata

from boardenvs.kernel.flow import Table
from boardenvs.kernel.operations import ALL, OPERATIONS, ROUNDS
from boardenvs.kernel.word_functions import OperatorWord

# JAX gives neither a type.
_metadata: Any = set_xla_metadata
_barrier: Any = lax.optimization_barrier

HALF = 0xFFFFFFFF
Half: TypeAlias = Any  # a uint32 array, or an int where the bits are known
Stored: TypeAlias = tuple[jax.Array, jax.Array]  # a word: its low and high 32 bits, uint32


@dataclass(frozen=True, eq=False)
class Pair(OperatorWord):
    """A word as its low and its high 32 bits."""

    low: Half
    high: Half

    def apply(self, name: str, *operands: Pair | int) -> Pair:
        return _ON_PAIRS[name](*map(_pair, operands))

    def lookup(self, table: Table) -> Pair:
        """The element of a `Table`; the last one for an index beyond it."""
        index = _array(self.low).astype(jnp.int32)
        return Pair(
            *(
                jnp.take(jnp.asarray(half.astype(np.uint32)), index, mode="clip")
                if half.any()
                else 0
                for half in (table.array & np.uint64(HALF), table.array >> np.uint64(32))
            )
        )

    def choose(self, word: Pair | int) -> Pair:
        """The word where this one is not 0, else 0."""
        word = _pair(word)
        mask = _minus(0, _nonzero(self).low)
        return Pair(_and(mask, word.low), _and(mask, word.high))


def _pair(value: Pair | int) -> Pair:
    return value if isinstance(value, Pair) else Pair(value & HALF, (value & ALL) >> 32)


def load(stored: Stored | jax.Array) -> Pair:
    """The word of what is stored, or of an array of integers."""
    if isinstance(stored, tuple):
        return Pair(*stored)
    high = (stored >> 32).astype(jnp.uint32) if stored.dtype.itemsize == 8 else 0
    return Pair(stored.astype(jnp.uint32), high)


def store(word: Pair | int) -> Stored:
    """The word as arrays."""
    word = _pair(word)
    return _array(word.low), _array(word.high)


def when(condition: Any, function: Callable[..., Any], *args: Any) -> Any:
    """The function's one result where the condition is not 0, else 0. XLA works on all rows alike:
    the function is computed for all.
    """
    (result,) = function(*args)
    return condition.choose(result)


def repeat(function: Callable[..., Any], words: Sequence[Any], count: int) -> list[Any]:
    """Replace the first `count` words by the function of all, until they no longer change."""
    rest = words[count:]

    def stored(values: Sequence[Any]) -> tuple[Stored, ...]:
        return tuple(map(store, values))

    def body(carried: Any) -> Any:
        before, _, rounds = carried
        after = stored(function(*map(load, before), *rest))
        leaves = zip(jax.tree.leaves(after), jax.tree.leaves(before), strict=True)
        changed = jnp.stack([a != b for a, b in leaves]).any()
        return after, changed & (rounds + 1 < ROUNDS), rounds + 1

    start = (stored(words[:count]), jnp.array(True), jnp.zeros((), jnp.int32))
    found, *_ = lax.while_loop(lambda carried: carried[1], body, start)
    return list(map(load, found))


def apart(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, kept from being merged with what uses its results.

    XLA on the CPU merges cheap operations into their users, and would compute the rules again for
    every byte of masks and planes. It does not inline a function that is marked so; on other
    devices a barrier has the same effect.
    """
    call = jax.jit(function)

    def on_cpu(*arguments: Any) -> Any:
        with _metadata(inlineable="false"):
            return call(*arguments)

    def elsewhere(*arguments: Any) -> Any:
        return _barrier(call(*arguments))

    def run(*arguments: Any) -> Any:
        return lax.platform_dependent(*arguments, cpu=on_cpu, default=elsewhere)

    return run


def bits_of(words: Sequence[Stored]) -> jax.Array:
    """The bits of W stored words, lowest first, (64 * W,) bool."""
    numbers = jnp.stack([half for word in words for half in word])
    places = jnp.arange(32, dtype=jnp.uint32)[None, :]  # of one rank: JAX may insist
    one = jnp.ones((), jnp.uint32)
    return ((numbers[:, None] >> places) & one).reshape(-1).astype(jnp.bool_)


# ---- operations on pairs -------------------------------------------------------------------------


def _half_by_half(name: str, x: Pair, y: Pair) -> Pair:
    return Pair(_on_halves(name, x.low, y.low), _on_halves(name, x.high, y.high))


def _add(x: Pair, y: Pair) -> Pair:
    low = _sum(x.low, y.low)
    # Nothing added carries nothing; else a sum is below its parts where it went round.
    carry = 0 if _is(x.low, 0) or _is(y.low, 0) else _below(low, x.low)
    return Pair(low, _sum(_sum(x.high, y.high), carry))


def _sub(x: Pair, y: Pair) -> Pair:
    borrow = 0 if _is(y.low, 0) else _below(x.low, y.low)
    return Pair(_minus(x.low, y.low), _minus(_minus(x.high, y.high), borrow))


def _mul(x: Pair, y: Pair) -> Pair:
    low, carried = _product(x.low, y.low)
    return Pair(low, _sum(carried, _sum(_times(x.low, y.high), _times(x.high, y.low))))


def _shl(x: Pair, distance: Pair) -> Pair:
    by = distance.low
    if not isinstance(by, int):
        return Pair(*_shift_by_word(x.low, x.high, by, lax.shift_left))
    if by >= 32:
        return Pair(0, _left(x.low, by - 32))
    return Pair(_left(x.low, by), _or(_left(x.high, by), _right(x.low, 32 - by)))


def _shr(x: Pair, distance: Pair) -> Pair:
    by = distance.low
    if not isinstance(by, int):
        return Pair(*_shift_by_word(x.high, x.low, by, lax.shift_right_logical)[::-1])
    if by >= 32:
        return Pair(_right(x.high, by - 32), 0)
    return Pair(_or(_right(x.low, by), _left(x.high, 32 - by)), _right(x.high, by))


def _less(x: Pair, y: Pair) -> Pair:
    low = _below(x.low, y.low)
    if _is(x.high, 0) and _is(y.high, 0):
        return Pair(low, 0)
    same = _xor(_flag(operator.ne, _xor(x.high, y.high), 0), 1)
    return Pair(_or(_below(x.high, y.high), _and(same, low)), 0)


def _nonzero(x: Pair) -> Pair:
    return Pair(_flag(operator.ne, _or(x.low, x.high), 0), 0)


def _popcount(x: Pair) -> Pair:
    counts = [
        h.bit_count() if isinstance(h, int) else lax.population_count(h) for h in (x.low, x.high)
    ]
    return Pair(_sum(*counts), 0)


_ON_PAIRS: dict[str, Callable[..., Pair]] = {
    **{name: partial(_half_by_half, name) for name in ("and", "or", "xor")},
    "not": lambda x: _half_by_half("xor", x, Pair(HALF, HALF)),
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    "shl": _shl,
    "shr": _shr,
    "less": _less,
    "nonzero": _nonzero,
    "popcount": _popcount,
}


# ---- halves: arrays of uint32, or ints -----------------------------------------------------------

# Operands that are the result, and those that leave the other one as it is: the right one, or
# either of an operation that commutes.
_ABSORBING = {"and": 0, "mul": 0}
_NEUTRAL = {"and": HALF, "or": 0, "xor": 0, "add": 0, "sub": 0, "shl": 0, "shr": 0}


def _is(half: Half, value: int | None) -> bool:
    return isinstance(half, int) and half == value


def _array(half: Half) -> jax.Array:
    return jnp.asarray(half, jnp.uint32)


def _on_halves(name: str, x: Half, y: Half) -> Half:
    """The operation, modulo 2**32; at once where that which is known suffices."""
    row = OPERATIONS[name]
    if isinstance(x, int) and isinstance(y, int):
        return row.ints(x, y) & HALF
    for one, other in ((y, x), (x, y)):
        if _is(one, _ABSORBING.get(name)):
            return one
        if _is(one, _NEUTRAL.get(name)) and (one is y or row.commutes):
            return other
    return row.ints(*(np.uint32(half) if isinstance(half, int) else half for half in (x, y)))


_and, _or, _xor = (partial(_on_halves, name) for name in ("and", "or", "xor"))
_sum, _minus, _times = (partial(_on_halves, name) for name in ("add", "sub", "mul"))


def _flag(comparison: Callable[..., Any], x: Half, y: Half) -> Half:
    """1 where the comparison holds, else 0."""
    if isinstance(x, int) and isinstance(y, int):
        return int(comparison(x, y))
    return comparison(_array(x), _array(y)).astype(jnp.uint32)


_below = partial(_flag, operator.lt)


def _product(x: Half, y: Half) -> tuple[Half, Half]:
    """All 64 bits of a product, by parts of 16 bits: XLA has no operation for the high ones."""
    if _is(x, 0) or _is(y, 0):
        return 0, 0
    x0, x1 = _and(x, 0xFFFF), _right(x, 16)
    y0, y1 = _and(y, 0xFFFF), _right(y, 16)
    first = _times(x0, y0)
    second = _sum(_times(x1, y0), _right(first, 16))
    third = _sum(_times(x0, y1), _and(second, 0xFFFF))
    low = _or(_left(third, 16), _and(first, 0xFFFF))
    return low, _sum(_sum(_times(x1, y1), _right(second, 16)), _right(third, 16))


def _left(x: Half, by: int) -> Half:
    return 0 if by >= 32 else _on_halves("shl", x, by)


def _right(x: Half, by: int) -> Half:
    return 0 if by >= 32 else _on_halves("shr", x, by)


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
