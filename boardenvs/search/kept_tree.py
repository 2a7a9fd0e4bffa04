"""What one search knows of a position that a later one begins with."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from boardenvs.kernel.link import array_for_loops
from boardenvs.search.compiled.tree import NONE, Tree
from boardenvs.search.memory import OF_EDGES, OF_NODES, OF_TREES


class KeptTree(NamedTuple):
    """What is known below a position, taken out of a tree that grew from an earlier one."""

    tree: Tree  # alone
    node: int  # of the position

    def after(self, action: int) -> KeptTree | None:
        """What is known after an action; None where it was never tried."""
        node = child_of(self.tree, self.node, action)
        return None if node == NONE else KeptTree(self.tree, node)


def shrunk(tree: Tree) -> Tree:
    """A copy of a lone tree without the room that it has left."""
    nodes, edges = int(tree.nodes_used[0]), int(tree.edges_used[0])
    sizes = dict.fromkeys(OF_NODES, nodes) | {"positions": nodes * tree.position_size}
    sizes |= dict.fromkeys(OF_EDGES, edges) | dict.fromkeys((*OF_TREES, "seeds"), 1)
    arrays = {
        name: array_for_loops(np.asarray(getattr(tree, name))[:size].copy())
        for name, size in sizes.items()
    }
    return tree._replace(**arrays, max_nodes=nodes, edge_stride=edges)


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
