"""Monte Carlo tree search, linked after `loops_playout`.

Trees of many games lie side by side in flat arrays. A tree node is a position; its edges are its
legal actions, with their visits, their sum of values to the side that moves along them and, where
an evaluator gives them, prior probabilities. Without priors the edge is chosen by UCB1 (UCT, Kocsis
and Szepesvari 2006), with priors by PUCT (Silver et al. 2017).
"""

from __future__ import annotations

import math

from boardenvs.kernel.loops import (
    ONE,
    WIDTH,
    WORDS,
    ZERO,
    Array,
    Word,
    advance,
    load,
    number,
    store,
    trailing_zeros,
    word,
    wrap,
)
from boardenvs.search.loops_random import GOLDEN, mix

NONE = -1

# Numbers of a tree node, in `links`: its first edge, how many it has, its visits.
FIRST, COUNT, VISITS, LINKS = 0, 1, 2, 3
# Numbers of an edge, in `edges`: the action, the node it leads to, its visits.
ACTION, CHILD, TRIES, EDGE = 0, 1, 2, 3
# Numbers of a tree, in `sizes`: its nodes, its edges, and how many of these it has room for.
NODES_USED, EDGES_USED, EDGE_ROOM, SIZES = 0, 1, 2, 3


def add_node(node: tuple[Word, ...], base: int, nodes: Array, links: Array, used: Array) -> int:
    """Store a position without edges; returns its index."""
    index: int = base + used[NODES_USED]
    used[NODES_USED] += 1
    store(nodes, index * WIDTH, node)
    links[index * LINKS + FIRST] = NONE
    links[index * LINKS + COUNT] = 0
    links[index * LINKS + VISITS] = 0
    return index


def add_edges(
    index: int, base: int, nodes: Array, links: Array, edges: Array, sums: Array, used: Array
) -> bool:
    """Give a node its edges; False, and none, where the tree has no room left for them."""
    node = load(nodes, index * WIDTH)
    first = used[EDGES_USED]
    count = 0
    for k in range(WORDS):
        bits = node[2 + k]
        while bits != ZERO:
            if first + count >= used[EDGE_ROOM]:
                return False
            edge = base + first + count
            edges[edge * EDGE + ACTION] = 64 * k + number(trailing_zeros(bits))
            edges[edge * EDGE + CHILD] = NONE
            edges[edge * EDGE + TRIES] = 0
            sums[edge] = 0.0
            bits = bits & (bits - ONE)
            count += 1
    used[EDGES_USED] += count
    links[index * LINKS + FIRST] = base + first
    links[index * LINKS + COUNT] = count
    return True


def add_priors(
    index: int, chances: Array, start: int, links: Array, edges: Array, priors: Array
) -> None:
    """Give a node's edges the probabilities chances[start + action]."""
    first: int = links[index * LINKS + FIRST]
    for edge in range(first, first + links[index * LINKS + COUNT]):
        priors[edge] = chances[start + edges[edge * EDGE + ACTION]]


def choose_by_ucb(
    index: int, c: float, random: Word, links: Array, edges: Array, sums: Array
) -> int:
    """The edge to follow: one never tried, by chance, or the one of the highest UCB1."""
    first: int = links[index * LINKS + FIRST]
    count: int = links[index * LINKS + COUNT]
    untried = 0
    for edge in range(first, first + count):
        if edges[edge * EDGE + TRIES] == 0:
            untried += 1
    if untried > 0:
        k = number(((random >> word(32)) * word(untried)) >> word(32))
        for edge in range(first, first + count):
            if edges[edge * EDGE + TRIES] == 0:
                if k == 0:
                    return edge
                k -= 1
    spread = c * math.sqrt(math.log(links[index * LINKS + VISITS]))
    best, best_bound = first, -1e9
    for edge in range(first, first + count):
        tries = edges[edge * EDGE + TRIES]
        bound = sums[edge] / tries + spread / math.sqrt(tries)
        if bound > best_bound:
            best, best_bound = edge, bound
    return best


def choose_by_puct(
    index: int, c: float, links: Array, edges: Array, sums: Array, priors: Array
) -> int:
    """The edge of the highest PUCT; one never tried counts as good as those tried, on average."""
    first: int = links[index * LINKS + FIRST]
    count: int = links[index * LINKS + COUNT]
    total, visits = 0.0, 0
    for edge in range(first, first + count):
        total += sums[edge]
        visits += edges[edge * EDGE + TRIES]
    average = total / visits if visits > 0 else 0.0
    spread = c * math.sqrt(visits + 1)
    best, best_bound = first, -1e9
    for edge in range(first, first + count):
        tries = edges[edge * EDGE + TRIES]
        mean = sums[edge] / tries if tries > 0 else average
        bound = mean + spread * priors[edge] / (1 + tries)
        if bound > best_bound:
            best, best_bound = edge, bound
    return best


def descend(
    tree: int, root_to_move: Word, root_ply: Word, c: float, uses_priors: int, seed: Word,
    node_room: int, nodes: Array, links: Array, edges: Array, sums: Array, priors: Array,
    used: Array, path: Array,
) -> tuple[int, int]:  # fmt: skip
    """Walk from the root to a position that has no edges, made new where an edge leads nowhere.

    Writes the edges walked to `path` and counts a try and a loss on each, which `back_up` corrects:
    walks before then avoid them (virtual loss, Chaslot et al. 2008). Returns the node's index and
    the length of the path.
    """
    index = tree * node_room
    to_move, ply = root_to_move, root_ply
    length = 0
    while links[index * LINKS + FIRST] != NONE:
        if uses_priors == 1:
            edge = choose_by_puct(index, c, links, edges, sums, priors)
        else:
            random = mix(wrap(seed + word(length + 1)))
            edge = choose_by_ucb(index, c, random, links, edges, sums)
        links[index * LINKS + VISITS] += 1
        edges[edge * EDGE + TRIES] += 1
        sums[edge] -= 1.0
        path[length] = edge
        length += 1
        child = edges[edge * EDGE + CHILD]
        if child == NONE:
            node = load(nodes, index * WIDTH)
            action = word(edges[edge * EDGE + ACTION])
            child = add_node(
                advance(node[0], node[1], to_move, ply, action),
                tree * node_room, nodes, links, used,
            )  # fmt: skip
            edges[edge * EDGE + CHILD] = child
        to_move = to_move ^ ONE
        ply = ply + ONE
        index = child
    return index, length


def back_up(length: int, value: float, sums: Array, path: Array) -> None:
    """Add the value, to the side to move at the path's end, to each edge's mover's sum."""
    for k in range(length - 1, -1, -1):
        value = -value
        sums[path[k]] += 1.0 + value


def next_seed(seeds: Array, tree: int) -> Word:
    """The tree's next seed."""
    seeds[tree] = wrap(seeds[tree] + word(GOLDEN))
    return mix(seeds[tree])
