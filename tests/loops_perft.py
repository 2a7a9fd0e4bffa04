"""Perft and random play as loops over rules: a small module to link."""

from __future__ import annotations

from boardenvs.kernel.loops import (
    ONE,
    ZERO,
    Array,
    entry,
    legal_words,
    number,
    popcount,
    sample,
    trailing_zeros,
    word,
    wrap,
)
from boardenvs.search.compiled.position import (
    PackedPosition,
    load_position,
    play,
    save_position,
)
from boardenvs.utils.splitmix import mix

FACTOR = 6364136223846793005


def count(position: PackedPosition, depth: int) -> int:
    """The lines of play of this length."""
    if depth == 0:
        return 1
    total = 0
    for k in range(legal_words()):
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
def walk(positions: Array, size: int, seed: int, plies: int) -> int:
    """Random play from the first position, each next one stored after the last; how many there are.

    A position takes `size` words.
    """
    position = load_position(positions, 0)
    random = word(seed)
    for k in range(1, plies):
        if position.terminated:
            return k
        random = wrap(random * word(FACTOR) + ONE)
        position = play(position, sample(*position.legal_bits, random)[0])
        save_position(positions, k * size, position)
    return plies


@entry
def bits_of(x: int) -> int:
    """Set bits."""
    return number(popcount(word(x)))


@entry
def mix_all(seeds: Array, mixed: Array) -> None:
    """Random bits of each seed."""
    for k in range(len(seeds)):
        mixed[k] = mix(seeds[k])
