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
    roots: Array, to_moves: Array, plies: Array, rows: Array, first: int, enough: int, seeds: Array,
    max_depth: int, limit: int, distance: int, value: int, generation: int, table: Array,
    buffer: Array, keys: Array, counters: Array, out: Array,
) -> int:  # fmt: skip
    """Search the positions `rows[first:]` deeper and deeper, one after the other, each with
    about `limit` nodes at most; the nodes that `finish` has spent on it count. The first of them is
    of this generation, the others of those after. No other is begun after `enough` nodes in all;
    returns where that was.

    Where `distance` is not 0 the position lies so many plies down the line that the search before
    has found: then only an action is written, one that reaches the `value` in `max_depth` plies.
    (One function with two uses, since to compile the search for either takes seconds.)
    """
    spent = 0
    for i in range(first, len(rows)):
        if spent >= enough:
            return i
        row = rows[i]
        found = out[row * FOUND : (row + 1) * FOUND]
        root, to_move, ply = load(roots, row * WIDTH), to_moves[row], plies[row]
        tag = word(generation + i - first)
        counters[NODES] = found[SPENT]
        counters[LIMIT] = limit
        counters[ABORTED] = 0
        if distance == 0:
            think(
                root, to_move, ply, max_depth, seeds[row], tag, table, buffer, keys, counters, found
            )
        else:
            found[ACTION] = follow(
                root, to_move, ply, distance, max_depth, value, tag, table, buffer, keys, counters
            )
        found[SPENT] = counters[NODES]
        spent += found[SPENT]
    return len(rows)
