"""The trees of Monte Carlo tree search.

A node is a position; its edges are its legal actions. The trees of a batch lie side by side, with
room for as many nodes and edges each, so that a number is that of a node or edge in all of them.
What ends of games prove is kept as bounds on the results (score-bounded search, Cazenave and
Saffidine 2010).
"""

from __future__ import annotations

from typing import NamedTuple

from boardenvs.kernel.loops import (
    ONE,
    ZERO,
    Array,
    alternates,
    entry,
    inline,
    legal_words,
    number,
    trailing_zeros,
    word,
)
from boardenvs.search.compiled.position import (
    TO_MOVE,
    PackedPosition,
    is_final,
    load_position,
    mobility,
    outcome,
    play,
    save_position,
    sign_of,
)

NONE = -1


class Tree(NamedTuple):
    """T trees of N nodes and E edges at most, in flat arrays."""

    positions: Array  # (T * N * position_size,) words
    first_edge: Array  # (T * N,) numbers: NONE until the node is expanded
    edges: Array  # (T * N,) numbers: how many follow from the first one on
    visits: Array  # (T * N,) numbers: selections that went on from the node
    is_judged: Array  # (T * N,) numbers: 1 where the evaluator has been asked and no visit came yet
    lower: Array  # (T * N,) numbers: the least that is proven of the result there, to the side to
    upper: Array  # (T * N,) numbers: ... move, and the most; -1 a loss, 0 a draw, 1 a win
    value: Array  # (T * N,) reals: what the evaluator said, to the side to move
    edge_action: Array  # (T * E,) numbers
    edge_child: Array  # (T * E,) numbers: the node, or NONE
    edge_visits: Array  # (T * E,) numbers
    edge_total: Array  # (T * E,) reals: the sum of values to the side that moves along the edge
    edge_prior: Array  # (T * E,) reals: the evaluator's probability; never read without one
    nodes_used: Array  # (T,) numbers
    edges_used: Array  # (T,) numbers
    max_edges: Array  # (T,) numbers: at most E; what rows may have does not depend on other rows
    seeds: Array  # (T,) words
    max_nodes: int  # N
    edge_stride: int  # E
    position_size: int  # words


@entry
def add_roots(positions: Array, edges_below: int, expanded: bool, tree: Tree) -> None:
    """Begin each tree with its root, and with room for its edges and `edges_below` more; give the
    roots their edges where they are to be `expanded`.
    """
    for row in range(len(tree.nodes_used)):
        root = load_position(positions, row * tree.position_size)
        tree.max_edges[row] = edges_below + mobility(root)
        node = add_node(root, row, tree)
        if expanded and not is_final(root.terminated, root.ply):
            expand(node, root, row, tree)


@inline
def edges_of(node: int, tree: Tree) -> range:
    """The edges of a node."""
    first = number(tree.first_edge[node])
    return range(first, first + number(tree.edges[node]))


@inline
def position_of(node: int, tree: Tree) -> PackedPosition:
    """The position of a node."""
    return load_position(tree.positions, node * tree.position_size)


@inline
def add_node(position: PackedPosition, row: int, tree: Tree) -> int:
    """A new node of this tree, without edges; where the game ends there its result is known."""
    node = row * tree.max_nodes + number(tree.nodes_used[row])
    tree.nodes_used[row] += 1
    save_position(tree.positions, node * tree.position_size, position)
    tree.first_edge[node] = NONE
    tree.edges[node] = 0
    tree.visits[node] = 0
    tree.is_judged[node] = 0
    tree.lower[node], tree.upper[node] = -1, 1
    if is_final(position.terminated, position.ply):
        tree.lower[node] = tree.upper[node] = outcome(position)
    return node


@inline
def follow(edge: int, node: int, row: int, tree: Tree) -> int:
    """The node that an edge of the node leads to, made new where it leads nowhere."""
    child = number(tree.edge_child[edge])
    if child == NONE:
        child = add_node(play(position_of(node, tree), word(tree.edge_action[edge])), row, tree)
        tree.edge_child[edge] = child
    return child


@inline
def expand(node: int, position: PackedPosition, row: int, tree: Tree) -> bool:
    """Give a node its edges; False, and none, where the tree has no room left for them."""
    first = row * tree.edge_stride + number(tree.edges_used[row])
    end = row * tree.edge_stride + number(tree.max_edges[row])
    edge = first
    for k in range(legal_words()):
        bits = position.legal_bits[k]
        while bits != ZERO:
            if edge >= end:
                return False
            tree.edge_action[edge] = 64 * k + number(trailing_zeros(bits))
            tree.edge_child[edge] = NONE
            tree.edge_visits[edge] = 0
            tree.edge_total[edge] = 0.0
            bits = bits & (bits - ONE)
            edge += 1
    tree.edges_used[row] += edge - first
    tree.first_edge[node] = first
    tree.edges[node] = edge - first
    return True


def set_priors(node: int, probabilities: Array, start: int, tree: Tree) -> None:
    """Give a node's edges the probabilities[start + action]."""
    for edge in edges_of(node, tree):
        tree.edge_prior[edge] = probabilities[start + tree.edge_action[edge]]


@inline
def total_value(node: int, tree: Tree) -> float:
    """The sum of the values of all edges of a node."""
    total = 0.0
    for edge in edges_of(node, tree):
        total += tree.edge_total[edge]
    return total


@inline
def node_on_path(k: int, row: int, path: Array, tree: Tree) -> int:
    """The node that the path's edge k belongs to."""
    return row * tree.max_nodes if k == 0 else number(tree.edge_child[path[k - 1]])


@inline
def sign_at(child: int, node: int, tree: Tree) -> int:
    """`sign_of` the ply from a node to one that follows it."""
    if alternates():
        return -1
    size, positions = tree.position_size, tree.positions
    return sign_of(positions[node * size + TO_MOVE], positions[child * size + TO_MOVE])


@inline
def least_of(child: int, node: int, tree: Tree) -> int:
    """The least that is proven of the result at a child, to the side to move at its node."""
    same = sign_at(child, node, tree) > 0
    return number(tree.lower[child]) if same else -number(tree.upper[child])


@inline
def most_of(child: int, node: int, tree: Tree) -> int:
    """The most, likewise."""
    same = sign_at(child, node, tree) > 0
    return number(tree.upper[child]) if same else -number(tree.lower[child])


@inline
def backup(row: int, path: Array, length: int, value: float, tree: Tree) -> None:
    """Add the value, to the side to move at the path's end, to each edge's mover's total."""
    for k in range(length - 1, -1, -1):
        child = number(tree.edge_child[path[k]])
        value *= sign_at(child, node_on_path(k, row, path, tree), tree)
        tree.edge_total[path[k]] += value


def prove(row: int, path: Array, length: int, tree: Tree) -> None:
    """Take what is proven of the node at the path's end up to the root."""
    for k in range(length - 1, -1, -1):
        node = node_on_path(k, row, path, tree)
        lower, upper = number(tree.lower[node]), -1
        for edge in edges_of(node, tree):
            child = number(tree.edge_child[edge])
            if child == NONE:
                upper = 1
            else:
                lower = max(lower, least_of(child, node, tree))
                upper = max(upper, most_of(child, node, tree))
        upper = min(upper, number(tree.upper[node]))
        if tree.lower[node] == lower and tree.upper[node] == upper:
            return
        tree.lower[node], tree.upper[node] = lower, upper


@entry
def copy_subtree(node: int, source: Tree, row: int, target: Tree, origins: Array) -> None:
    """Begin a tree with all that lies below a node of another, which becomes its root.

    Nodes that were judged and not visited stay behind. The tree must have room for the others; a
    node whose edges find none has none. `origins` is to work in: as many numbers as the tree may
    have nodes.
    """
    origins[0] = node
    target.nodes_used[row], target.edges_used[row] = 1, 0
    base, done = row * target.max_nodes, 0
    while done < target.nodes_used[row]:
        old, new = number(origins[done]), base + done
        done += 1
        save_position(target.positions, new * target.position_size, position_of(old, source))
        target.value[new], target.visits[new], target.is_judged[new] = source.value[old], 0, 0
        target.lower[new], target.upper[new] = source.lower[old], source.upper[old]
        target.first_edge[new], target.edges[new] = NONE, 0
        count, used = number(source.edges[old]), number(target.edges_used[row])
        if count == 0 or used + count > target.max_edges[row]:
            continue
        edge = row * target.edge_stride + used
        target.first_edge[new], target.edges[new] = edge, count
        target.visits[new] = source.visits[old]
        target.edges_used[row] += count
        for was in edges_of(old, source):
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
            edge += 1
