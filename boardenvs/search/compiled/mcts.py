"""Selection and backup of Monte Carlo tree search.

Without priors an edge is selected by UCB1 (UCT, Kocsis and Szepesvari 2006), with priors by PUCT
(Silver et al. 2017). A visit is pending until its value is known: it counts where tries are
counted, and has no say in the mean value (WU-UCT, Liu et al. 2020).
"""

from __future__ import annotations

import math
from typing import NamedTuple

from boardenvs.kernel.loops import Array, Word, inline, number, word, wrap
from boardenvs.search.compiled.position import play
from boardenvs.search.compiled.tree import NONE, Tree, add_node, position_of
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
    """Walk from the root to a node that has no edges, made new where an edge leads nowhere.

    Writes the edges walked to `path` and counts a visit on each, pending until `backup` or
    `take_back`. Returns the node and the length of the path.
    """
    node, length = row * tree.max_nodes, 0
    while tree.first_edge[node] != NONE:
        if selection.uses_priors == 1:
            edge = select_by_puct(node, selection.c, tree)
        else:
            edge = select_by_ucb(node, selection.c, mix(wrap(seed + word(length + 1))), tree)
        tree.visits[node] += 1
        tree.edge_visits[edge] += 1
        tree.edge_pending[edge] += 1
        path[length] = edge
        length += 1
        child = number(tree.edge_child[edge])
        if child == NONE:
            position = play(position_of(node, tree), word(tree.edge_action[edge]))
            child = add_node(position, row, tree)
            tree.edge_child[edge] = child
        node = child
    return node, length


@inline
def select_by_ucb(node: int, c: float, random: Word, tree: Tree) -> int:
    """An edge never tried, by chance, or the one of the highest UCB1; until its value is known, the
    first try counts as lost.
    """
    visits = tree.edge_visits
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
        bound = mean_value(edge, -1.0, tree) + spread / math.sqrt(visits[edge])
        if bound > best_bound:
            best, best_bound = edge, bound
    return best


@inline
def select_by_puct(node: int, c: float, tree: Tree) -> int:
    """The edge of the highest PUCT; one without a value counts as good as the others on average."""
    visits, priors = tree.edge_visits, tree.edge_prior
    first = number(tree.first_edge[node])
    end = first + number(tree.edges[node])
    average = average_value(first, end, tree)
    spread = c * math.sqrt(tree.visits[node] + 1)
    best, best_bound = first, -1e9
    for edge in range(first, end):
        mean = mean_value(edge, average, tree)
        bound = mean + spread * priors[edge] / (1 + visits[edge])
        if bound > best_bound:
            best, best_bound = edge, bound
    return best


@inline
def average_value(first: int, end: int, tree: Tree) -> float:
    """The mean of all values of the edges from `first` to before `end`; 0 where there are none."""
    total, known = 0.0, 0
    for edge in range(first, end):
        total += tree.edge_total[edge]
        known += tree.edge_visits[edge] - tree.edge_pending[edge]
    return total / known if known > 0 else 0.0


@inline
def mean_value(edge: int, otherwise: float, tree: Tree) -> float:
    """The mean of an edge's values, or this where there are none."""
    known = tree.edge_visits[edge] - tree.edge_pending[edge]
    return tree.edge_total[edge] / known if known > 0 else otherwise


@inline
def backup(path: Array, length: int, value: float, tree: Tree) -> None:
    """Add the value, to the side to move at the path's end, to each edge's mover's total."""
    for k in range(length - 1, -1, -1):
        value = -value
        tree.edge_pending[path[k]] -= 1
        tree.edge_total[path[k]] += value


@inline
def take_back(row: int, path: Array, length: int, tree: Tree) -> None:
    """Undo what `select` counted."""
    node = row * tree.max_nodes
    for k in range(length):
        edge = number(path[k])
        tree.visits[node] -= 1
        tree.edge_visits[edge] -= 1
        tree.edge_pending[edge] -= 1
        node = number(tree.edge_child[edge])
