"""What one search knows of a position that a later one begins with."""

from __future__ import annotations

from typing import NamedTuple

from boardenvs.search.compiled.tree import NONE, Tree


class KeptTree(NamedTuple):
    """What is known below a position, taken out of a tree that grew from an earlier one."""

    tree: Tree  # alone
    node: int  # of the position

    def after(self, action: int) -> KeptTree | None:
        """What is known after an action; None where it was never tried."""
        node = child_of(self.tree, self.node, action)
        return None if node == NONE else KeptTree(self.tree, node)


def child_of(tree: Tree, node: int, action: int) -> int:
    """The node after an action, or NONE."""
    for edge in edges_of(tree, node):
        if tree.edge_action[edge] == action:
            return int(tree.edge_child[edge])
    return NONE


def edges_of(tree: Tree, node: int) -> range:
    """The edges of a node."""
    first = int(tree.first_edge[node])
    return range(first, first + int(tree.edges[node]))
