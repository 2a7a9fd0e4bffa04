"""Alpha-beta search at the root: iterative deepening, and what Python calls."""

from __future__ import annotations

from boardenvs.kernel.loops import (
    Array,
    Word,
    entry,
    margin_counts,
    number,
    word,
    wrap,
)
from boardenvs.search.compiled.alphabeta import principal_variation_move, search
from boardenvs.search.compiled.counters import ABORTED, HORIZON, NODES, begin_counting
from boardenvs.search.compiled.memory import SearchMemory
from boardenvs.search.compiled.moves import (
    child_of,
    generate_moves,
    move_at,
    order_moves,
)
from boardenvs.search.compiled.position import Position, load_position
from boardenvs.search.compiled.roots import Budget, Roots
from boardenvs.search.compiled.transposition import NO_MOVE, new_search
from boardenvs.search.compiled.tuples import forget_positions
from boardenvs.search.compiled.values import DECIDED, INFINITE
from boardenvs.search.results import SearchResults
from boardenvs.utils.splitmix import GOLDEN, mix


@entry
def search_positions(
    roots: Roots,
    rows: Array,
    first: int,
    budget: Budget,
    memory: SearchMemory,
    results: SearchResults,
) -> int:
    """Search the positions `rows[first:]`, one after the other; returns where in `rows` it ended.

    Where `roots.distance` is not 0 only an action is written: one that reaches `results.value`.
    (One function for both, since to compile the search for each takes seconds.)
    """
    counters, spent = memory.counters, 0
    for i in range(first, len(rows)):
        if spent >= budget.nodes_a_call:
            return i
        row = rows[i]
        root = load_position(roots.positions, row * roots.position_size)
        begin_counting(results.nodes[row], budget.nodes, counters)
        forget_positions(memory.tables)
        if roots.distance > 0:
            results.action[row] = principal_variation_move(
                root, budget.depth, results.value[row], roots.distance, memory
            )
        else:
            new_search(budget.nodes, memory.table)
            iterative_deepening(root, row, roots.seeds[row], budget.depth, memory, results)
        results.nodes[row] = counters[NODES]
        spent += counters[NODES]
    return len(rows)


def iterative_deepening(
    root: Position,
    row: int,
    seed: Word,
    max_depth: int,
    memory: SearchMemory,
    results: SearchResults,
) -> None:
    """Search deeper and deeper until `max_depth`, the limit of nodes or a proof.

    The best moves of an iteration come first in the next one. Equal moves are ordered by chance.
    """
    moves, counters = memory.moves, memory.counters
    count = generate_moves(root, number(0), number(NO_MOVE), memory)
    counters[NODES] += count
    for i in range(count):
        seed = wrap(seed + word(GOLDEN))
        moves.scores[i] = moves.scores[i] * 256 + number(mix(seed) >> word(56))
    order_moves(number(0), count, moves)
    value_before = 0
    report(number(0), number(0), number(0), row, memory, results)
    for depth in range(1, max_depth + 1):
        counters[HORIZON] = 0
        best = -INFINITE
        for i in range(count):
            value = search_root_move(i, depth, best, memory)
            if counters[ABORTED] != 0:
                # What is better so far in this iteration has been kept. But where it only loses,
                # the move in hand, which does not for all that is known, is the better choice.
                if i > 0 and best < -DECIDED and value_before >= -DECIDED:
                    report(i, value_before, depth - 1, row, memory, results)
                return
            moves.scores[i] = 0
            if value > best:
                best = value
                moves.scores[i] = 1 + i  # the latest best comes first, then the one before it
                report(i, best, depth, row, memory, results)
                if not margin_counts() and best > DECIDED:
                    break  # the iterations before would have found a win that is sooner
        order_moves(number(0), count, moves)
        value_before = best
        if counters[HORIZON] == 0 or (not margin_counts() and abs(best) > DECIDED):
            results.exact[row] = 1
            return


def search_root_move(place: int, depth: int, best: int, memory: SearchMemory) -> int:
    """The value of a move of the root; a bound of it where it is not better than the best."""
    child = child_of(number(memory.moves.order[place]), memory.moves)
    distance = number(1)
    value = INFINITE
    if place > 0:
        value = -search(child, depth - 1, -best - 1, -best, distance, memory)
    if value > best:
        value = -search(child, depth - 1, number(-INFINITE), -best, distance, memory)
    return value


def report(
    place: int, value: int, depth: int, row: int, memory: SearchMemory, results: SearchResults
) -> None:
    """Write the root's move in this place, a value that is not exact and its depth."""
    results.action[row] = move_at(number(memory.moves.order[place]), memory.moves)
    results.value[row] = value
    results.depth[row] = depth
    results.exact[row] = 0
