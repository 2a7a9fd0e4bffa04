"""Perft and random play as loops over rules: a small module to link."""

from __future__ import annotations

from boardenvs.kernel.loops import (
    LEGAL_WORDS,
    ONE,
    ZERO,
    Array,
    add_words,
    entry,
    number,
    popcount,
    prefetch,
    sum_weights,
    trailing_zeros,
    word,
)
from boardenvs.search.compiled.position import (
    PackedPosition,
    load_position,
    play,
)
from boardenvs.utils.splitmix import mix


def count(position: PackedPosition, depth: int) -> int:
    """The lines of play of this length."""
    if depth == 0:
        return 1
    total = 0
    for k in range(LEGAL_WORDS):
        bits = position.legal_bits[k]
        while bits != ZERO:
            action = word(64 * k) + trailing_zeros(bits)
            bits = bits & (bits - ONE)
            total += count(play(position, action), depth - 1)
    return total


@entry
def perft(roots: Array, start: int, depth: int) -> int:
    """From the position that is stored from roots[start] on."""
    return count(load_position(roots, start), number(depth))


@entry
def bits_of(x: int) -> int:
    """Set bits."""
    return number(popcount(word(x)))


@entry
def mix_all(seeds: Array, mixed: Array) -> None:
    """Random bits of each seed."""
    for k in range(len(seeds)):
        mixed[k] = mix(seeds[k])


@entry
def add_and_weigh(words: Array, weights: Array, start: int, groups: int) -> int:
    """The sum of the words and those after them, in place of the first, and the weights of the
    numbers in it; the words after them are the offsets.
    """
    count = word(12 * groups)
    prefetch(words, 0)
    add_words(words, word(0), word(0), count, count)
    return sum_weights(weights, word(start), words, word(0), count + count, count)
