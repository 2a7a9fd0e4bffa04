"""Monte Carlo tree search: one loop over simulations, whatever the policy selects edges by.

Judging several positions at once takes little longer than judging one. So a tree is asked for the
leaf that it needs and for guesses, which it is likely to need next: the search goes on as if each
leaf were worth what the edges to it are worth on average, and then takes all of that back. Whatever
was guessed, a tree is the same but for what has been judged already.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from boardenvs.kernel.loops import ZERO, Array, Word, entry, inline, number, word, wrap
from boardenvs.search.compiled.position import Position, is_final, load_position, outcome, playout
from boardenvs.search.compiled.tree import (
    NONE,
    Tree,
    backup,
    expand,
    follow,
    node_on_path,
    position_of,
    prove,
    set_priors,
    total_value,
)
from boardenvs.utils.splitmix import GOLDEN, mix


class TreeLimits(NamedTuple):
    """How far trees are searched, and how many leaves are judged at a time."""

    targets: Array  # (T,) numbers: the root's visits at which a tree is done
    leaves: int  # of a tree that are judged together, at most: one that it needs, and guesses
    until_proven: int  # 1: a tree is done where its root's result is proven


class Leaves(NamedTuple):
    """Room for L leaves of T trees that are judged together."""

    node: Array  # (L,) numbers
    row: Array  # (L,) numbers: its tree
    is_guess: Array  # (L,) numbers: 1 for one that the tree does not need yet
    value: Array  # (L,) reals: to the side to move there
    seed: Array  # (L,) words: for a random game from there
    path: Array  # (T * N,) numbers: of each tree, the edges from the root to the leaf it needs
    length: Array  # (T,) numbers: of the path


class Walks(NamedTuple):
    """Room for G walks of a tree of N nodes at most, the first being the one to the leaf needed."""

    path: Array  # (G * N,) numbers: the edges from the root
    total: Array  # (G * N,) reals: what the edges' totals were before
    length: Array  # (G,) numbers: of the path
    judged: Array  # (G,) numbers: the node it ends at, if that was judged already; or NONE


# ---- what a policy gives, see `policies` ---------------------------------------------------------


def select_edge(node: int, row: int, random: Word, policy: Any, tree: Tree) -> int:
    """The edge of the node that a simulation follows."""
    raise NotImplementedError


def look(node: int, row: int, position: Position, policy: Any, tree: Tree) -> None:
    """What is to be seen, and proven, of a node that has just been given its edges and priors."""
    raise NotImplementedError


# ---- the loop ------------------------------------------------------------------------------------


@inline
def is_done(row: int, limits: TreeLimits, tree: Tree) -> bool:
    """Whether a tree has as many visits as it is to have, or its root's result is proven."""
    root = row * tree.max_nodes
    proven = limits.until_proven == 1 and tree.lower[root] == tree.upper[root]
    done: bool = proven or tree.visits[root] >= limits.targets[row]
    return done


@inline
def next_seed(row: int, tree: Tree) -> Word:
    """The tree's next seed."""
    tree.seeds[row] = wrap(tree.seeds[row] + word(GOLDEN))
    seed: Word = mix(tree.seeds[row])
    return seed


@inline
def walk(row: int, seed: Word, policy: Any, tree: Tree, path: Array) -> tuple[int, int]:
    """Go from the root to a node that no walk has gone on from, made new where an edge leads
    nowhere.

    Writes the edges walked to `path` and counts a visit on each. Returns the node and the length of
    the path.
    """
    node, length = row * tree.max_nodes, 0
    while tree.first_edge[node] != NONE and tree.is_judged[node] == 0:
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
    """Search each tree from `first` to before `last` leaf by leaf, judged by random games."""
    for row in range(first, last):
        while not is_done(row, limits, tree):
            seed = next_seed(row, tree)
            node, length = walk(row, seed, policy, tree, path)
            position = position_of(node, tree)
            value = playout(position, seed)
            backup(path, length, float(value), tree)
            if is_final(position.terminated, position.ply):
                prove(row, path, length, tree)
            else:
                expand(node, position, row, tree)


@entry
def select_leaves(policy: Any, limits: TreeLimits, tree: Tree, leaves: Leaves, walks: Walks) -> int:
    """Select the leaves that are to be judged, those of a tree side by side; returns how many.

    Before, each tree makes the visits for which nothing has to be judged.
    """
    count = 0
    for row in range(len(tree.nodes_used)):
        path = leaves.path[row * tree.max_nodes : (row + 1) * tree.max_nodes]
        while not is_done(row, limits, tree):
            seed = next_seed(row, tree)
            node, length = walk(row, seed, policy, tree, path)
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
                    count = add_guesses(row, count, policy, limits, tree, leaves, walks)
                break
    return count


@inline
def add_leaf(node: int, row: int, is_guess: int, leaves: Leaves, count: int) -> int:
    """One leaf more; returns how many."""
    leaves.node[count], leaves.row[count], leaves.is_guess[count] = node, row, is_guess
    return count + 1


@entry
def expand_and_backup(
    count: int, leaves: Leaves, policy: Any, probabilities: Array, tree: Tree
) -> None:
    """Give the first `count` leaves their edges, and the values of those that trees need to the
    paths; those of guesses are kept.

    `probabilities` has a row for each of them, if priors are used.
    """
    for leaf in range(count):
        node, row = number(leaves.node[leaf]), number(leaves.row[leaf])
        position = position_of(node, tree)
        tree.value[node], tree.is_judged[node] = leaves.value[leaf], leaves.is_guess[leaf]
        if expand(node, position, row, tree) and len(probabilities) > 0:
            set_priors(node, probabilities, leaf * (len(probabilities) // count), tree)
            look(node, row, position, policy, tree)
        if leaves.is_guess[leaf] == 0:
            path = leaves.path[row * tree.max_nodes : (row + 1) * tree.max_nodes]
            backup(path, number(leaves.length[row]), float(tree.value[node]), tree)
            if tree.lower[node] == tree.upper[node]:
                prove(row, path, number(leaves.length[row]), tree)


@entry
def play_out(positions: Array, position_size: int, seeds: Array, values: Array) -> None:
    """One random game from each position; what it is worth to the side to move there."""
    for row in range(len(seeds)):
        values[row] = float(playout(load_position(positions, row * position_size), seeds[row]))


# ---- guesses -------------------------------------------------------------------------------------


@inline
def add_guesses(
    row: int,
    count: int,
    policy: Any,
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
    end, made = count + limits.leaves - 1, 1
    while count < end and made < min(len(walks.length), still + 1):
        if tree.nodes_used[row] + still >= tree.max_nodes:
            break
        node = guess(row, made, policy, tree, walks)
        if node != NONE:
            count = add_leaf(node, row, 1, leaves, count)
        made += 1
    take_back(row, made, tree, walks)
    return count


@inline
def guess(row: int, made: int, policy: Any, tree: Tree, walks: Walks) -> int:
    """Go on as if the walks made before had found what is expected; the leaf, or NONE where the
    walk ends at one that is judged or guessed already, or at an end of the game.
    """
    start = made * tree.max_nodes
    path = walks.path[start : start + tree.max_nodes]
    nodes = number(tree.nodes_used[row])
    node, length = walk(row, ZERO, policy, tree, path)
    walks.length[made] = length
    remember(made, tree, walks)
    if tree.is_judged[node] == 1:
        walks.judged[made] = node
        tree.is_judged[node] = 0
        backup(path, length, float(tree.value[node]), tree)
        return NONE
    expect(row, made, tree, walks)
    if tree.nodes_used[row] == nodes:
        return NONE
    position = position_of(node, tree)
    if is_final(position.terminated, position.ply):
        tree.nodes_used[row] -= 1
        tree.edge_child[path[length - 1]] = NONE
        return NONE
    return node


@inline
def remember(made: int, tree: Tree, walks: Walks) -> None:
    """Write down what `take_back` restores."""
    start = made * tree.max_nodes
    for k in range(start, start + number(walks.length[made])):
        walks.total[k] = tree.edge_total[walks.path[k]]
    walks.judged[made] = NONE


@inline
def expect(row: int, made: int, tree: Tree, walks: Walks) -> None:
    """Give the edges of a walk, whose visit is counted already, the value that is expected."""
    start = made * tree.max_nodes
    path = walks.path[start : start + tree.max_nodes]
    for k in range(number(walks.length[made])):
        edge = number(path[k])
        tries = number(tree.edge_visits[edge]) - 1
        if tries > 0:
            tree.edge_total[edge] += tree.edge_total[edge] / tries
        else:
            node = node_on_path(k, row, path, tree)
            others = number(tree.visits[node]) - 1
            if others > 0:
                tree.edge_total[edge] = total_value(node, tree) / others


@inline
def take_back(row: int, walks_made: int, tree: Tree, walks: Walks) -> None:
    """Undo what was expected of all walks, and what was counted of those that were guesses."""
    for made in range(walks_made - 1, -1, -1):
        start = made * tree.max_nodes
        path = walks.path[start : start + tree.max_nodes]
        for k in range(number(walks.length[made]) - 1, -1, -1):
            edge = number(path[k])
            tree.edge_total[edge] = walks.total[start + k]
            if made > 0:
                tree.visits[node_on_path(k, row, path, tree)] -= 1
                tree.edge_visits[edge] -= 1
        if walks.judged[made] != NONE:
            tree.is_judged[walks.judged[made]] = 1
