"""Selection and backup of Monte Carlo tree search.

Without priors an edge is selected by UCB1 (UCT, Kocsis and Szepesvari 2006), with priors by PUCT
(Silver et al. 2017). What ends of games prove is kept as bounds on the results (score-bounded
search, Cazenave and Saffidine 2010): an edge that can be no better than what is proven of another
is not selected.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from boardenvs.kernel.loops import Array, Word, inline, number, word, wrap
from boardenvs.search.compiled.tree import NONE, Tree, follow
from boardenvs.utils.splitmix import GOLDEN, mix


class Selection(NamedTuple):
    """How edges are selected."""

    c: float  # how much exploring weighs
    uses_priors: int  # 1: by PUCT


@inline
def next_seed(row: int, tree: Tree) -> Word:
    """The tree's next seed."""
    tree.seeds[row] = wrap(tree.seeds[row] + word(GOLDEN))
    seed: Word = mix(tree.seeds[row])
    return seed


@inline
def select(row: int, seed: Word, selection: Selection, tree: Tree, path: Array) -> tuple[int, int]:
    """Walk from the root to a node that no walk has gone on from, made new where an edge leads
    nowhere.

    Writes the edges walked to `path` and counts a visit on each. Returns the node and the length of
    the path.
    """
    node, length = row * tree.max_nodes, 0
    while tree.first_edge[node] != NONE and tree.is_judged[node] == 0:
        if selection.uses_priors == 1:
            edge = select_by_puct(node, selection.c, tree)
        else:
            edge = select_by_ucb(node, selection.c, mix(wrap(seed + word(length + 1))), tree)
        tree.visits[node] += 1
        tree.edge_visits[edge] += 1
        path[length] = edge
        length += 1
        node = follow(edge, node, row, tree)
    return node, length


@inline
def select_by_ucb(node: int, c: float, random: Word, tree: Tree) -> int:
    """An edge never tried, by chance, or the one of the highest UCB1."""
    visits, totals = tree.edge_visits, tree.edge_total
    first = number(tree.first_edge[node])
    end = first + number(tree.edges[node])
    untried = 0
    for edge in range(first, end):
        if visits[edge] == 0:
            untried += 1
    if untried > 0:
        k = number(((random >> word(32)) * word(untried)) >> word(32))
        for edge in range(first, end):
            if visits[edge] == 0:
                if k == 0:
                    return edge
                k -= 1
    spread = c * math.sqrt(math.log(tree.visits[node]))
    best, best_bound = first, -1e9
    for edge in range(first, end):
        bound = totals[edge] / visits[edge] + spread / math.sqrt(visits[edge])
        if bound > best_bound and not is_settled(edge, node, tree):
            best, best_bound = edge, bound
    return best


@inline
def select_by_puct(node: int, c: float, tree: Tree) -> int:
    """The edge of the highest PUCT; one never tried counts as good as those tried, on average."""
    visits, totals, priors = tree.edge_visits, tree.edge_total, tree.edge_prior
    first = number(tree.first_edge[node])
    end = first + number(tree.edges[node])
    tries = number(tree.visits[node])
    average = total_value(node, tree) / tries if tries > 0 else 0.0
    spread = c * math.sqrt(tries + 1)
    best, best_bound = first, -1e9
    for edge in range(first, end):
        mean = totals[edge] / visits[edge] if visits[edge] > 0 else average
        bound = mean + spread * priors[edge] / (1 + visits[edge])
        if bound > best_bound and not is_settled(edge, node, tree):
            best, best_bound = edge, bound
    return best


@inline
def is_settled(edge: int, node: int, tree: Tree) -> bool:
    """Whether an edge of the node cannot better what is proven there."""
    child = number(tree.edge_child[edge])
    settled: bool = child != NONE and -tree.lower[child] <= tree.lower[node]
    return settled


@inline
def total_value(node: int, tree: Tree) -> float:
    """The sum of the values of all edges of a node."""
    total = 0.0
    first = number(tree.first_edge[node])
    for edge in range(first, first + number(tree.edges[node])):
        total += tree.edge_total[edge]
    return total


@inline
def backup(path: Array, length: int, value: float, tree: Tree) -> None:
    """Add the value, to the side to move at the path's end, to each edge's mover's total."""
    for k in range(length - 1, -1, -1):
        value = -value
        tree.edge_total[path[k]] += value


@inline
def node_on_path(k: int, row: int, path: Array, tree: Tree) -> int:
    """The node that the path's edge k belongs to."""
    return row * tree.max_nodes if k == 0 else number(tree.edge_child[path[k - 1]])


def prove(row: int, path: Array, length: int, tree: Tree) -> None:
    """Take what is proven of the node at the path's end up to the root."""
    for k in range(length - 1, -1, -1):
        node = node_on_path(k, row, path, tree)
        lower, upper = -1, -1
        first = number(tree.first_edge[node])
        for edge in range(first, first + number(tree.edges[node])):
            child = number(tree.edge_child[edge])
            if child == NONE:
                upper = 1
            else:
                lower = max(lower, -number(tree.upper[child]))
                upper = max(upper, -number(tree.lower[child]))
        if tree.lower[node] == lower and tree.upper[node] == upper:
            return
        tree.lower[node], tree.upper[node] = lower, upper
