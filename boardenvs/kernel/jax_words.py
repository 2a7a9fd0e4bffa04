"""Words in JAX: arrays of uint64, on which what `word_functions` writes runs.

JAX has 64-bit integers only where `jax_enable_x64` is set, which changes the types of a whole
program. So it is set only while a rule is traced, and what a program sees are pairs of uint32.
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
from jax.experimental.xla_metadata import set_xla_metadata

from boardenvs.kernel.flow import Table
from boardenvs.kernel.operations import ALL, OPERATIONS, ROUNDS
from boardenvs.kernel.word_functions import OperatorWord

# JAX gives neither a type.
_metadata: Any = set_xla_metadata
_barrier: Any = lax.optimization_barrier

Stored: TypeAlias = tuple[jax.Array, jax.Array]  # a word: its low and high 32 bits, uint32


@dataclass(frozen=True, eq=False)
class JaxWord(OperatorWord):
    """A word as an array of uint64."""

    bits: jax.Array

    def apply(self, name: str, *operands: JaxWord | int) -> JaxWord:
        function: Callable[..., Any] = _ON_ARRAYS.get(name, OPERATIONS[name].ints)
        return JaxWord(jnp.asarray(function(*map(_array, operands)), jnp.uint64))

    def lookup(self, table: Table) -> JaxWord:
        """Return the element of a `Table`; the last one for an index beyond it."""
        index = self.bits.astype(jnp.int32)
        return JaxWord(jnp.take(jnp.asarray(table.array), index, mode="clip"))


# In place of operators of Python's ints.
_ON_ARRAYS: dict[str, Callable[..., Any]] = {
    "less": operator.lt,
    "nonzero": lambda x: x != 0,
    "popcount": lax.population_count,
}


def _array(word: JaxWord | int) -> jax.Array:
    return jnp.asarray(np.uint64(word & ALL)) if isinstance(word, int) else word.bits


def on_words(function: Callable[..., Sequence[Any]]) -> Callable[..., tuple[Stored, ...]]:
    """Return the function of words as a function of stored words and arrays of integers."""

    def run(*inputs: Any) -> tuple[Stored, ...]:
        with jax.enable_x64(True):
            return tuple(map(store, function(*map(_load, inputs))))

    return run


def _load(stored: Stored | jax.Array) -> JaxWord:
    if not isinstance(stored, tuple):
        return JaxWord(stored.astype(jnp.uint64))
    low, high = (half.astype(jnp.uint64) for half in stored)
    return JaxWord(low | high << 32)


def store(word: JaxWord | int) -> Stored:
    """Return the word as arrays."""
    if isinstance(word, int):
        return jnp.uint32(word & 0xFFFFFFFF), jnp.uint32(word >> 32 & 0xFFFFFFFF)
    return word.bits.astype(jnp.uint32), (word.bits >> 32).astype(jnp.uint32)


def when(condition: JaxWord, function: Callable[..., Any], *args: Any) -> JaxWord:
    """Return the function's one result where the condition is not 0, else 0. XLA works on all rows
    alike: the function is computed for all.
    """
    (word,) = map(_array, function(*args))
    return JaxWord(jnp.where(condition.bits != 0, word, jnp.zeros_like(word)))


def repeat(function: Callable[..., Any], words: Sequence[Any], count: int) -> list[JaxWord]:
    """Replace the first `count` words by the function of all, until they no longer change."""

    def body(carried: Any) -> Any:
        before, _, rounds = carried
        after = list(map(_array, function(*map(JaxWord, before), *words[count:])))
        changed = jnp.stack([a != b for a, b in zip(after, before, strict=True)]).any()
        return after, changed & (rounds + 1 < ROUNDS), rounds + 1

    start = (list(map(_array, words[:count])), jnp.array(True), jnp.zeros((), jnp.int32))
    final, *_ = lax.while_loop(lambda carried: carried[1], body, start)
    return list(map(JaxWord, final))


def apart(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function, kept from being merged with what uses its results.

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
    """Return the bits of W stored words, lowest first, (64 * W,) bool."""
    numbers = jnp.stack([half for word in words for half in word])
    places = jnp.arange(32, dtype=jnp.uint32)[None, :]  # of one rank: JAX may insist
    one = jnp.ones((), jnp.uint32)
    return ((numbers[:, None] >> places) & one).reshape(-1).astype(jnp.bool_)
