"""Monte Carlo tree search: what Python calls."""

from __future__ import annotations

from typing import NamedTuple

from boardenvs.kernel.loops import Array, entry, inline, number
from boardenvs.search.compiled.guessing import Walks, expect, guess, remember, take_back
from boardenvs.search.compiled.mcts import Selection, backup, next_seed, prove, select
from boardenvs.search.compiled.moves import mobility
from boardenvs.search.compiled.playout import outcome, playout
from boardenvs.search.compiled.position import is_final, load_position
from boardenvs.search.compiled.subtree import copy_subtree  # noqa: F401 - Python calls it
from boardenvs.search.compiled.tree import NONE, Tree, add_node, expand, position_of, set_priors


class Leaves(NamedTuple):
    """Room for L leaves of T trees that are judged together."""

    node: Array  # (L,) numbers
    row: Array  # (L,) numbers: its tree
    is_guess: Array  # (L,) numbers: 1 for one that the tree does not need yet
    value: Array  # (L,) reals: to the side to move there
    seed: Array  # (L,) words: for a random game from there
    path: Array  # (T * N,) numbers: of each tree, the edges from the root to the leaf it needs
    length: Array  # (T,) numbers: of the path


class TreeLimits(NamedTuple):
    """How far trees are searched, and how many leaves are judged at a time."""

    targets: Array  # (T,) numbers: the root's visits at which a tree is done
    leaves: int  # of a tree that are judged together, at most: one that it needs, and guesses


@entry
def add_roots(positions: Array, edges_below: int, tree: Tree) -> None:
    """Begin each tree with its root, and with room for its edges and `edges_below` more."""
    for row in range(len(tree.nodes_used)):
        root = load_position(positions, row * tree.position_size)
        tree.max_edges[row] = edges_below + mobility(root)
        add_node(root, row, tree)


@inline
def is_done(row: int, limits: TreeLimits, tree: Tree) -> bool:
    """Whether a tree has as many visits as it is to have, or its root's result is proven."""
    root = row * tree.max_nodes
    proven = tree.lower[root] == tree.upper[root]
    done: bool = proven or tree.visits[root] >= limits.targets[row]
    return done


@entry
def simulate(
    first: int, last: int, selection: Selection, limits: TreeLimits, tree: Tree, path: Array
) -> None:
    """Search each tree from `first` to before `last` leaf by leaf, judged by random games."""
    for row in range(first, last):
        while not is_done(row, limits, tree):
            seed = next_seed(row, tree)
            node, length = select(row, seed, selection, tree, path)
            position = position_of(node, tree)
            value = playout(position, seed)
            backup(path, length, float(value), tree)
            if is_final(position.terminated, position.ply):
                prove(row, path, length, tree)
            else:
                expand(node, position, row, tree)


@entry
def select_leaves(
    selection: Selection, limits: TreeLimits, tree: Tree, leaves: Leaves, walks: Walks
) -> int:
    """Select the leaves that are to be judged, those of a tree side by side; returns how many.

    Before, each tree makes the visits for which nothing has to be judged.
    """
    count = 0
    for row in range(len(tree.nodes_used)):
        path = leaves.path[row * tree.max_nodes : (row + 1) * tree.max_nodes]
        while not is_done(row, limits, tree):
            seed = next_seed(row, tree)
            node, length = select(row, seed, selection, tree, path)
            position = position_of(node, tree)
            if is_final(position.terminated, position.ply):
                backup(path, length, float(outcome(position)), tree)
                prove(row, path, length, tree)
            elif tree.is_judged[node] == 1:
                tree.is_judged[node] = 0
                backup(path, length, float(tree.value[node]), tree)
            else:
                leaves.length[row] = length
                leaves.seed[count] = seed
                count = add_leaf(node, row, 0, leaves, count)
                if limits.leaves > 1:
                    count = add_guesses(row, count, selection, limits, tree, leaves, walks)
                break
    return count


@inline
def add_leaf(node: int, row: int, is_guess: int, leaves: Leaves, count: int) -> int:
    """One leaf more; returns how many."""
    leaves.node[count], leaves.row[count], leaves.is_guess[count] = node, row, is_guess
    return count + 1


@inline
def add_guesses(
    row: int,
    count: int,
    selection: Selection,
    limits: TreeLimits,
    tree: Tree,
    leaves: Leaves,
    walks: Walks,
) -> int:
    """The leaves that the tree is likely to need next, if there is room beside those that it will
    need; returns how many leaves there are.
    """
    for k in range(number(leaves.length[row])):
        walks.path[k] = leaves.path[row * tree.max_nodes + k]
    walks.length[0] = leaves.length[row]
    remember(0, tree, walks)
    expect(row, 0, tree, walks)
    still = number(limits.targets[row]) - number(tree.visits[row * tree.max_nodes])
    end, walk = count + limits.leaves - 1, 1
    while count < end and walk < min(len(walks.length), still + 1):
        if tree.nodes_used[row] + still >= tree.max_nodes:
            break
        node = guess(row, walk, selection, tree, walks)
        if node != NONE:
            count = add_leaf(node, row, 1, leaves, count)
        walk += 1
    take_back(row, walk, tree, walks)
    return count


@entry
def expand_and_backup(
    count: int, leaves: Leaves, selection: Selection, probabilities: Array, tree: Tree
) -> None:
    """Give the first `count` leaves their edges, and the values of those that trees need to the
    paths; those of guesses are kept.

    `probabilities` has a row for each of them, if priors are used.
    """
    for leaf in range(count):
        node, row = number(leaves.node[leaf]), number(leaves.row[leaf])
        fresh = expand(node, position_of(node, tree), row, tree)
        if fresh and selection.uses_priors == 1:
            set_priors(node, probabilities, leaf * (len(probabilities) // count), tree)
        if leaves.is_guess[leaf] == 1:
            tree.is_judged[node], tree.value[node] = 1, leaves.value[leaf]
        else:
            path = leaves.path[row * tree.max_nodes : (row + 1) * tree.max_nodes]
            backup(path, number(leaves.length[row]), leaves.value[leaf], tree)


@entry
def read_root(row: int, tree: Tree, visits: Array, values: Array, bounds: Array) -> None:
    """Write the visits of each action at the root of a tree, its mean value, which is exact where
    it is proven, and two bounds on the result to the side to move: the least and the most.
    """
    root = row * tree.max_nodes
    first = number(tree.first_edge[root])
    for edge in range(first, first + number(tree.edges[root])):
        action, child = number(tree.edge_action[edge]), number(tree.edge_child[edge])
        lower, upper = -1, 1
        if child != NONE:
            lower, upper = -number(tree.upper[child]), -number(tree.lower[child])
        tries = number(tree.edge_visits[edge])
        mean = tree.edge_total[edge] / tries if tries > 0 else 0.0
        visits[action] = tries
        values[action] = max(float(lower), min(float(upper), mean))
        bounds[2 * action], bounds[2 * action + 1] = lower, upper


@entry
def play_out(positions: Array, position_size: int, seeds: Array, values: Array) -> None:
    """One random game from each position; what it is worth to the side to move there."""
    for row in range(len(seeds)):
        values[row] = float(playout(load_position(positions, row * position_size), seeds[row]))
