"""Monte Carlo tree search: what Python calls."""

from __future__ import annotations

from typing import NamedTuple

from boardenvs.kernel.loops import Array, entry, number
from boardenvs.search.compiled.mcts import Selection, backup, next_seed, select
from boardenvs.search.compiled.moves import mobility
from boardenvs.search.compiled.playout import outcome, playout
from boardenvs.search.compiled.position import is_final, load_position
from boardenvs.search.compiled.tree import Tree, add_node, expand, position_of, set_priors


class Leaves(NamedTuple):
    """The leaves that selection reached: L in all, the same number in each of T trees."""

    node: Array  # (L,) numbers
    final: Array  # (L,) numbers: 1 where the game ends there
    value: Array  # (L,) reals: to the side to move there; known at once where the game ends
    seed: Array  # (L,) words: for a random game from there
    path: Array  # (L * N,) numbers: the edges from the root
    length: Array  # (L,) numbers: of the path


@entry
def add_roots(positions: Array, edges_below: int, tree: Tree) -> None:
    """Begin each tree with its root, and with room for its edges and `edges_below` more."""
    for row in range(len(tree.nodes_used)):
        root = load_position(positions, row * tree.position_size)
        tree.max_edges[row] = edges_below + mobility(root)
        add_node(root, row, tree)


@entry
def simulate(
    first: int, last: int, simulations: int, selection: Selection, tree: Tree, path: Array
) -> None:
    """So many simulations in each tree from `first` to before `last`, judged by random games."""
    for row in range(first, last):
        for _ in range(simulations):
            seed = next_seed(row, tree)
            node, length = select(row, seed, selection, tree, path)
            position = position_of(node, tree)
            value = playout(position, seed)
            if not is_final(position.terminated, position.ply):
                expand(node, position, row, tree)
            backup(path, length, float(value), tree)


@entry
def select_leaves(selection: Selection, tree: Tree, leaves: Leaves) -> None:
    """Select leaves in each tree, and write what is known of them."""
    trees = len(tree.nodes_used)
    for leaf in range(len(leaves.node)):
        row = leaf // (len(leaves.node) // trees)
        seed = next_seed(row, tree)
        path = leaves.path[leaf * tree.max_nodes : (leaf + 1) * tree.max_nodes]
        node, length = select(row, seed, selection, tree, path)
        position = position_of(node, tree)
        final = is_final(position.terminated, position.ply)
        leaves.node[leaf] = node
        leaves.length[leaf] = length
        leaves.final[leaf] = 1 if final else 0
        leaves.value[leaf] = float(outcome(position)) if final else 0.0
        leaves.seed[leaf] = seed


@entry
def expand_and_backup(
    leaves: Leaves, selection: Selection, probabilities: Array, tree: Tree
) -> None:
    """Give the leaves their edges, and their values to the paths.

    `probabilities` has a row for each leaf, if priors are used.
    """
    trees, rows = len(tree.nodes_used), len(leaves.node)
    for leaf in range(rows):
        node, row = number(leaves.node[leaf]), leaf // (rows // trees)
        fresh = leaves.final[leaf] == 0 and tree.edges[node] == 0
        if fresh:
            fresh = expand(node, position_of(node, tree), row, tree)
        if fresh and selection.uses_priors == 1:
            set_priors(node, probabilities, leaf * (len(probabilities) // rows), tree)
        path = leaves.path[leaf * tree.max_nodes : (leaf + 1) * tree.max_nodes]
        backup(path, number(leaves.length[leaf]), leaves.value[leaf], tree)


@entry
def read_root(row: int, tree: Tree, visits: Array, totals: Array) -> None:
    """Write the visits and the sum of values of each action at the root of a tree."""
    root = row * tree.max_nodes
    first = number(tree.first_edge[root])
    for edge in range(first, first + number(tree.edges[root])):
        visits[tree.edge_action[edge]] = tree.edge_visits[edge]
        totals[tree.edge_action[edge]] = tree.edge_total[edge]


@entry
def play_out(positions: Array, position_size: int, seeds: Array, values: Array) -> None:
    """One random game from each position; what it is worth to the side to move there."""
    for row in range(len(seeds)):
        values[row] = float(playout(load_position(positions, row * position_size), seeds[row]))
