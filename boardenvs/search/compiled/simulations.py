"""Monte Carlo tree search: one loop over simulations, for every policy that selects edges.

Evaluating several positions at once takes little longer than evaluating one. So a tree gives the
leaf that it needs, and guesses: leaves that it probably needs next. To find them the search goes on
as if each leaf had the mean value of its path (a virtual value), and then undoes that. Guesses do
not change the tree, except that some leaves are evaluated early. On one board, with 200 simulations
by the package's networks, a move took a third of the CPU time that it took leaf by leaf.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from boardenvs.kernel.loops import HISTORY, ZERO, Array, Word, entry, inline, number, word, wrap
from boardenvs.search.compiled.position import PackedPosition, is_final, outcome, playout
from boardenvs.search.compiled.tree import (
    NONE,
    Tree,
    backup,
    expand,
    follow,
    position_of,
    prove,
    set_priors,
    total_value,
    write_latest_keys,
)
from boardenvs.utils.splitmix import GOLDEN, mix

WALKS_A_LEAF = 2  # for guesses: some walks end at the same leaf
PASSED = 2  # in place of 1 in `Tree.is_judged`: a walk for guesses has passed here


class TreeLimits(NamedTuple):
    """When to end the search, and how many leaves to evaluate at a time."""

    targets: Array  # (T,) numbers: the root's visits at which a tree is done
    leaves: int  # most leaves of a tree evaluated together: one that it needs, and guesses
    until_proven: int  # 1: a tree is done once its root's result is proven


class Leaves(NamedTuple):
    """Room for L leaves of T trees, evaluated together. The leaves of a tree lie side by side:
    first the one that it needs, then guesses.
    """

    node: Array  # (L,) numbers
    path: Array  # (T * N,) numbers: for each tree, the edges from the root to the leaf it needs
    length: Array  # (T,) numbers: of the path


class Steps(NamedTuple):
    """Room for the steps of a tree's walks, one walk after the other, and the values to restore."""

    edge: Array  # (S,) numbers
    node: Array  # (S,) numbers: where the edge begins
    total: Array  # (S,) reals: the edge's total before the step


# ---- defined by a policy, see `policies` ---------------------------------------------------------


def select_edge(node: int, row: int, random: Word, policy: Any, tree: Tree) -> int:
    """Return the edge of the node that a simulation follows."""
    raise NotImplementedError


@inline
def on_expand(node: int, row: int, position: PackedPosition, policy: Any, tree: Tree) -> None:
    """Inspect a node that has just got its edges and priors, for example for a win at once; by
    default do nothing.
    """


# ---- the loop ------------------------------------------------------------------------------------


@inline
def is_done(row: int, limits: TreeLimits, tree: Tree) -> bool:
    """Return whether a tree has its target number of visits, or its root's result is proven."""
    root = row * tree.max_nodes
    proven = limits.until_proven == 1 and tree.lower[root] == tree.upper[root]
    done: bool = proven or tree.visits[root] >= limits.targets[row]
    return done


@inline
def next_seed(row: int, tree: Tree) -> Word:
    """Return the tree's next seed."""
    tree.seeds[row] = wrap(tree.seeds[row] + word(GOLDEN))
    return mix(tree.seeds[row])


@inline
def walk(row: int, seed: Word, policy: Any, tree: Tree, path: Array) -> tuple[int, int]:
    """Walk from the root to a leaf, added if needed; return it and the length of the path.

    Writes the edges of the walk to `path` and counts a visit on each.
    """
    node, length = row * tree.max_nodes, 0
    while tree.first_edge[node] != NONE and tree.is_judged[node] != 1:
        edge = select_edge(node, row, wrap(seed + word(length + 1)), policy, tree)
        tree.visits[node] += 1
        tree.edge_visits[edge] += 1
        path[length] = edge
        length += 1
        node = follow(edge, node, row, tree)
    return node, length


@entry
def simulate(
    first: int, last: int, policy: Any, limits: TreeLimits, tree: Tree, path: Array
) -> None:
    """Search each tree from `first` up to `last` leaf by leaf, evaluated by random games."""
    for row in range(first, last):
        while not is_done(row, limits, tree):
            seed = next_seed(row, tree)
            node, length = walk(row, seed, policy, tree, path)
            position = position_of(node, tree)
            if HISTORY:
                write_latest_keys(number(tree.parent[node]), row, tree)
            value = playout(position, seed, tree.latest_keys)
            backup(row, path, length, float(value), tree)
            if is_final(position.terminated, position.ply):
                prove(row, path, length, tree)
            else:
                expand(node, position, row, tree)


@entry
def select_leaves(policy: Any, limits: TreeLimits, tree: Tree, leaves: Leaves, steps: Steps) -> int:
    """Select the leaves to evaluate; return how many.

    Before that each tree makes the visits that need no evaluation.
    """
    count = 0
    for row in range(len(tree.nodes_used)):
        path = leaves.path[row * tree.max_nodes :]
        while not is_done(row, limits, tree):
            node, length = walk(row, next_seed(row, tree), policy, tree, path)
            position = position_of(node, tree)
            if is_final(position.terminated, position.ply):
                backup(row, path, length, float(outcome(position)), tree)
                prove(row, path, length, tree)
            elif tree.is_judged[node] == 1:
                tree.is_judged[node] = 0
                backup(row, path, length, float(tree.value[node]), tree)
            else:
                leaves.length[row] = length
                leaves.node[count] = node
                count += 1
                if limits.leaves > 1:
                    count = add_guesses(row, count, policy, limits, tree, leaves, steps)
                break
    return count


@entry
def expand_and_backup(
    leaves: Leaves, policy: Any, values: Array, probabilities: Array, tree: Tree
) -> None:
    """Expand the leaves that were evaluated, and add the values of needed leaves to their paths;
    values of guesses are stored.

    `values` has one value for each leaf, `probabilities` one row.
    """
    count, before = len(values), NONE
    for leaf in range(count):
        node = number(leaves.node[leaf])
        row = node // tree.max_nodes
        is_guess, before = row == before, row
        position = position_of(node, tree)
        tree.value[node], tree.is_judged[node] = values[leaf], is_guess
        if expand(node, position, row, tree):
            set_priors(node, probabilities, leaf * (len(probabilities) // count), tree)
            on_expand(node, row, position, policy, tree)
        if not is_guess:
            path, length = leaves.path[row * tree.max_nodes :], number(leaves.length[row])
            backup(row, path, length, float(tree.value[node]), tree)
            if tree.lower[node] == tree.upper[node]:
                prove(row, path, length, tree)


# ---- guesses -------------------------------------------------------------------------------------


@inline
def add_guesses(
    row: int, count: int, policy: Any, limits: TreeLimits, tree: Tree, leaves: Leaves, steps: Steps
) -> int:
    """Add the leaves that the tree probably needs next, if it has room for them beside the leaves
    that it will need; return the number of leaves.
    """
    needed, root = number(leaves.length[row]), row * tree.max_nodes
    for k in range(needed):
        steps.edge[k] = leaves.path[root + k]
    remember(0, needed, root, True, tree, steps)
    still = number(limits.targets[row]) - number(tree.visits[root])
    most, end = count + limits.leaves - 1, needed
    for _ in range(min(WALKS_A_LEAF * limits.leaves - 1, still)):
        if count >= most or tree.nodes_used[row] + still >= tree.max_nodes:
            break
        start, nodes = end, number(tree.nodes_used[row])
        path = steps.edge[start:]
        node, length = walk(row, ZERO, policy, tree, path)
        end = start + length
        is_judged = tree.is_judged[node] == 1
        remember(start, end, root, not is_judged, tree, steps)
        if is_judged:
            tree.is_judged[node] = PASSED
            backup(row, path, length, float(tree.value[node]), tree)
        elif tree.nodes_used[row] > nodes:
            position = position_of(node, tree)
            if is_final(position.terminated, position.ply):
                tree.nodes_used[row] -= 1
                tree.edge_child[path[length - 1]] = NONE
            else:
                leaves.node[count] = node
                count += 1
    take_back(needed, end, tree, steps)
    return count


@inline
def remember(start: int, end: int, root: int, expects: bool, tree: Tree, steps: Steps) -> None:
    """Store what `take_back` needs of a walk, whose visits are counted already; if `expects`, add a
    virtual value to each of its edges: its mean so far, or the mean of the node's other edges.
    """
    node = root
    for k in range(start, end):
        edge = number(steps.edge[k])
        steps.node[k], steps.total[k] = node, tree.edge_total[edge]
        tries, others = number(tree.edge_visits[edge]) - 1, number(tree.visits[node]) - 1
        if expects and tries > 0:
            tree.edge_total[edge] += tree.edge_total[edge] / tries
        elif expects and others > 0:
            tree.edge_total[edge] = total_value(node, tree) / others
        node = number(tree.edge_child[edge])


@inline
def take_back(needed: int, end: int, tree: Tree, steps: Steps) -> None:
    """Remove the virtual values of all walks, and the visits of walks after the first, which has
    `needed` steps.
    """
    for k in range(end - 1, -1, -1):
        edge = number(steps.edge[k])
        tree.edge_total[edge] = steps.total[k]
        if k >= needed:
            tree.visits[steps.node[k]] -= 1
            tree.edge_visits[edge] -= 1
            child = number(tree.edge_child[edge])
            if child != NONE and tree.is_judged[child] == PASSED:
                tree.is_judged[child] = 1
