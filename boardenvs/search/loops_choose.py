"""What Python calls of alpha-beta search, linked after `loops_endgame`."""

from __future__ import annotations

from boardenvs.kernel.loops import (
    OVER,
    WIDTH,
    WORDS,
    ZERO,
    Array,
    Word,
    load,
    number,
    trailing_zeros,
    word,
)
from boardenvs.search.loops_alphabeta import LIMIT, NODES, replies, think
from boardenvs.search.loops_endgame import empties_of, solve_root

FILLS = 0  # set by the linker: whether every move but noop fills a square
OUT = 5  # numbers written for a position


def only_action(node: tuple[Word, ...]) -> int:
    """The lowest legal action, or noop where there is none."""
    for k in range(WORDS):
        if node[2 + k] != ZERO:
            return 64 * k + number(trailing_zeros(node[2 + k]))
    return 64 * (WORDS - 1)


def choose(
    roots: Array, to_moves: Array, plies: Array, seeds: Array, row: int, max_depth: int,
    limit: int, endgame: int, forced: int, generation: int, table: Array, buffer: Array,
    keys: Array, counters: Array, out: Array,
) -> None:  # fmt: skip
    """Search one of the positions, with about `limit` nodes at most.

    Writes the action, its value, the depth, 1 if the value is exact, and the nodes. Where only one
    action is legal it is not searched unless `forced` is 1.
    """
    root = load(roots, row * WIDTH)
    result = out[row * OUT : (row + 1) * OUT]
    counters[NODES] = 0
    for k in range(OUT):
        result[k] = 0
    result[0] = only_action(root)
    if root[OVER] != ZERO or (replies(root) == 1 and forced == 0):
        return
    to_move, ply, key = to_moves[row], plies[row], word(generation)
    if FILLS == 1 and empties_of(root) <= endgame:
        counters[LIMIT] = limit // 2
        solve_root(root, to_move, ply, key, table, buffer, keys, counters, result)
    counters[LIMIT] = limit
    if result[3] == 0:
        think(root, to_move, ply, max_depth, seeds[row], key, table, buffer, keys, counters, result)
    result[4] = counters[NODES]
