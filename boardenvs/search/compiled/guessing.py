"""Leaves that a tree is likely to need next, to be judged together with the one that it needs.

Judging several positions at once takes little longer than judging one. To guess them, the search
goes on as if each leaf were worth what the edges to it are worth on average, and then takes all of
that back: whatever was guessed, a tree is the same but for what has been judged already.
"""

from __future__ import annotations

from typing import NamedTuple

from boardenvs.kernel.loops import ZERO, Array, inline, number
from boardenvs.search.compiled.mcts import (
    Selection,
    backup,
    node_on_path,
    select,
    total_value,
)
from boardenvs.search.compiled.position import is_final
from boardenvs.search.compiled.tree import NONE, Tree, position_of


class Walks(NamedTuple):
    """Room for G walks of a tree of N nodes at most, the first being the one to the leaf needed."""

    path: Array  # (G * N,) numbers: the edges from the root
    total: Array  # (G * N,) reals: what the edges' totals were before
    length: Array  # (G,) numbers: of the path
    judged: Array  # (G,) numbers: the node it ends at, if that was judged already; or NONE


@inline
def guess(row: int, walk: int, selection: Selection, tree: Tree, walks: Walks) -> int:
    """Go on as if the walks before had found what is expected; the leaf, or NONE where the walk
    ends at one that is judged or guessed already, or at an end of the game.
    """
    start = walk * tree.max_nodes
    path = walks.path[start : start + tree.max_nodes]
    nodes = number(tree.nodes_used[row])
    node, length = select(row, ZERO, selection, tree, path)
    walks.length[walk] = length
    remember(walk, tree, walks)
    if tree.is_judged[node] == 1:
        walks.judged[walk] = node
        tree.is_judged[node] = 0
        backup(path, length, float(tree.value[node]), tree)
        return NONE
    expect(row, walk, tree, walks)
    if tree.nodes_used[row] == nodes:
        return NONE
    position = position_of(node, tree)
    if is_final(position.terminated, position.ply):
        tree.nodes_used[row] -= 1
        tree.edge_child[path[length - 1]] = NONE
        return NONE
    return node


@inline
def remember(walk: int, tree: Tree, walks: Walks) -> None:
    """Write down what `take_back` restores."""
    start = walk * tree.max_nodes
    for k in range(start, start + number(walks.length[walk])):
        walks.total[k] = tree.edge_total[walks.path[k]]
    walks.judged[walk] = NONE


@inline
def expect(row: int, walk: int, tree: Tree, walks: Walks) -> None:
    """Give the edges of a walk, whose visit is counted already, the value that is expected."""
    start = walk * tree.max_nodes
    path = walks.path[start : start + tree.max_nodes]
    for k in range(number(walks.length[walk])):
        edge = number(path[k])
        tries = number(tree.edge_visits[edge]) - 1
        if tries > 0:
            tree.edge_total[edge] += tree.edge_total[edge] / tries
        else:
            node = node_on_path(k, row, path, tree)
            others = number(tree.visits[node]) - 1
            if others > 0:
                tree.edge_total[edge] = total_value(node, tree) / others


@inline
def take_back(row: int, walks_made: int, tree: Tree, walks: Walks) -> None:
    """Undo what was expected of all walks, and what was counted of those that were guesses."""
    for walk in range(walks_made - 1, -1, -1):
        start = walk * tree.max_nodes
        path = walks.path[start : start + tree.max_nodes]
        for k in range(number(walks.length[walk]) - 1, -1, -1):
            edge = number(path[k])
            tree.edge_total[edge] = walks.total[start + k]
            if walk > 0:
                tree.visits[node_on_path(k, row, path, tree)] -= 1
                tree.edge_visits[edge] -= 1
        if walks.judged[walk] != NONE:
            tree.is_judged[walks.judged[walk]] = 1
