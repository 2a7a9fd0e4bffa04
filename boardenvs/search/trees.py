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
from boardenvs.search.compiled.simulations import Leaves, Plan
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
# Judged at once in a tree, with an evaluator, where nobody says how many: so many at most, and one
# more for so many visits of the root.
_LEAVES, _VISITS_A_LEAF = 16, 8
# Playing out so many positions one at a time takes Python as long as NumPy takes for all at once.
_FEW = 16


class TreeSettings(NamedTuple):
    """What all trees of a search have in common; see `search_trees`."""

    rollouts: int  # that there is room for
    c: float
    leaves: int | None = 1
    evaluator: Evaluator | None = None

    def leaves_at_once(self) -> tuple[int, int]:
        """Of a tree, at most; and the visits of its root for each after the first."""
        if self.leaves is not None:
            return self.leaves, 0
        return (1, 0) if self.evaluator is None else (_LEAVES, _VISITS_A_LEAF)


def search_trees(
    game: Game,
    state: State,
    seeds: WordArray,
    *,
    rollouts: int,
    c: float,
    leaves: int | None = 1,
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


class Trees:
    """Trees that are searched together, one for each row of a state; seeds are (B,) uint64.

    If leaves are judged one at a time, how the rollouts are divided between calls of `search` does
    not change the result.
    """

    def __init__(self, game: Game, state: State, seeds: WordArray, settings: TreeSettings) -> None:
        self._game, self._settings, self._size = game, settings, len(seeds)
        self._compiled = compile_for(game, get_backend(), simulations)
        self._selection = Selection(settings.c, int(settings.evaluator is not None))
        edges_below = _EDGES_PER_NODE * settings.rollouts
        widest = np.bitwise_count(state.legal_bits).sum(axis=1, dtype=np.int64).max(initial=0)
        self._tree = self._empty_tree(seeds, edges_below + int(widest))
        self._leaves = self._room_for_leaves()
        self._add_roots(state, edges_below)

    def _empty_tree(self, seeds: WordArray, edge_stride: int) -> Tree:
        """Room for all nodes and edges."""
        max_nodes, size = self._settings.rollouts + 1, position_size(self._game)
        nodes, edges = self._size * max_nodes, self._size * edge_stride
        whole, real = np.int64, np.float64
        first_edge, edges_of_node, visits = room(nodes, whole, whole, whole)
        edge_action, edge_child, edge_visits, edge_pending, edge_total, edge_prior = room(
            edges, whole, whole, whole, whole, real, real
        )
        return Tree(
            positions=room(nodes * size, np.uint64)[0],
            first_edge=first_edge,
            edges=edges_of_node,
            visits=visits,
            edge_action=edge_action,
            edge_child=edge_child,
            edge_visits=edge_visits,
            edge_pending=edge_pending,
            edge_total=edge_total,
            edge_prior=edge_prior,
            nodes_used=numbers(self._size),
            edges_used=numbers(self._size),
            max_edges=numbers(self._size),
            seeds=array_for_loops(seeds.copy()),
            max_nodes=max_nodes,
            edge_stride=edge_stride,
            position_size=size,
        )

    def _room_for_leaves(self) -> Leaves:
        """As many as can be judged at once, as arrays for loops."""
        rows = self._size * self._settings.leaves_at_once()[0]
        whole = np.int64
        node, row, length, value, seed = room(rows, whole, whole, whole, np.float64, np.uint64)
        path = room(rows * self._tree.max_nodes, whole)[0]
        return Leaves(node=node, row=row, value=value, seed=seed, path=path, length=length)

    def _add_roots(self, state: State, edges_below: int) -> None:
        """The roots, expanded where the game goes on."""
        self._compiled.add_roots(flat(position_words(state)), edges_below, self._tree)
        over = state.terminated | self._game.truncated(state)
        live = np.flatnonzero(~over)
        probabilities = self._no_probabilities(len(live))
        if self._settings.evaluator is not None and len(live):
            probabilities[:] = self._settings.evaluator.evaluate(self._game, take(state, live))[0]
        leaves, count = self._leaves, len(live)
        np.asarray(leaves.node)[:count] = live * self._tree.max_nodes
        np.asarray(leaves.row)[:count] = live
        np.asarray(leaves.value)[:count] = 0.0
        np.asarray(leaves.length)[:count] = 0
        self._expand_and_backup(count, probabilities)

    def search(self, rollouts: int) -> None:
        """Judge so many more positions in each tree; in all no more than there is room for."""
        roots = np.arange(self._size) * self._tree.max_nodes
        targets: IntArray = np.asarray(self._tree.visits)[roots] + rollouts
        plan = Plan(array_for_loops(targets), *self._settings.leaves_at_once())
        one_by_one = get_backend() == "numba" or self._size < _FEW
        if self._settings.evaluator is None and plan.leaves == 1 and one_by_one:
            self._simulate(rollouts, plan)
            return
        while count := self._compiled.select_leaves(
            self._selection, plan, self._tree, self._leaves
        ):
            self._judge_leaves(count)

    def _simulate(self, rollouts: int, plan: Plan) -> None:
        """Tree by tree and leaf by leaf, judged by random games in compiled code."""
        path = numbers(self._tree.max_nodes)
        at_once = max(1, _ROLLOUTS_A_CALL // rollouts)
        for first in range(0, self._size, at_once):
            last = min(first + at_once, self._size)
            self._compiled.simulate(first, last, self._selection, plan, self._tree, path)

    def _judge_leaves(self, count: int) -> None:
        """Judge the first leaves all together, and expand them."""
        nodes = np.asarray(self._leaves.node)[:count]
        positions = np.asarray(self._tree.positions).reshape(-1, self._tree.position_size)
        state = state_of_words(positions[nodes])
        probabilities = self._no_probabilities(count)
        values = np.asarray(self._leaves.value)[:count]
        if self._settings.evaluator is None:
            values[:] = self._play_out(state, np.asarray(self._leaves.seed)[:count])
        else:
            probabilities[:], values[:] = self._settings.evaluator.evaluate(self._game, state)
        self._expand_and_backup(count, probabilities)

    def _expand_and_backup(self, count: int, probabilities: FloatArray) -> None:
        self._compiled.expand_and_backup(
            count, self._leaves, self._selection, flat(probabilities), self._tree
        )

    def _no_probabilities(self, leaves: int) -> FloatArray:
        """Of each leaf's actions, if priors are used."""
        return np.zeros((leaves, self._game.num_actions if self._selection.uses_priors else 0))

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
