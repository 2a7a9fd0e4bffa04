"""The arrays of trees, and what a later search takes over from an earlier one (tree reuse)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from boardenvs.game.state import WordArray
from boardenvs.kernel.link import array_for_loops
from boardenvs.search.compiled.tree import NONE, Tree, edges_of
from boardenvs.search.compiler import numbers, room


def empty_tree(position_size: int, seeds: WordArray, max_nodes: int, edge_stride: int) -> Tree:
    """Room for so many nodes and edges in each of T trees, one for each of the seeds (T,)."""
    trees = len(seeds)
    fields: list[Any] = [
        *room(trees * max_nodes * position_size, np.uint64),
        *room(trees * max_nodes, *6 * [np.int64], np.float64),
        *room(trees * edge_stride, *3 * [np.int64], *2 * [np.float64]),
        *(numbers(trees) for _ in range(3)),
        array_for_loops(seeds.copy()),
        max_nodes,
        edge_stride,
        position_size,
    ]
    return Tree(*fields)


def resized(tree: Tree, nodes: int, edges: int) -> Tree:
    """A copy of a lone tree with room for so many nodes and edges, no fewer than it has."""
    copy = empty_tree(tree.position_size, np.asarray(tree.seeds), nodes, edges)
    for before, after in zip(tree, copy, strict=True):
        if not isinstance(before, int):
            count = min(len(before), len(after))
            np.asarray(after)[:count] = np.asarray(before)[:count]
    copy.max_edges[0] = edges
    return copy


class Subtree(NamedTuple):
    """What is known below a position, taken out of a tree that grew from an earlier one."""

    tree: Tree  # alone
    node: int  # of the position

    def after(self, action: int) -> Subtree | None:
        """What is known after an action; None where it was never tried."""
        node = child_of(self.tree, self.node, action)
        return None if node == NONE else Subtree(self.tree, node)


def child_of(tree: Tree, node: int, action: int) -> int:
    """The node after an action, or NONE."""
    for edge in edges_of(node, tree):
        if tree.edge_action[edge] == action:
            return int(tree.edge_child[edge])
    return NONE
