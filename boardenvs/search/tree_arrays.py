"""The arrays of trees, and what a later search takes over from an earlier one (tree reuse)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from boardenvs.game.contract import Game
from boardenvs.game.state import WordArray
from boardenvs.kernel.link import array_for_loops
from boardenvs.search.compiled.tree import NONE, Tree
from boardenvs.search.compiler import numbers, position_size, room

# What a `Tree` has of each node beside its position, of each edge, and as counts of each tree.
_OF_NODES: dict[str, type[np.generic]] = {
    **dict.fromkeys(("first_edge", "edges", "visits", "is_judged", "lower", "upper"), np.int64),
    "value": np.float64,
}
_OF_EDGES: dict[str, type[np.generic]] = {
    **dict.fromkeys(("edge_action", "edge_child", "edge_visits"), np.int64),
    **dict.fromkeys(("edge_total", "edge_prior"), np.float64),
}
_OF_TREES = ("nodes_used", "edges_used", "max_edges")


def empty_tree(game: Game, seeds: WordArray, max_nodes: int, edge_stride: int) -> Tree:
    """Room for so many nodes and edges in each of T trees, one for each of the seeds (T,)."""
    size, trees = position_size(game), len(seeds)
    arrays: dict[str, Any] = dict(
        zip(_OF_NODES, room(trees * max_nodes, *_OF_NODES.values()), strict=True)
    )
    arrays |= zip(_OF_EDGES, room(trees * edge_stride, *_OF_EDGES.values()), strict=True)
    return Tree(
        positions=room(trees * max_nodes * size, np.uint64)[0],
        **arrays,
        **{name: numbers(trees) for name in _OF_TREES},
        seeds=array_for_loops(seeds.copy()),
        max_nodes=max_nodes,
        edge_stride=edge_stride,
        position_size=size,
    )


class Subtree(NamedTuple):
    """What is known below a position, taken out of a tree that grew from an earlier one."""

    tree: Tree  # alone
    node: int  # of the position

    def after(self, action: int) -> Subtree | None:
        """What is known after an action; None where it was never tried."""
        node = child_of(self.tree, self.node, action)
        return None if node == NONE else Subtree(self.tree, node)


def shrunk(tree: Tree) -> Tree:
    """A copy of a lone tree without the room that it has left."""
    nodes, edges = int(tree.nodes_used[0]), int(tree.edges_used[0])
    sizes = dict.fromkeys(_OF_NODES, nodes) | {"positions": nodes * tree.position_size}
    sizes |= dict.fromkeys(_OF_EDGES, edges) | dict.fromkeys((*_OF_TREES, "seeds"), 1)
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
