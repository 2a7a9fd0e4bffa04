"""What Python calls of Monte Carlo tree search, linked after `loops_uct`."""

from __future__ import annotations

from boardenvs.kernel.loops import (
    ONE,
    WIDTH,
    WORDS,
    Array,
    load,
    number,
    popcount,
    store,
    word,
)
from boardenvs.search.loops_playout import is_final, outcome, playout
from boardenvs.search.loops_uct import (
    ACTION,
    COUNT,
    EDGE,
    EDGE_ROOM,
    EDGES_USED,
    FIRST,
    LINKS,
    NODES_USED,
    SIZES,
    TRIES,
    add_edges,
    add_node,
    add_priors,
    back_up,
    descend,
    next_seed,
)

# Numbers written for a leaf: its node, the length of its path, 1 if the game ends there.
LEAF_NODE, LEAF_LENGTH, LEAF_FINAL, LEAF = 0, 1, 2, 3


def plant(
    roots: Array, trees: int, node_room: int, edges_below: int, nodes: Array, links: Array,
    sizes: Array,
) -> None:  # fmt: skip
    """Begin each tree with its root, and with room for its edges and `edges_below` more."""
    for tree in range(trees):
        root = load(roots, tree * WIDTH)
        used = sizes[tree * SIZES : (tree + 1) * SIZES]
        used[NODES_USED] = 0
        used[EDGES_USED] = 0
        used[EDGE_ROOM] = edges_below
        for k in range(WORDS):
            used[EDGE_ROOM] += number(popcount(root[2 + k]))
        add_node(root, tree * node_room, nodes, links, used)


def grow(
    to_moves: Array, plies: Array, first: int, last: int, rollouts: int, c: float, node_room: int,
    edge_stride: int, seeds: Array, nodes: Array, links: Array, edges: Array, sums: Array,
    priors: Array, sizes: Array, path: Array,
) -> None:  # fmt: skip
    """Rollouts in the trees from `first` to before `last`, one after the other."""
    for tree in range(first, last):
        used = sizes[tree * SIZES : (tree + 1) * SIZES]
        for _ in range(rollouts):
            seed = next_seed(seeds, tree)
            index, length = descend(
                tree, to_moves[tree], plies[tree], c, 0, seed, node_room,
                nodes, links, edges, sums, priors, used, path,
            )  # fmt: skip
            node = load(nodes, index * WIDTH)
            to_move = to_moves[tree] ^ (word(length) & ONE)
            ply = plies[tree] + word(length)
            value = playout(node, to_move, ply, seed)
            if not is_final(node, ply):
                add_edges(index, tree * edge_stride, nodes, links, edges, sums, used)
            back_up(length, float(value), sums, path)


def select(
    to_moves: Array, plies: Array, trees: int, leaves: int, c: float, uses_priors: int,
    node_room: int, seeds: Array, nodes: Array, links: Array, edges: Array, sums: Array,
    priors: Array, sizes: Array, paths: Array, path_room: int, found: Array, positions: Array,
    leaf_seeds: Array, values: Array,
) -> None:  # fmt: skip
    """Walk to `leaves` positions in each tree; write what is known of them.

    Row tree * leaves + k of `found` has the numbers of a leaf, of `positions` its words, of
    `values` what it is worth where the game is over.
    """
    for tree in range(trees):
        used = sizes[tree * SIZES : (tree + 1) * SIZES]
        for k in range(leaves):
            row = tree * leaves + k
            seed = next_seed(seeds, tree)
            path = paths[row * path_room : (row + 1) * path_room]
            index, length = descend(
                tree, to_moves[tree], plies[tree], c, uses_priors, seed, node_room,
                nodes, links, edges, sums, priors, used, path,
            )  # fmt: skip
            node = load(nodes, index * WIDTH)
            to_move = to_moves[tree] ^ (word(length) & ONE)
            final = is_final(node, plies[tree] + word(length))
            found[row * LEAF + LEAF_NODE] = index
            found[row * LEAF + LEAF_LENGTH] = length
            found[row * LEAF + LEAF_FINAL] = 1 if final else 0
            store(positions, row * WIDTH, node)
            leaf_seeds[row] = seed
            values[row] = float(outcome(node, to_move)) if final else 0.0


def absorb(
    trees: int, leaves: int, actions: int, uses_priors: int, edge_stride: int, nodes: Array,
    links: Array, edges: Array, sums: Array, priors: Array, sizes: Array, paths: Array,
    path_room: int, found: Array, values: Array, chances: Array,
) -> None:  # fmt: skip
    """Give the leaves that `select` found their edges, and their values to the paths.

    `chances` has a row of `actions` probabilities for each leaf, if priors are used.
    """
    for row in range(trees * leaves):
        tree = row // leaves
        index = found[row * LEAF + LEAF_NODE]
        used = sizes[tree * SIZES : (tree + 1) * SIZES]
        fresh = found[row * LEAF + LEAF_FINAL] == 0 and links[index * LINKS + COUNT] == 0
        if fresh:
            fresh = add_edges(index, tree * edge_stride, nodes, links, edges, sums, used)
        if fresh and uses_priors == 1:
            add_priors(index, chances, row * actions, links, edges, priors)
        path = paths[row * path_room : (row + 1) * path_room]
        back_up(found[row * LEAF + LEAF_LENGTH], values[row], sums, path)


def visits(
    tree: int, node_room: int, links: Array, edges: Array, sums: Array, counts: Array, totals: Array
) -> None:
    """Write the tries and the sum of values of each action at the root."""
    root = tree * node_room * LINKS
    first = links[root + FIRST]
    for edge in range(first, first + links[root + COUNT]):
        action = edges[edge * EDGE + ACTION]
        counts[action] = edges[edge * EDGE + TRIES]
        totals[action] = sums[edge]


def play_out(
    positions: Array, to_moves: Array, plies: Array, seeds: Array, rows: int, values: Array
) -> None:
    """One random game from each position; what it is worth to the side to move there."""
    for row in range(rows):
        node = load(positions, row * WIDTH)
        values[row] = float(playout(node, to_moves[row], plies[row], seeds[row]))
