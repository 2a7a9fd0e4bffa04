"""Monte Carlo tree search of many positions, each in a tree of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from boardenvs.game.contract import Game
from boardenvs.game.state import FloatArray, IntArray, State, WordArray, take
from boardenvs.kernel import get_backend
from boardenvs.kernel.link import array_for_loops
from boardenvs.search.compiled import simulations
from boardenvs.search.compiled.guessing import Walks
from boardenvs.search.compiled.mcts import Selection
from boardenvs.search.compiled.simulations import Leaves, TreeLimits
from boardenvs.search.compiled.tree import NONE
from boardenvs.search.compiler import compile_for
from boardenvs.search.evaluator import Evaluator
from boardenvs.search.kept_tree import KeptTree, child_of, edges_of, shrunk
from boardenvs.search.memory import (
    empty_tree,
    flat,
    numbers,
    position_words,
    room,
    state_of_words,
)
from boardenvs.search.playouts import play_out
from boardenvs.search.results import TreeResults

# Edges that a tree has room for, by its nodes: about twice what games have on average. A position
# that finds no room stays a leaf.
EDGES_PER_NODE = 48
# Of all trees that are searched together, but for guesses: about 200 MB.
_EDGES = 1 << 22
MAX_ROLLOUTS = _EDGES // EDGES_PER_NODE - 1  # in a single tree
# In one call, so that Ctrl-C is heard: in compiled code some 10 ms.
_ROLLOUTS_A_CALL = 1 << 12
_ROLLOUTS_A_QUESTION = 32  # between two questions whether to stop
# Judged at once, with an evaluator, where nobody says how many: in a tree, and in all of them.
_LEAVES, _LEAVES_TOGETHER = 8, 1024
_WALKS_A_LEAF = 2  # that guesses are made by: some end where another does
# Playing out so many positions one at a time takes Python as long as NumPy takes for all at once.
_FEW = 16


class TreeSettings(NamedTuple):
    """What all trees of a search have in common; see `search_trees`."""

    rollouts: int  # that there is room for
    c: float
    leaves: int | None = None
    evaluator: Evaluator | None = None

    def leaves_at_once(self, trees: int) -> int:
        """Of each of so many trees, at most."""
        if self.evaluator is None:
            return 1
        if self.leaves is not None:
            return min(self.leaves, self.rollouts)
        return max(1, min(_LEAVES, _LEAVES_TOGETHER // max(trees, 1)))

    def most_nodes(self) -> int:
        """Of a tree: its root, those that rollouts reach, and as many again for guesses."""
        return 1 + self.rollouts * (1 if self.evaluator is None else 2)


def search_trees(
    game: Game,
    state: State,
    seeds: WordArray,
    *,
    rollouts: int,
    c: float,
    leaves: int | None = None,
    evaluator: Evaluator | None = None,
) -> TreeResults:
    """What trees know of each row's actions: unpacked, `visits, values, lower, upper`.

    `rollouts` positions below each root are judged by a random game or by the evaluator; fewer
    where the result is proven before, and none where the game is over. `c` weighs exploring. An
    evaluator is asked about up to `leaves` positions of each tree at a time: the next, and those
    that are likely to come after it, by default as many as is fast; that changes no more than
    the last digits of what a network says. The same seeds, (B,) uint64, give the same results; rows
    know nothing of one another.
    """
    settings = TreeSettings(rollouts, c, leaves, evaluator)
    found = []
    for part in parts(len(seeds), rollouts):
        trees = Trees(game, take(state, part), seeds[part], settings)
        trees.search(rollouts)
        found.append(trees.read())
    return TreeResults(*map(np.concatenate, zip(*found, strict=True)))


def parts(rows: int, rollouts: int) -> Iterator[slice]:
    """As many trees at a time as memory is meant for; one part where there are none."""
    size = max(1, _EDGES // (EDGES_PER_NODE * (rollouts + 1)))
    for start in range(0, max(rows, 1), size):
        yield slice(start, min(start + size, rows))


class Trees:
    """Trees that are searched together, one for each row of a state; seeds are (B,) uint64.

    `kept` has what is known already of each row, from trees of the same settings, or None. How the
    rollouts are divided between calls of `search` does not change the result.
    """

    def __init__(
        self,
        game: Game,
        state: State,
        seeds: WordArray,
        settings: TreeSettings,
        kept: Sequence[KeptTree | None] = (),
    ) -> None:
        self._game, self._settings, self._size = game, settings, len(seeds)
        self._compiled = compile_for(game, get_backend(), simulations)
        self._selection = Selection(settings.c, int(settings.evaluator is not None))
        edges_below = EDGES_PER_NODE * (settings.most_nodes() - 1)
        widest = np.bitwise_count(state.legal_bits).sum(axis=1, dtype=np.int64).max(initial=0)
        self._at_once = settings.leaves_at_once(self._size)
        self._tree = empty_tree(game, seeds, settings.most_nodes(), edges_below + int(widest))
        self._roots = np.arange(self._size) * self._tree.max_nodes
        self._leaves, self._walks = self._room_for_leaves(), self._room_for_walks()
        self._compiled.add_roots(flat(position_words(state)), edges_below, self._tree)
        self._go_on(kept)
        self._expand_roots(state)

    def _room_for_leaves(self) -> Leaves:
        """As many as can be judged at once, as arrays for loops."""
        rows = self._size * self._at_once
        whole = np.int64
        node, row, is_guess, value, seed = room(rows, whole, whole, whole, np.float64, np.uint64)
        path = room(self._size * self._tree.max_nodes, whole)[0]
        return Leaves(node, row, is_guess, value, seed, path, numbers(self._size))

    def _room_for_walks(self) -> Walks:
        walks = _WALKS_A_LEAF * self._at_once
        path, total = room(walks * self._tree.max_nodes, np.int64, np.float64)
        return Walks(path, total, numbers(walks), numbers(walks))

    def _go_on(self, kept: Sequence[KeptTree | None]) -> None:
        """Put what is known already in the place of roots without edges."""
        origins = room(self._tree.max_nodes, np.int64)[0]
        for row, known in enumerate(kept):
            if known is not None:
                self._compiled.copy_subtree(known.node, known.tree, row, self._tree, origins)

    def _expand_roots(self, state: State) -> None:
        """Those that have no edges, where the game goes on."""
        fresh = np.asarray(self._tree.edges)[self._roots] == 0
        over = state.terminated | self._game.is_truncated(state)
        live = np.flatnonzero(fresh & ~over)
        probabilities = self._no_probabilities(len(live))
        if self._settings.evaluator is not None and len(live):
            probabilities[:] = self._settings.evaluator.evaluate(self._game, take(state, live))[0]
        leaves, count = self._leaves, len(live)
        np.asarray(leaves.node)[:count] = live * self._tree.max_nodes
        np.asarray(leaves.row)[:count] = live
        np.asarray(leaves.is_guess)[:count] = 0
        np.asarray(leaves.value)[:count] = 0.0
        self._expand_and_backup(count, probabilities)

    def search(self, rollouts: int, stop: Callable[[], bool] | None = None) -> None:
        """Judge positions until there are so many in each tree, in all no more than there is room
        for; fewer where a result is proven, or when `stop()` is true, which is asked every few
        milliseconds.
        """
        targets: IntArray = np.full(self._size, rollouts)
        limits = TreeLimits(array_for_loops(targets), self._at_once)
        one_by_one = get_backend() == "numba" or self._size < _FEW
        if self._settings.evaluator is None and one_by_one:
            self._simulate(rollouts, limits, stop)
            return
        while count := self._compiled.select_leaves(
            self._selection, limits, self._tree, self._leaves, self._walks
        ):
            self._judge_leaves(count)
            if stop is not None and stop():
                return

    def visits(self) -> IntArray:
        """The positions judged in each tree, (T,) int64."""
        visits: IntArray = np.asarray(self._tree.visits)[self._roots]
        return visits

    def proven(self) -> tuple[IntArray, IntArray]:
        """The least and the most that each root's result can be to its side to move, (T,) int64."""
        tree = self._tree
        return np.asarray(tree.lower)[self._roots], np.asarray(tree.upper)[self._roots]

    def keep(self, row: int, action: int) -> KeptTree | None:
        """What a tree knows after an action at its root; None where it was never tried."""
        tree, root = self._tree, row * self._tree.max_nodes
        node = child_of(tree, root, action)
        if node == NONE:
            return None
        nodes, edges = int(tree.visits[root]) + 1, int(tree.edges_used[row])
        part = empty_tree(self._game, np.zeros(1, np.uint64), nodes, edges)
        part.max_edges[0] = edges
        self._compiled.copy_subtree(node, tree, 0, part, room(nodes, np.int64)[0])
        return KeptTree(shrunk(part), 0)

    def _simulate(self, rollouts: int, limits: TreeLimits, stop: Callable[[], bool] | None) -> None:
        """Tree by tree and leaf by leaf, judged by random games in compiled code."""
        path = numbers(self._tree.max_nodes)
        a_call = _ROLLOUTS_A_CALL if stop is None else _ROLLOUTS_A_QUESTION
        rows = max(1, a_call // max(rollouts, 1))
        begun = self.visits()
        missing = rollouts - int(begun.min(initial=rollouts))
        for first in range(0, self._size, rows):
            last = min(first + rows, self._size)
            for done in range(0, missing, a_call):
                targets = array_for_loops(np.minimum(begun + done + a_call, rollouts))
                step = limits._replace(targets=targets)
                self._compiled.simulate(first, last, self._selection, step, self._tree, path)
                if stop is not None and stop():
                    return

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

    def read(self) -> TreeResults:
        """What is known of the roots' actions."""
        shape = self._size, self._game.num_actions
        visits: IntArray = np.zeros(shape, np.int64)
        values: FloatArray = np.zeros(shape)
        bounds: IntArray = np.full((*shape, 2), -1)
        for row in range(self._size):
            parts = flat(visits[row]), flat(values[row]), flat(bounds[row])
            self._compiled.read_root(row, self._tree, *parts)
        return TreeResults(visits, values, bounds[..., 0], bounds[..., 1])

    def line(self, row: int, action: int) -> list[int]:
        """An action at the root of a tree and, after it, those tried most often, or where the
        result is proven those that reach it; ends where none has been tried.
        """
        tree = self._tree
        edge = next(
            e for e in edges_of(tree, row * tree.max_nodes) if tree.edge_action[e] == action
        )
        line = [action]
        while (node := tree.edge_child[edge]) != NONE:
            edge = max(edges_of(tree, node), key=self._liking_at(node), default=NONE)
            if edge == NONE or tree.edge_visits[edge] == 0:
                break
            line.append(int(tree.edge_action[edge]))
        return line

    def _liking_at(self, node: int) -> Callable[[int], tuple[bool, int]]:
        """How good an edge of a node is."""
        tree = self._tree

        def liking(edge: int) -> tuple[bool, int]:
            child = tree.edge_child[edge]
            most = 1 if child == NONE else -tree.lower[child]
            return most >= tree.upper[node], int(tree.edge_visits[edge])

        return liking
