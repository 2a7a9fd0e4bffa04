"""Monte Carlo tree search: what Python calls."""

from __future__ import annotations

from typing import NamedTuple

from boardenvs.kernel.loops import Array, entry, inline, number
from boardenvs.search.compiled.mcts import Selection, backup, next_seed, select, take_back
from boardenvs.search.compiled.moves import mobility
from boardenvs.search.compiled.playout import outcome, playout
from boardenvs.search.compiled.position import is_final, load_position
from boardenvs.search.compiled.tree import Tree, add_node, expand, position_of, set_priors


class Leaves(NamedTuple):
    """Room for L leaves that selection reaches and that are judged together."""

    node: Array  # (L,) numbers
    row: Array  # (L,) numbers: its tree
    value: Array  # (L,) reals: to the side to move there
    seed: Array  # (L,) words: for a random game from there
    path: Array  # (L * N,) numbers: the edges from the root
    length: Array  # (L,) numbers: of the path


class Plan(NamedTuple):
    """How far trees are searched, and in what steps."""

    targets: Array  # (T,) numbers: the root's visits at which a tree is done
    leaves: int  # of a tree that are judged together, at most
    visits_a_leaf: int  # of the root, for each leaf after the first; 0 where none are asked for


@entry
def add_roots(positions: Array, edges_below: int, tree: Tree) -> None:
    """Begin each tree with its root, and with room for its edges and `edges_below` more."""
    for row in range(len(tree.nodes_used)):
        root = load_position(positions, row * tree.position_size)
        tree.max_edges[row] = edges_below + mobility(root)
        add_node(root, row, tree)


@inline
def is_done(row: int, plan: Plan, tree: Tree) -> bool:
    """Whether a tree has as many visits as it is to have; one without moves can have none."""
    root = row * tree.max_nodes
    return tree.edges[root] == 0 or tree.visits[root] >= plan.targets[row]


@entry
def simulate(
    first: int, last: int, selection: Selection, plan: Plan, tree: Tree, path: Array
) -> None:
    """Search each tree from `first` to before `last` leaf by leaf, judged by random games."""
    for row in range(first, last):
        while not is_done(row, plan, tree):
            seed = next_seed(row, tree)
            node, length = select(row, seed, selection, tree, path)
            position = position_of(node, tree)
            value = playout(position, seed)
            if not is_final(position.terminated, position.ply):
                expand(node, position, row, tree)
            backup(path, length, float(value), tree)


@entry
def select_leaves(selection: Selection, plan: Plan, tree: Tree, leaves: Leaves) -> int:
    """Select leaves that are to be judged, tree by tree; returns how many.

    Where a game ends its value is known and is backed up at once. Where a tree's selection runs into
    a leaf that waits already, the tree has no more leaves before these are judged.
    """
    count = 0
    for row in range(len(tree.nodes_used)):
        end = count + leaves_at_once(row, plan, tree)
        while count < end and not is_done(row, plan, tree):
            seed = next_seed(row, tree)
            path = leaves.path[count * tree.max_nodes : (count + 1) * tree.max_nodes]
            node, length = select(row, seed, selection, tree, path)
            position = position_of(node, tree)
            if is_final(position.terminated, position.ply):
                backup(path, length, float(outcome(position)), tree)
            elif tree.edge_pending[path[length - 1]] > 1:
                take_back(row, path, length, tree)
                end = count
            else:
                leaves.node[count] = node
                leaves.row[count] = row
                leaves.length[count] = length
                leaves.seed[count] = seed
                count += 1
    return count


@inline
def leaves_at_once(row: int, plan: Plan, tree: Tree) -> int:
    """Fewer while a tree is small, if the plan says so: there more depends on each value."""
    if plan.visits_a_leaf == 0:
        return plan.leaves
    visits = number(tree.visits[row * tree.max_nodes])
    return min(plan.leaves, 1 + visits // plan.visits_a_leaf)


@entry
def expand_and_backup(
    count: int, leaves: Leaves, selection: Selection, probabilities: Array, tree: Tree
) -> None:
    """Give the first `count` leaves their edges, and their values to the paths.

    `probabilities` has a row for each of them, if priors are used.
    """
    for leaf in range(count):
        node, row = number(leaves.node[leaf]), number(leaves.row[leaf])
        fresh = expand(node, position_of(node, tree), row, tree)
        if fresh and selection.uses_priors == 1:
            set_priors(node, probabilities, leaf * (len(probabilities) // count), tree)
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
