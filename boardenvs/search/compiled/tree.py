"""The trees of Monte Carlo tree search.

A node is a position; its edges are its legal actions. The trees of a batch lie side by side, with
room for as many nodes and edges each, so that a number is that of a node or edge in all of them.
"""

from __future__ import annotations

from typing import NamedTuple

from boardenvs.kernel.loops import (
    ONE,
    ZERO,
    Array,
    inline,
    legal_words,
    number,
    trailing_zeros,
    word,
)
from boardenvs.search.compiled.playout import outcome
from boardenvs.search.compiled.position import (
    Position,
    is_final,
    load_position,
    play,
    save_position,
)

NONE = -1


class Tree(NamedTuple):
    """T trees of N nodes and E edges at most, in flat arrays."""

    positions: Array  # (T * N * position_size,) words
    first_edge: Array  # (T * N,) numbers: NONE until the node is expanded
    edges: Array  # (T * N,) numbers: how many follow from the first one on
    visits: Array  # (T * N,) numbers: selections that went on from the node
    is_judged: Array  # (T * N,) numbers: 1 where the evaluator has been asked and no visit came yet
    value: Array  # (T * N,) reals: what it said of the position, to its side to move
    lower: Array  # (T * N,) numbers: the least that is proven of the result there, to the side to
    upper: Array  # (T * N,) numbers: ... move, and the most; -1 a loss, 0 a draw, 1 a win
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


@inline
def position_of(node: int, tree: Tree) -> Position:
    """The position of a node."""
    return load_position(tree.positions, node * tree.position_size)


@inline
def add_node(position: Position, row: int, tree: Tree) -> int:
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
def expand(node: int, position: Position, row: int, tree: Tree) -> bool:
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
    first = number(tree.first_edge[node])
    for edge in range(first, first + number(tree.edges[node])):
        tree.edge_prior[edge] = probabilities[start + tree.edge_action[edge]]
