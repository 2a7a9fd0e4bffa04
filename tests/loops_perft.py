"""Perft as a loop over rules: a small module to link."""

from __future__ import annotations

from boardenvs.kernel.loops import (
    ONE,
    OVER,
    WIDTH,
    WORDS,
    ZERO,
    Array,
    Node,
    Word,
    advance,
    draw,
    load,
    number,
    popcount,
    store,
    trailing_zeros,
    word,
    wrap,
)

BONUS = 0  # replaced by the linker


def count(node: Node, to_move: Word, ply: Word, depth: int) -> int:
    """The lines of play of this length."""
    if depth == 0:
        return 1
    total = 0
    for k in range(WORDS):
        bits = node[2 + k]
        while bits != ZERO:
            action = word(64 * k) + trailing_zeros(bits)
            bits = bits & (bits - ONE)
            child = advance(node[0], node[1], to_move, ply, action)
            total += count(child, to_move ^ ONE, ply + ONE, depth - 1)
    return total


def perft(roots: Array, row: int, depth: int) -> int:
    """From a root at which the first role is to move."""
    return BONUS + count(load(roots, row * WIDTH), ZERO, ZERO, depth)


def walk(nodes: Array, seed: int, plies: int) -> int:
    """Random play from the first node, each next one stored after the last; how many there are."""
    node, to_move, ply = load(nodes, 0), ZERO, ZERO
    random = word(seed)
    for k in range(1, plies):
        if node[OVER] != ZERO:
            return k
        random = wrap(random * word(6364136223846793005) + ONE)
        node = advance(node[0], node[1], to_move, ply, draw(node, random))
        to_move = to_move ^ ONE
        ply = ply + ONE
        store(nodes, k * WIDTH, node)
    return plies


def bits_of(x: int) -> int:
    """Set bits."""
    return number(popcount(word(x)))
