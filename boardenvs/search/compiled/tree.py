"""The trees of Monte Carlo tree search.

A node is a position; its edges are its legal actions. The trees of a batch lie side by side in
flat arrays with equal room for each, so that one number identifies a node or an edge of the batch.
Ends of games give bounds on the results (score-bounded search, Cazenave and Saffidine 2010).
"""

from __future__ import annotations

from typing import NamedTuple

from boardenvs.kernel.loops import (
    ALTERNATES,
    HISTORY,
    LEGAL_WORDS,
    ONE,
    ZERO,
    Array,
    Word,
    entry,
    inline,
    number,
    trailing_zeros,
    word,
)
from boardenvs.search.compiled.position import (
    TO_MOVE,
    PackedPosition,
    count_key,
    is_final,
    key_of_words,
    load_position,
    mobility,
    outcome,
    play,
    repeated,
    save_position,
    sign_of,
)

NONE = -1


class Tree(NamedTuple):
    """T trees of N nodes and E edges at most, in flat arrays."""

    positions: Array  # (T * N * position_size,) words
    parent: Array  # (T * N,) numbers: the node before, or NONE
    first_edge: Array  # (T * N,) numbers: NONE before the node is expanded
    edges: Array  # (T * N,) numbers: their count
    visits: Array  # (T * N,) numbers: selections of an edge of the node
    is_judged: Array  # (T * N,) numbers: 1 if evaluated as a guess, and not visited yet
    lower: Array  # (T * N,) numbers: proven bounds of the result to the side to move:
    upper: Array  # ... -1 a loss, 0 a draw, 1 a win
    value: Array  # (T * N,) reals: by the evaluator, to the side to move
    edge_action: Array  # (T * E,) numbers
    edge_child: Array  # (T * E,) numbers: the node, or NONE
    edge_visits: Array  # (T * E,) numbers
    edge_total: Array  # (T * E,) reals: the sum of values to the side that moves along the edge
    edge_prior: Array  # (T * E,) reals: its probability by the evaluator, if there is one
    nodes_used: Array  # (T,) numbers
    edges_used: Array  # (T,) numbers
    max_edges: Array  # (T,) numbers: at most E, independent of other trees
    seeds: Array  # (T,) words
    keys: Array  # (T * HISTORY,) words: of the positions before the root, the latest first
    latest_keys: Array  # (HISTORY,) words, working memory
    max_nodes: int  # N
    edge_stride: int  # E
    position_size: int  # words


@entry
def add_roots(positions: Array, edges_below: int, expanded: bool, tree: Tree) -> None:
    """Start each tree with its root, and room for the root's edges and `edges_below` more; if
    `expanded`, give the roots their edges.
    """
    for row in range(len(tree.nodes_used)):
        root = load_position(positions, row * tree.position_size)
        tree.max_edges[row] = edges_below + mobility(root)
        node = add_node(root, NONE, row, tree)
        if expanded and not is_final(root.terminated, root.ply):
            expand(node, root, row, tree)


@inline
def edges_of(node: int, tree: Tree) -> range:
    """Return the edges of a node."""
    first = number(tree.first_edge[node])
    return range(first, first + number(tree.edges[node]))


@inline
def position_of(node: int, tree: Tree) -> PackedPosition:
    """Return the position of a node."""
    return load_position(tree.positions, node * tree.position_size)


@inline
def add_node(position: PackedPosition, parent: int, row: int, tree: Tree) -> int:
    """Add a node without edges to a tree; the result of a finished game is known."""
    node = row * tree.max_nodes + number(tree.nodes_used[row])
    tree.nodes_used[row] += 1
    save_position(tree.positions, node * tree.position_size, position)
    tree.parent[node] = parent
    tree.first_edge[node] = NONE
    tree.edges[node] = 0
    tree.visits[node] = 0
    tree.is_judged[node] = 0
    tree.lower[node], tree.upper[node] = -1, 1
    if is_final(position.terminated, position.ply):
        tree.lower[node] = tree.upper[node] = outcome(position)
    return node


@inline
def position_to_add(position: PackedPosition) -> PackedPosition:
    """Return the position of a new node, given the one after its action: the same by default."""
    return position


@inline
def follow(edge: int, node: int, row: int, tree: Tree) -> int:
    """Return the node at the end of an edge, added if there is none yet."""
    child = number(tree.edge_child[edge])
    if child == NONE:
        position = play(position_of(node, tree), word(tree.edge_action[edge]))
        if HISTORY:
            repeats = repeats_after(node, key_of_words(position.words), row, tree)
            if repeats > ZERO:
                position = repeated(position, repeats)
        child = add_node(position_to_add(position), node, row, tree)
        tree.edge_child[edge] = child
    return child


@inline
def key_of_node(node: int, tree: Tree) -> Word:
    """Return the key of a node's position, which is stored as its last word but one."""
    return tree.positions[(node + 1) * tree.position_size - 2]


def repeats_after(node: int, key: Word, row: int, tree: Tree) -> Word:
    """Return how many of the remembered positions up to a node have this key."""
    write_latest_keys(node, row, tree)
    return count_key(key, tree.latest_keys, 0, HISTORY)


def write_latest_keys(node: int, row: int, tree: Tree) -> None:
    """Write the keys of the positions up to a node, or before the root if it is NONE, to
    `latest_keys`, the earliest first.
    """
    place = HISTORY - 1
    while node != NONE and place >= 0:
        tree.latest_keys[place] = key_of_node(node, tree)
        node, place = number(tree.parent[node]), place - 1
    for k in range(place + 1):
        tree.latest_keys[place - k] = tree.keys[row * HISTORY + k]


@inline
def expand(node: int, position: PackedPosition, row: int, tree: Tree) -> bool:
    """Give a node its edges; return False, and give none, if the tree has no room left."""
    first = row * tree.edge_stride + number(tree.edges_used[row])
    end = row * tree.edge_stride + number(tree.max_edges[row])
    edge = first
    for k in range(LEGAL_WORDS):
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
    """Set the priors of a node's edges to their shares of probabilities[start + action]."""
    edges, total = edges_of(node, tree), 1e-30
    for edge in edges:
        tree.edge_prior[edge] = probabilities[start + tree.edge_action[edge]]
        total += tree.edge_prior[edge]
    share = 1.0 / total
    for edge in edges:
        tree.edge_prior[edge] *= share


@inline
def total_value(node: int, tree: Tree) -> float:
    """Return the sum of the values of all edges of a node."""
    total = 0.0
    for edge in edges_of(node, tree):
        total += tree.edge_total[edge]
    return total


@inline
def node_on_path(k: int, row: int, path: Array, tree: Tree) -> int:
    """Return the node from which the path's edge k leads."""
    return row * tree.max_nodes if k == 0 else number(tree.edge_child[path[k - 1]])


@inline
def sign_at(child: int, node: int, tree: Tree) -> int:
    """Return `sign_of` the ply from a node to its child."""
    if ALTERNATES:
        return -1
    size, positions = tree.position_size, tree.positions
    return sign_of(positions[node * size + TO_MOVE], positions[child * size + TO_MOVE])


@inline
def bounds_of(child: int, node: int, tree: Tree) -> tuple[int, int]:
    """Return proven bounds of the result at a child, to the side to move at its node."""
    lower, upper = number(tree.lower[child]), number(tree.upper[child])
    return (lower, upper) if sign_at(child, node, tree) > 0 else (-upper, -lower)


@inline
def backup(row: int, path: Array, length: int, value: float, tree: Tree) -> None:
    """Add the value, for the side to move at the path's end, to the totals of its edges."""
    for k in range(length - 1, -1, -1):
        child = number(tree.edge_child[path[k]])
        value *= sign_at(child, node_on_path(k, row, path, tree), tree)
        tree.edge_total[path[k]] += value


def prove(row: int, path: Array, length: int, tree: Tree) -> None:
    """Update the bounds on the path from its end to the root."""
    for k in range(length - 1, -1, -1):
        node = node_on_path(k, row, path, tree)
        lower, upper = number(tree.lower[node]), -1
        for edge in edges_of(node, tree):
            child = number(tree.edge_child[edge])
            if child == NONE:
                upper = 1
            else:
                least, most = bounds_of(child, node, tree)
                lower, upper = max(lower, least), max(upper, most)
        upper = min(upper, number(tree.upper[node]))
        if tree.lower[node] == lower and tree.upper[node] == upper:
            return
        tree.lower[node], tree.upper[node] = lower, upper


@entry
def copy_subtree(node: int, source: Tree, row: int, target: Tree, origins: Array) -> None:
    """Start a tree with a copy of the subtree below a node of another tree.

    Guesses that were not visited are left out. The tree must have room for the other nodes; a node
    whose edges do not fit has none. `origins` is working memory, one number a node.
    """
    origins[0] = node
    target.parent[row * target.max_nodes] = NONE
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
                target.parent[base + target.nodes_used[row]] = new
                target.nodes_used[row] += 1
            edge += 1
