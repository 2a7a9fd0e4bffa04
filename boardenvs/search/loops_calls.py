"""What Python calls of alpha-beta search, linked after `loops_endgame`."""

from __future__ import annotations

from boardenvs.kernel.loops import WIDTH, Array, load, word
from boardenvs.search.loops_alphabeta import ABORTED, LIMIT, NODES, follow, think
from boardenvs.search.loops_endgame import solve_root

# Numbers written for a position: the best action, its value, the depth of the value, 1 if it is
# exact, and the nodes.
ACTION, VALUE, DEPTH, PROVEN, SPENT, FOUND = 0, 1, 2, 3, 4, 5


def finish(
    roots: Array, to_moves: Array, plies: Array, row: int, limit: int, generation: int,
    table: Array, buffer: Array, keys: Array, counters: Array, out: Array,
) -> None:  # fmt: skip
    """Solve one of the positions to the end, with about `limit` nodes at most.

    Where that is too few the value is not exact, and nothing but the nodes has a meaning.
    """
    found = out[row * FOUND : (row + 1) * FOUND]
    counters[NODES] = 0
    counters[LIMIT] = limit
    solve_root(
        load(roots, row * WIDTH), to_moves[row], plies[row], word(generation),
        table, buffer, keys, counters, found,
    )  # fmt: skip
    found[SPENT] = counters[NODES]


def deepen(
    roots: Array, to_moves: Array, plies: Array, row: int, seeds: Array, max_depth: int, limit: int,
    generation: int, table: Array, buffer: Array, keys: Array, counters: Array, out: Array,
) -> None:  # fmt: skip
    """Search one of the positions deeper and deeper, with about `limit` nodes at most; the nodes
    that `finish` has spent on it count.
    """
    found = out[row * FOUND : (row + 1) * FOUND]
    counters[NODES] = found[SPENT]
    counters[LIMIT] = limit
    think(
        load(roots, row * WIDTH), to_moves[row], plies[row], max_depth, seeds[row],
        word(generation), table, buffer, keys, counters, found,
    )  # fmt: skip
    found[SPENT] = counters[NODES]


def go_on(
    roots: Array, to_moves: Array, plies: Array, row: int, distance: int, depth: int, value: int,
    limit: int, generation: int, table: Array, buffer: Array, keys: Array, counters: Array,
    out: Array,
) -> None:  # fmt: skip
    """Write an action of a position on the line that `deepen` has found in this generation."""
    counters[NODES] = 0
    counters[LIMIT] = limit
    counters[ABORTED] = 0
    out[row * FOUND + ACTION] = follow(
        load(roots, row * WIDTH), to_moves[row], plies[row], distance, depth, value,
        word(generation), table, buffer, keys, counters,
    )  # fmt: skip
