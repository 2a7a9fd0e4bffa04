"""The exact end of a game that fills up, at the root: what Python calls."""

from __future__ import annotations

from boardenvs.kernel.loops import entry, number
from boardenvs.search.compiled.counters import ABORTED, NODES, begin_counting
from boardenvs.search.compiled.endgame import best_end_move, search_end_exactly
from boardenvs.search.compiled.memory import SearchMemory, judging_by_tables
from boardenvs.search.compiled.position import load_position
from boardenvs.search.compiled.roots import Budget, Roots
from boardenvs.search.compiled.transposition import new_search
from boardenvs.search.compiled.tuples import forget_positions
from boardenvs.search.compiled.values import INFINITE, lead_of, value_of_lead
from boardenvs.search.results import SearchResults


@entry
def solve_position(
    roots: Roots, row: int, budget: Budget, memory: SearchMemory, results: SearchResults
) -> None:
    """Solve a position to the end, with `budget.depth` empty squares, or give up: if the limit of
    nodes is met first only their number counts, and the search that follows counts on from there.

    Where `roots.distance` is not 0 only an action is written: one that reaches `results.value`.
    """
    memory = judging_by_tables(memory)
    counters, squares, distance = memory.counters, budget.depth, roots.distance
    root = load_position(roots.positions, row * roots.position_size)
    begin_counting(results.nodes[row], budget.nodes, counters)
    forget_positions(memory.tables)
    if distance == 0:
        new_search(budget.nodes, memory.table)
        low, high = number(-INFINITE), number(INFINITE)
        lead = search_end_exactly(root, squares, low, high, distance, memory)
        results.value[row] = value_of_lead(lead)
        results.depth[row] = squares
    results.action[row] = best_end_move(
        root, squares, lead_of(results.value[row]), distance, memory
    )
    results.exact[row] = 1 - counters[ABORTED]
    results.nodes[row] = counters[NODES]
