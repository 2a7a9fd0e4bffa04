"""A part of one tree as a tree of its own."""

from __future__ import annotations

from boardenvs.kernel.loops import Array, entry, inline, number
from boardenvs.search.compiled.tree import NONE, Tree


@entry
def copy_subtree(node: int, source: Tree, row: int, target: Tree, origins: Array) -> None:
    """Begin a tree with all that lies below a node of another, which becomes its root.

    Nodes that were judged and not visited stay behind. The tree must have room for the others; a
    node whose edges find none has none. `origins` is to work in: as many numbers as the tree may
    have nodes.
    """
    origins[0] = node
    target.nodes_used[row] = 1
    done = 0
    while done < target.nodes_used[row]:
        copy_node(number(origins[done]), source, row * target.max_nodes + done, target)
        copy_edges(number(origins[done]), source, done, row, target, origins)
        done += 1


@inline
def copy_node(old: int, source: Tree, new: int, target: Tree) -> None:
    """What is known of a node itself."""
    size = source.position_size
    for k in range(size):
        target.positions[new * size + k] = source.positions[old * size + k]
    target.visits[new] = target.is_judged[new] = 0
    target.lower[new], target.upper[new] = source.lower[old], source.upper[old]
    target.first_edge[new], target.edges[new] = NONE, 0


@inline
def copy_edges(old: int, source: Tree, place: int, row: int, target: Tree, origins: Array) -> None:
    """The edges of the tree's node of this place; the nodes they lead to are given places."""
    count, used = number(source.edges[old]), number(target.edges_used[row])
    if count == 0 or used + count > target.max_edges[row]:
        return
    base, first = row * target.max_nodes, row * target.edge_stride + used
    target.first_edge[base + place], target.edges[base + place] = first, count
    target.visits[base + place] = source.visits[old]
    target.edges_used[row] += count
    for k in range(count):
        was, edge = number(source.first_edge[old]) + k, first + k
        target.edge_action[edge] = source.edge_action[was]
        target.edge_visits[edge] = source.edge_visits[was]
        target.edge_total[edge] = source.edge_total[was]
        target.edge_prior[edge] = source.edge_prior[was]
        target.edge_child[edge] = NONE
        child = number(source.edge_child[was])
        if child != NONE and source.is_judged[child] == 0:
            target.edge_child[edge] = base + target.nodes_used[row]
            origins[target.nodes_used[row]] = child
            target.nodes_used[row] += 1
