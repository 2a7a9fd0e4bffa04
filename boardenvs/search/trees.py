"""Monte Carlo tree search of many positions, each in a tree of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np

from boardenvs.game.contract import Game
from boardenvs.game.state import Array, FloatArray, IntArray, State, WordArray, take
from boardenvs.kernel import get_backend
from boardenvs.kernel.link import array_for_loops
from boardenvs.search.compiled import simulations as loops
from boardenvs.search.compiled.policies import (
    Exploration,
    look_for_no_win,
    select_by_bound,
)
from boardenvs.search.compiled.simulations import Leaves, TreeLimits, Walks
from boardenvs.search.compiled.tree import NONE, add_roots, copy_subtree, read_root
from boardenvs.search.compiler import (
    compile_for,
    flat,
    numbers,
    position_words,
    room,
    state_of_words,
)
from boardenvs.search.tree_arrays import Subtree, child_of, edges_of, empty_tree, shrunk
from boardenvs.utils.splitmix import GOLDEN, mix

_Function = TypeVar("_Function", bound=Callable[..., Any])

# Edges that a tree has room for, by its nodes: about twice what games have on average. A position
# that finds no room stays a leaf.
EDGES_PER_NODE = 48
# Of all trees that are searched together, but for guesses: about 200 MB.
_EDGES = 1 << 22
MAX_SIMULATIONS = _EDGES // EDGES_PER_NODE - 1  # in a single tree
# In one call, so that Ctrl-C is heard: in compiled code some 10 ms.
_SIMULATIONS_A_CALL = 1 << 12
_SIMULATIONS_A_QUESTION = 32  # between two questions whether to stop
# Judged at once, with an evaluator, where nobody says how many: in a tree, and in all of them.
_LEAVES, _LEAVES_TOGETHER = 8, 1024
_WALKS_A_LEAF = 2  # that guesses are made by: some end where another does
# Playing out so many positions one at a time takes Python as long as NumPy takes for all at once.
_FEW = 16


@runtime_checkable
class Evaluator(Protocol):
    """Ranks actions and judges positions, as policies do: in place of random games."""

    def evaluate(self, game: Game, state: State) -> tuple[Array, Array]:
        """The probability of each action, (B, A) float32, and the value to the side to move,
        (B,) float32 from -1 to 1.
        """
        ...


class TreeResults(NamedTuple):
    """What trees know of the actions of B positions, each to the side to move: -1 is a loss, 0 a
    draw, 1 a win.
    """

    visits: IntArray  # (B, A) int64: how often each was tried
    values: FloatArray  # (B, A) float64: the mean, or the result where proven; 0 where neither
    lower: IntArray  # (B, A) int64: the least that is proven of the result; -1 where nothing is
    upper: IntArray  # (B, A) int64: the most that is proven of it; 1 where nothing is, or -1 where
    # the action is illegal


class Policy(NamedTuple):
    """How trees select edges: what compiled search takes as its parts."""

    settings: Any  # a NamedTuple for loops
    parts: dict[str, Callable[..., Any]]  # by the names that `compiled.simulations` has for them
    until_proven: bool = True  # whether a tree is done once its root's result is proven


class TreeSettings(NamedTuple):
    """What all trees of a search have in common; see `search_trees`."""

    simulations: int  # that there is room for
    c: float
    leaves: int | None = None
    evaluator: Evaluator | None = None

    def policy(self) -> Policy:
        """UCT, or with an evaluator PUCT."""
        settings = Exploration(self.c, int(self.evaluator is not None))
        return Policy(settings, {"select_edge": select_by_bound, "look": look_for_no_win})

    def leaves_at_once(self, trees: int) -> int:
        """Of each of so many trees, at most."""
        if self.evaluator is None:
            return 1
        if self.leaves is not None:
            return min(self.leaves, self.simulations)
        return max(1, min(_LEAVES, _LEAVES_TOGETHER // max(trees, 1)))

    def most_nodes(self) -> int:
        """Of a tree: its root, those that simulations reach, and as many again for guesses."""
        return 1 + self.simulations * (1 if self.leaves_at_once(1) == 1 else 2)


def search_trees(
    game: Game,
    state: State,
    seeds: WordArray,
    *,
    simulations: int,
    c: float,
    leaves: int | None = None,
    evaluator: Evaluator | None = None,
) -> TreeResults:
    """What trees know of each row's actions: unpacked, `visits, values, lower, upper`.

    `simulations` positions below each root are judged by a random game or by the evaluator; fewer
    where the result is proven before, and none where the game is over. `c` weighs exploring. An
    evaluator is asked about up to `leaves` positions of each tree at a time: the next, and those
    that are likely to come after it, by default as many as is fast; that changes no more than
    the last digits of what a network says. The same seeds, (B,) uint64, give the same results; rows
    know nothing of one another.
    """
    settings = TreeSettings(simulations, c, leaves, evaluator)
    found = []
    for part in parts(len(seeds), simulations):
        trees = Trees(game, take(state, part), seeds[part], settings)
        trees.search(simulations)
        found.append(trees.read())
    return TreeResults(*map(np.concatenate, zip(*found, strict=True)))


def parts(rows: int, simulations: int) -> Iterator[slice]:
    """As many trees at a time as memory is meant for; one part where there are none."""
    size = max(1, _EDGES // (EDGES_PER_NODE * (simulations + 1)))
    for start in range(0, max(rows, 1), size):
        yield slice(start, min(start + size, rows))


class Trees:
    """Trees that are searched together, one for each row of a state; seeds are (B,) uint64.

    `kept` has what is known already of each row, from trees of the same settings, or None. How the
    simulations are divided between calls of `search` does not change the result. `policy` selects
    edges in place of that of the settings.
    """

    def __init__(
        self,
        game: Game,
        state: State,
        seeds: WordArray,
        settings: TreeSettings,
        kept: Sequence[Subtree | None] = (),
        policy: Policy | None = None,
    ) -> None:
        # A tree that was given more room may come back with more than the settings have room for.
        most = max((int(known.tree.nodes_used[0]) for known in kept if known), default=0)
        settings = settings._replace(simulations=max(settings.simulations, most - 1))
        self._game, self._settings, self._size = game, settings, len(seeds)
        self._policy = settings.policy() if policy is None else policy
        edges_below = EDGES_PER_NODE * (settings.most_nodes() - 1)
        widest = np.bitwise_count(state.legal_bits).sum(axis=1, dtype=np.int64).max(initial=0)
        self._at_once = settings.leaves_at_once(self._size)
        self.tree = empty_tree(game, seeds, settings.most_nodes(), edges_below + int(widest))
        self._room = settings.simulations
        self._roots = np.arange(self._size) * self.tree.max_nodes
        self._leaves, self._walks = self._room_for_leaves(), self._room_for_walks()
        # (T, A): what the evaluator gave the roots' actions; 0 where a root was kept, or is over.
        self.priors: FloatArray = np.zeros((self._size, game.num_actions))
        self.compiled(add_roots)(flat(position_words(state)), edges_below, self.tree)
        origins = room(self.tree.max_nodes, np.int64)[0]
        for row, known in enumerate(kept):
            if known is not None:
                self.compiled(copy_subtree)(known.node, known.tree, row, self.tree, origins)
        self._expand_roots(state)

    def compiled(self, function: _Function) -> _Function:
        """A function of the loop or of what it is made of, by this policy."""
        return compile_for(self._game, function, loops, **self._policy.parts)

    def _room_for_leaves(self) -> Leaves:
        """As many as can be judged at once, as arrays for loops."""
        rows = self._size * self._at_once
        whole = np.int64
        node, row, is_guess, value, seed = room(rows, whole, whole, whole, np.float64, np.uint64)
        path = room(self._size * self.tree.max_nodes, whole)[0]
        return Leaves(node, row, is_guess, value, seed, path, numbers(self._size))

    def _room_for_walks(self) -> Walks:
        walks = _WALKS_A_LEAF * self._at_once
        path, total = room(walks * self.tree.max_nodes, np.int64, np.float64)
        return Walks(path, total, numbers(walks), numbers(walks))

    def _expand_roots(self, state: State) -> None:
        """Those that have no edges, where the game goes on."""
        fresh = np.asarray(self.tree.edges)[self._roots] == 0
        live = np.flatnonzero(fresh & ~self._game.is_over(state))
        leaves, count = self._leaves, len(live)
        np.asarray(leaves.node)[:count] = self._roots[live]
        np.asarray(leaves.row)[:count] = live
        np.asarray(leaves.is_guess)[:count] = 0
        np.asarray(leaves.value)[:count] = 0.0
        if self._settings.evaluator is None or not count:
            self._expand_and_backup(count, np.zeros((count, 0)))
        else:
            self.priors[live] = self._judge(count, take(state, live))

    def search(self, simulations: int, stop: Callable[[], bool] | None = None) -> None:
        """Judge positions until there are so many in each tree, in all no more than there is room
        for; fewer where a result is proven, or when `stop()` is true, which is asked every few
        milliseconds. A tree alone is given more room as it needs it.
        """
        while simulations > self._room and self._size == 1:
            self._search(self._room, stop)
            if self.visits()[0] < self._room:
                return
            self._grow()
        self._search(simulations, stop)

    def _grow(self) -> None:
        """Twice the room, for a tree that is alone and has filled its own."""
        before = self.tree
        nodes, edges = 2 * before.max_nodes, 2 * before.edge_stride
        self.tree = empty_tree(self._game, np.asarray(before.seeds), nodes, edges)
        for name, array in before._asdict().items():
            if not isinstance(array, int):
                np.asarray(getattr(self.tree, name))[: len(array)] = array
        self.tree.max_edges[0] = edges
        self._room *= 2
        self._leaves, self._walks = self._room_for_leaves(), self._room_for_walks()

    def _search(self, simulations: int, stop: Callable[[], bool] | None) -> None:
        targets: IntArray = np.full(self._size, simulations)
        limits = TreeLimits(array_for_loops(targets), self._at_once, int(self._policy.until_proven))
        one_by_one = get_backend() == "numba" or self._size < _FEW
        if self._settings.evaluator is None and one_by_one:
            self._simulate(simulations, limits, stop)
            return
        select_leaves = self.compiled(loops.select_leaves)
        while count := select_leaves(
            self._policy.settings, limits, self.tree, self._leaves, self._walks
        ):
            nodes = np.asarray(self._leaves.node)[:count]
            positions = np.asarray(self.tree.positions).reshape(-1, self.tree.position_size)
            self._judge(count, state_of_words(positions[nodes]))
            if stop is not None and stop():
                return

    def visits(self) -> IntArray:
        """The positions judged in each tree, (T,) int64."""
        visits: IntArray = np.asarray(self.tree.visits)[self._roots]
        return visits

    def proven(self) -> tuple[IntArray, IntArray]:
        """The least and the most that each root's result can be to its side to move, (T,) int64."""
        tree = self.tree
        return np.asarray(tree.lower)[self._roots], np.asarray(tree.upper)[self._roots]

    def keep(self, row: int, action: int) -> Subtree | None:
        """What a tree knows after an action at its root; None where it was never tried."""
        tree, root = self.tree, row * self.tree.max_nodes
        node = child_of(tree, root, action)
        if node == NONE:
            return None
        nodes, edges = int(tree.visits[root]) + 1, int(tree.edges_used[row])
        part = empty_tree(self._game, np.zeros(1, np.uint64), nodes, edges)
        part.max_edges[0] = edges
        self.compiled(copy_subtree)(node, tree, 0, part, room(nodes, np.int64)[0])
        return Subtree(shrunk(part), 0)

    def _simulate(
        self, simulations: int, limits: TreeLimits, stop: Callable[[], bool] | None
    ) -> None:
        """Tree by tree and leaf by leaf, judged by random games in compiled code."""
        simulate, path = self.compiled(loops.simulate), numbers(self.tree.max_nodes)
        a_call = _SIMULATIONS_A_CALL if stop is None else _SIMULATIONS_A_QUESTION
        rows = max(1, a_call // max(simulations, 1))
        begun = self.visits()
        missing = simulations - int(begun.min(initial=simulations))
        for first in range(0, self._size, rows):
            last = min(first + rows, self._size)
            for done in range(0, missing, a_call):
                targets = array_for_loops(np.minimum(begun + done + a_call, simulations))
                step = limits._replace(targets=targets)
                simulate(first, last, self._policy.settings, step, self.tree, path)
                if stop is not None and stop():
                    return

    def _judge(self, count: int, state: State) -> FloatArray:
        """Judge the first leaves, which are these positions, all together, and expand them; returns
        the probabilities of their actions.
        """
        values = np.asarray(self._leaves.value)[:count]
        if self._settings.evaluator is None:
            probabilities: FloatArray = np.zeros((count, 0))
            values[:] = self._play_out(state, np.asarray(self._leaves.seed)[:count])
        else:
            judged, values[:] = self._settings.evaluator.evaluate(self._game, state)
            probabilities = np.asarray(judged, np.float64)
        self._expand_and_backup(count, probabilities)
        return probabilities

    def _expand_and_backup(self, count: int, probabilities: FloatArray) -> None:
        """Probabilities are (count, A), or (count, 0) without priors."""
        self.compiled(loops.expand_and_backup)(
            count,
            self._leaves,
            self._policy.settings,
            flat(np.ascontiguousarray(probabilities)),
            self.tree,
        )

    def _play_out(self, state: State, seeds: WordArray) -> FloatArray | IntArray:
        if get_backend() == "numpy":
            return play_out(self._game, state, seeds)
        values: FloatArray = np.zeros(len(seeds))
        positions = flat(position_words(state))
        self.compiled(loops.play_out)(positions, self.tree.position_size, seeds, values)
        return values

    def read(self) -> TreeResults:
        """What is known of the roots' actions."""
        read, shape = self.compiled(read_root), (self._size, self._game.num_actions)
        visits: IntArray = np.zeros(shape, np.int64)
        values: FloatArray = np.zeros(shape)
        bounds: IntArray = np.full((*shape, 2), -1)
        for row in range(self._size):
            read(row, self.tree, flat(visits[row]), flat(values[row]), flat(bounds[row]))
        return TreeResults(visits, values, bounds[..., 0], bounds[..., 1])

    def line(self, row: int, action: int) -> list[int]:
        """An action at the root of a tree and, after it, those tried most often, or where the
        result is proven those that reach it; ends where none has been tried.
        """
        tree = self.tree
        edge = next(
            e for e in edges_of(tree, row * tree.max_nodes) if tree.edge_action[e] == action
        )
        line = [action]
        while (node := int(tree.edge_child[edge])) != NONE:

            def promise(edge: int, node: int = node) -> tuple[bool, int]:
                child = tree.edge_child[edge]
                most = 1 if child == NONE else -tree.lower[child]
                return most >= tree.upper[node], int(tree.edge_visits[edge])

            edge = max(edges_of(tree, node), key=promise, default=NONE)
            if edge == NONE or tree.edge_visits[edge] == 0:
                break
            line.append(int(tree.edge_action[edge]))
        return line


def play_out(game: Game, state: State, seeds: WordArray) -> IntArray:
    """What one random game from each position is worth to its side to move: 1, 0 or -1, (B,) int64.

    Row i's game follows from its seed, (B,) uint64, and is the one of `compiled.position.playout`.
    """
    values: IntArray = np.zeros(len(state.ply), np.int64)
    starter = state.to_move.copy()
    seeds = seeds.copy()
    rows = np.arange(len(values))
    while len(rows):
        over = game.is_over(state)
        if over.any():
            ended = rows[over]
            sign = np.sign(game.score_margin(take(state, over)))
            same_side = state.to_move[over] == starter[ended]
            values[ended] = np.where(same_side, sign, -sign)
            rows, seeds, state = rows[~over], seeds[~over], take(state, ~over)
        if len(rows):
            seeds += np.uint64(GOLDEN)
            actions: IntArray = np.empty(len(rows), np.int64)
            game.kernels.sample.batch([state.legal_bits, mix(seeds)], [actions])
            state = game.step(state, actions)
    return values
