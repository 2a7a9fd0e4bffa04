"""Monte Carlo tree search of many positions, each in a tree of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from boardenvs.game.contract import Game
from boardenvs.game.state import FloatArray, IntArray, State, WordArray, take
from boardenvs.kernel import get_backend
from boardenvs.kernel.link import array_for_loops
from boardenvs.search.compiled import simulations
from boardenvs.search.compiled.mcts import Selection
from boardenvs.search.compiled.simulations import Leaves
from boardenvs.search.compiled.tree import NONE, Tree
from boardenvs.search.compiler import compile_for
from boardenvs.search.evaluator import Evaluator
from boardenvs.search.memory import (
    flat,
    numbers,
    position_size,
    position_words,
    room,
    state_of_words,
)
from boardenvs.search.playouts import play_out

# Edges that a tree has room for, by its nodes: about twice what games have on average. A position
# that finds no room stays a leaf.
_EDGES_PER_NODE = 48
_EDGES = 1 << 22  # of all trees that are searched together; about 200 MB
MAX_ROLLOUTS = _EDGES // _EDGES_PER_NODE - 1  # in a single tree
# In one call, so that Ctrl-C is heard: in compiled code some 10 ms.
_ROLLOUTS_A_CALL = 1 << 12
# Playing out so many positions one at a time takes Python as long as NumPy takes for all at once.
_FEW = 16


class TreeSettings(NamedTuple):
    """What all trees of a search have in common; see `search_trees`."""

    rollouts: int  # that there is room for
    c: float
    leaves: int = 1
    evaluator: Evaluator | None = None


def search_trees(
    game: Game,
    state: State,
    seeds: WordArray,
    *,
    rollouts: int,
    c: float,
    leaves: int = 1,
    evaluator: Evaluator | None = None,
) -> tuple[IntArray, FloatArray]:
    """How often each action was tried, (B, A) int64, and its mean value, (B, A) float64, -1 to 1.

    `rollouts` positions below each root are judged, `leaves` of them at a time, by a random game or
    by the evaluator. `c` weighs exploring. Actions never tried have value 0, and where a game is
    over none is tried. The same seeds, (B,) uint64, give the same results; rows know nothing of
    one another.
    """
    settings = TreeSettings(rollouts, c, leaves, evaluator)
    visits: IntArray = np.zeros((len(seeds), game.num_actions), np.int64)
    totals: FloatArray = np.zeros((len(seeds), game.num_actions))
    for part in _parts(len(seeds), rollouts):
        trees = Trees(game, take(state, part), seeds[part], settings)
        trees.search(rollouts)
        trees.read(visits[part], totals[part])
    return visits, totals / np.maximum(visits, 1)


def _parts(rows: int, rollouts: int) -> Iterator[slice]:
    """As many trees at a time as memory is meant for."""
    size = max(1, _EDGES // (_EDGES_PER_NODE * (rollouts + 1)))
    for start in range(0, rows, size):
        yield slice(start, min(start + size, rows))


def edges_below(rollouts: int) -> int:
    """The room for edges that a tree has beside those of its root."""
    return _EDGES_PER_NODE * rollouts


def empty_tree(game: Game, seeds: WordArray, max_nodes: int, edge_stride: int) -> Tree:
    """Room for so many nodes and edges in each of T trees, one for each of the seeds (T,)."""
    size = position_size(game)
    nodes, edges = len(seeds) * max_nodes, len(seeds) * edge_stride
    whole, real = np.int64, np.float64
    first_edge, edges_of_node, visits = room(nodes, whole, whole, whole)
    edge_action, edge_child, edge_visits, edge_total, edge_prior = room(
        edges, whole, whole, whole, real, real
    )
    return Tree(
        positions=room(nodes * size, np.uint64)[0],
        first_edge=first_edge,
        edges=edges_of_node,
        visits=visits,
        edge_action=edge_action,
        edge_child=edge_child,
        edge_visits=edge_visits,
        edge_total=edge_total,
        edge_prior=edge_prior,
        nodes_used=numbers(len(seeds)),
        edges_used=numbers(len(seeds)),
        max_edges=numbers(len(seeds)),
        seeds=array_for_loops(seeds.copy()),
        max_nodes=max_nodes,
        edge_stride=edge_stride,
        position_size=size,
    )


class Trees:
    """Trees that are searched together, one for each row of a state; seeds are (B,) uint64.

    How the rollouts are divided between calls of `search` does not change the result, if each but
    the last is given a multiple of `leaves`.
    """

    def __init__(self, game: Game, state: State, seeds: WordArray, settings: TreeSettings) -> None:
        self._game, self._settings, self._size = game, settings, len(seeds)
        self._compiled = compile_for(game, get_backend(), simulations)
        self._selection = Selection(settings.c, int(settings.evaluator is not None))
        below = edges_below(settings.rollouts)
        widest = np.bitwise_count(state.legal_bits).sum(axis=1, dtype=np.int64).max(initial=0)
        self._tree = empty_tree(game, seeds, settings.rollouts + 1, below + int(widest))
        self._add_roots(state, below)

    def _add_roots(self, state: State, edges_below: int) -> None:
        """The roots, expanded."""
        self._compiled.add_roots(flat(position_words(state)), edges_below, self._tree)
        leaves = self._leaves(self._size)
        over = state.terminated | self._game.truncated(state)
        leaves.node[:] = np.arange(self._size) * self._tree.max_nodes
        leaves.final[:] = over
        probabilities = self._no_probabilities(self._size)
        if self._settings.evaluator is not None and not over.all():
            live = take(state, ~over)
            probabilities[~over] = self._settings.evaluator.evaluate(self._game, live)[0]
        self._expand_and_backup(leaves, probabilities)

    def search(self, rollouts: int) -> None:
        """Judge so many more positions in each tree; in all no more than there is room for."""
        one_by_one = get_backend() == "numba" or self._size < _FEW
        if self._settings.evaluator is None and self._settings.leaves == 1 and one_by_one:
            self._simulate(rollouts)
            return
        leaves = self._settings.leaves
        for done in range(0, rollouts, leaves):
            self._judge_leaves(min(leaves, rollouts - done))

    def _simulate(self, rollouts: int) -> None:
        """Tree by tree and leaf by leaf, judged by random games in compiled code."""
        path = numbers(self._tree.max_nodes)
        at_once = max(1, _ROLLOUTS_A_CALL // rollouts)
        for first in range(0, self._size, at_once):
            last = min(first + at_once, self._size)
            self._compiled.simulate(first, last, rollouts, self._selection, self._tree, path)

    def _judge_leaves(self, per_tree: int) -> None:
        """Select so many leaves in each tree, judge them all together and expand them."""
        leaves = self._leaves(self._size * per_tree)
        self._compiled.select_leaves(
            self._selection, self._tree, Leaves(*map(array_for_loops, leaves))
        )
        live = np.flatnonzero(leaves.final == 0)
        positions = np.asarray(self._tree.positions).reshape(-1, self._tree.position_size)
        state = state_of_words(positions[leaves.node[live]])
        probabilities = self._no_probabilities(len(leaves.node))
        if self._settings.evaluator is None:
            leaves.value[live] = self._play_out(state, leaves.seed[live])
        elif len(live):
            judged = self._settings.evaluator.evaluate(self._game, state)
            probabilities[live], leaves.value[live] = judged
        self._expand_and_backup(leaves, probabilities)

    def _expand_and_backup(self, leaves: Leaves, probabilities: FloatArray) -> None:
        self._compiled.expand_and_backup(
            Leaves(*map(array_for_loops, leaves)), self._selection, flat(probabilities), self._tree
        )

    def _leaves(self, rows: int) -> Leaves:
        """Room for so many leaves, as arrays."""
        return Leaves(
            node=np.zeros(rows, np.int64),
            final=np.zeros(rows, np.int64),
            value=np.zeros(rows),
            seed=np.zeros(rows, np.uint64),
            path=np.empty(rows * self._tree.max_nodes, np.int64),
            length=np.zeros(rows, np.int64),
        )

    def _no_probabilities(self, leaves: int) -> FloatArray:
        """Of each leaf's actions, if priors are used."""
        return np.zeros((leaves, self._game.num_actions) if self._selection.uses_priors else 1)

    def _play_out(self, state: State, seeds: WordArray) -> FloatArray | IntArray:
        if get_backend() == "numpy":
            return play_out(self._game, state, seeds)
        values: FloatArray = np.zeros(len(seeds))
        self._compiled.play_out(
            flat(position_words(state)), self._tree.position_size, seeds, values
        )
        return values

    def read(self, visits: IntArray, totals: FloatArray) -> None:
        """Add up the roots' actions, into rows of arrays (trees, A)."""
        for row in range(self._size):
            self._compiled.read_root(row, self._tree, flat(visits[row]), flat(totals[row]))

    def line(self, row: int, action: int) -> list[int]:
        """An action at the root of a tree and, after it, those tried most often; ends where none
        has been tried.
        """
        tree = self._tree
        edge = next(e for e in self._edges(row * tree.max_nodes) if tree.edge_action[e] == action)
        line = [action]
        while (node := tree.edge_child[edge]) != NONE:
            edge = max(self._edges(node), key=lambda e: tree.edge_visits[e], default=NONE)
            if edge == NONE or tree.edge_visits[edge] == 0:
                break
            line.append(int(tree.edge_action[edge]))
        return line

    def _edges(self, node: int) -> range:
        first = int(self._tree.first_edge[node])
        return range(first, first + int(self._tree.edges[node]))
