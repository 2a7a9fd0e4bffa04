"""Monte Carlo tree search of batches of positions, one tree each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np

from boardenvs.game.game import Game
from boardenvs.game.state import Array, FloatArray, IntArray, State, WordArray, take
from boardenvs.search.compiled import simulations as loops
from boardenvs.search.compiled.policies import (
    Exploration,
    look_for_win,
    read_logits,
    select_by_bound,
    select_by_gumbel,
)
from boardenvs.search.compiled.position import TO_MOVE
from boardenvs.search.compiled.simulations import WALKS_A_LEAF, Leaves, Steps, TreeLimits
from boardenvs.search.compiled.tree import NONE, add_roots, copy_subtree, edges_of
from boardenvs.search.compiler import (
    Subtree,
    check_roots,
    check_seeds,
    child_of,
    compile_for,
    doubled,
    empty_tree,
    numbers,
    position_words,
    state_of_words,
)
from boardenvs.search.halving import GumbelSettings, gumbel_policy

_Function = TypeVar("_Function", bound=Callable[..., Any])

# Room for edges, for each node of a tree: about twice the mean of games. A position without room
# stays a leaf.
EDGES_PER_NODE = 48
# Edges of all trees that are searched together, without guesses: about 200 MB.
_EDGES = 1 << 22
MAX_SIMULATIONS = _EDGES // EDGES_PER_NODE - 1  # in a single tree
# In one call: some 10 ms in compiled code, so that Ctrl-C is heard.
_SIMULATIONS_A_CALL = 1 << 12
_SIMULATIONS_A_QUESTION = 32  # between two calls of `stop`
_LEAST_C = 1e-6
# Sequential halving starts with a root action for each 3 simulations, at most 16, as in the paper;
# for more simulations than these its schedule would be long.
_CONSIDERED, _SIMULATIONS_AN_ACTION, _MOST_HALVED = 16, 3, 1 << 12
# Default number of leaves evaluated at once: of a tree, and of all trees.
_LEAVES, _LEAVES_TOGETHER = 8, 1024


@runtime_checkable
class Evaluator(Protocol):
    """Ranks actions and judges positions, in place of random games."""

    def evaluate(self, game: Game, state: State) -> tuple[Array, Array]:
        """Return the probability of each action, (B, A) float32, and the value to the side to move,
        (B,) float32 from -1 to 1. Search divides the probabilities of legal actions by their sum.
        """
        ...


class TreeResults(NamedTuple):
    """Statistics of the actions of B positions, to the side to move: -1 is a loss, 0 a draw, 1 a
    win.
    """

    visits: IntArray  # (B, A) int64
    values: FloatArray  # (B, A) float64: the mean, or the result if proven; 0 without visits
    lower: IntArray  # (B, A) int64: proven lower bound of the result; -1 if nothing is proven
    upper: IntArray  # (B, A) int64: proven upper bound; 1 if nothing is proven, -1 if illegal
    # (B, A) float64: visits, then the improved policy's logits, or without an evaluator values; the
    # logits alone without sequential halving
    scores: FloatArray


class EdgeSelection(NamedTuple):
    """A policy of edge selection: the parts of compiled search."""

    settings: Any  # a NamedTuple for loops
    parts: dict[str, Callable[..., Any]]  # by their names in `compiled.simulations`
    until_proven: bool = True  # whether a tree is done once its root's result is proven


class TreeSettings(NamedTuple):
    """Settings of all trees of a search.

    `c` weighs exploration, or the evaluator's probabilities, against values.
    """

    simulations: int  # room for this number
    c: float
    evaluator: Evaluator | None = None
    leaves: int = _LEAVES  # most positions of a tree that the evaluator gets at a time
    # With an evaluator: those that a root's actions share by sequential halving; 0 if unknown.
    halved: int = 0

    def policy(self, game: Game, trees: int) -> EdgeSelection:
        """Return UCT, or with an evaluator Gumbel search without noise."""
        if self.evaluator is None:
            return EdgeSelection(Exploration(float(self.c)), {"select_edge": select_by_bound})
        halved = self.halved if self.halved <= _MOST_HALVED else 0
        considered = max(2, min(_CONSIDERED, halved // _SIMULATIONS_AN_ACTION))
        settings = GumbelSettings(halved, considered)
        settings = settings._replace(c_scale=settings.c_scale / max(self.c, _LEAST_C))
        return EdgeSelection(
            gumbel_policy(np.zeros((trees, game.num_actions)), settings, solves=True),
            {"select_edge": select_by_gumbel, "on_expand": look_for_win},
        )

    def leaves_at_once(self, trees: int) -> int:
        """Return the most leaves evaluated at once of each of these trees."""
        if self.evaluator is None:
            return 1
        return max(1, min(self.leaves, _LEAVES_TOGETHER // max(trees, 1)))

    def most_nodes(self) -> int:
        """Return the room of a tree: its root, and a node or, with guesses, two a simulation."""
        return 1 + self.simulations * (1 if self.leaves_at_once(1) == 1 else 2)


def parts(rows: int, simulations: int) -> Iterator[slice]:
    """Yield the parts of the rows whose trees fit into memory together; one part for 0 rows."""
    size = max(1, _EDGES // (EDGES_PER_NODE * (simulations + 1)))
    for start in range(0, max(rows, 1), size):
        yield slice(start, min(start + size, rows))


class Trees:
    """Trees that are searched together, one for each row of a state; seeds are (B,) uint64.

    Positions below each root are evaluated, by a random game or by the evaluator; none if the game
    is over. An evaluator gets several positions of a tree at a time: the next one, and probable
    later ones, which changes at most the last digits of a network's values. The same seeds give the
    same results, independent of other rows.

    `kept` has a subtree to start from for each row, from trees with the same settings, or None.
    Dividing the simulations between calls of `search` does not change the result. `policy` replaces
    the settings' edge selection. `roots` (B, A + 1) has the evaluator's probabilities and values of
    rows that it need not evaluate, and nan in place of other values.
    """

    def __init__(
        self,
        game: Game,
        state: State,
        seeds: WordArray,
        settings: TreeSettings,
        kept: Sequence[Subtree | None] = (),
        policy: EdgeSelection | None = None,
        roots: Array | None = None,
    ) -> None:
        # A subtree may be larger than the room in the settings.
        most = max((int(subtree.tree.nodes_used[0]) for subtree in kept if subtree), default=0)
        settings = settings._replace(simulations=max(settings.simulations, most - 1))
        self.game, self._settings = game, settings
        self._size = check_seeds(check_roots(game, state), seeds)
        self._policy = settings.policy(game, self._size) if policy is None else policy
        edges_below = min(EDGES_PER_NODE, game.num_actions) * (settings.most_nodes() - 1)
        widest = np.bitwise_count(state.legal_bits).sum(axis=1, dtype=np.int64).max(initial=0)
        self._at_once = settings.leaves_at_once(self._size)
        self.tree = empty_tree(game, seeds, settings.most_nodes(), edges_below + int(widest))
        if state.history is not None:
            self.tree.keys[:] = state.history.reshape(-1)
        self._room = settings.simulations
        self._roots = np.arange(self._size) * self.tree.max_nodes
        self._leaves, self._steps = self._working_memory()
        evaluator = settings.evaluator
        self.compiled(add_roots)(
            position_words(state).ravel(), edges_below, evaluator is None, self.tree
        )
        origins = np.empty(self.tree.max_nodes, np.int64)
        for row, subtree in enumerate(kept):
            if subtree is not None:
                self.compiled(copy_subtree)(subtree.node, subtree.tree, row, self.tree, origins)
        if evaluator is not None:
            live = (self.tree.edges[self._roots] == 0) & ~game.is_over(state)
            judged: Array = np.full((self._size, game.num_actions + 1), np.nan, np.float32)
            if roots is not None:
                judged = roots.copy()
            asked = live & np.isnan(judged[:, -1])
            if asked.any():
                judged[asked, :-1], judged[asked, -1] = self._judge(evaluator, take(state, asked))
            self._expand(self._roots[live], judged[live, :-1], judged[live, -1])
            self.priors = judged[:, :-1]  # (T, A): not of kept or finished roots
            scores = self._policy.settings.scores.reshape(self.priors.shape)
            with np.errstate(divide="ignore"):
                np.maximum(scores + np.log(self.priors), -1e9, out=scores)

    def compiled(self, function: _Function) -> _Function:
        """Return a function of compiled tree search with this policy."""
        return compile_for(self.game, function, loops, **self._policy.parts)

    def _working_memory(self) -> tuple[Leaves, Steps]:
        """Return room for the leaves that can be evaluated at once."""
        rows, nodes = self._size * self._at_once, self.tree.max_nodes
        leaves = Leaves(
            np.empty(rows, np.int64), np.empty(self._size * nodes, np.int64), numbers(self._size)
        )
        edge, node = np.empty((2, WALKS_A_LEAF * self._at_once * nodes), np.int64)
        return leaves, Steps(edge, node, np.empty(len(edge)))

    def search(self, simulations: int, stop: Callable[[], bool] | None = None) -> None:
        """Search until each tree has this number of simulations, within its room, or its result is
        proven, or `stop()`, called every few milliseconds, is true. A single tree gets more room as
        it needs it.
        """
        while simulations > self._room and self._size == 1:
            self._search(self._room, stop)
            if self.visits()[0] < self._room:
                return
            self.tree = doubled(self.game, self.tree)
            self._room *= 2
            self._leaves, self._steps = self._working_memory()
        self._search(simulations, stop)

    def _search(self, simulations: int, stop: Callable[[], bool] | None) -> None:
        targets: IntArray = np.full(self._size, simulations)
        limits = TreeLimits(targets, self._at_once, int(self._policy.until_proven))
        evaluator = self._settings.evaluator
        if evaluator is None:
            self._simulate(simulations, limits, stop)
            return
        select_leaves = self.compiled(loops.select_leaves)
        while count := select_leaves(
            self._policy.settings, limits, self.tree, self._leaves, self._steps
        ):
            nodes = self._leaves.node[:count]
            positions = self.tree.positions.reshape(-1, self.tree.position_size)
            judged = self._judge(evaluator, state_of_words(self.game, positions[nodes]))
            self._expand(nodes, *judged)
            if stop is not None and stop():
                return

    def visits(self) -> IntArray:
        """Return the simulations in each tree, (T,) int64."""
        return self.tree.visits[self._roots]

    def proven(self) -> tuple[IntArray, IntArray]:
        """Return proven bounds of each root's result to its side to move, each (T,) int64."""
        tree = self.tree
        return tree.lower[self._roots], tree.upper[self._roots]

    def keep(self, row: int, action: int) -> Subtree | None:
        """Return the subtree after a root's action, for tree reuse; None if it was never tried."""
        tree, root = self.tree, row * self.tree.max_nodes
        node = child_of(tree, root, action)
        if node == NONE:
            return None
        nodes, edges = int(tree.visits[root]) + 1, int(tree.edges_used[row])
        part = empty_tree(self.game, np.zeros(1, np.uint64), nodes, edges)
        part.max_edges[0] = edges
        self.compiled(copy_subtree)(node, tree, 0, part, np.empty(nodes, np.int64))
        return Subtree(part, 0)

    def _simulate(
        self, simulations: int, limits: TreeLimits, stop: Callable[[], bool] | None
    ) -> None:
        """Search tree by tree and leaf by leaf, with random games in compiled code."""
        simulate, path = self.compiled(loops.simulate), numbers(self.tree.max_nodes)
        a_call = _SIMULATIONS_A_CALL if stop is None else _SIMULATIONS_A_QUESTION
        rows = max(1, a_call // max(simulations, 1))
        begun = self.visits()
        missing = simulations - int(begun.min(initial=simulations))
        for first in range(0, self._size, rows):
            last = min(first + rows, self._size)
            for done in range(0, missing, a_call):
                targets = np.minimum(begun + done + a_call, simulations)
                step = limits._replace(targets=targets)
                simulate(first, last, self._policy.settings, step, self.tree, path)
                if stop is not None and stop():
                    return

    def _judge(self, evaluator: Evaluator, state: State) -> tuple[Array, Array]:
        """Return the evaluator's probabilities, (B, A) float32, and values, (B,) float32."""
        probabilities, values = (
            np.require(x, np.float32, ("C", "W")) for x in evaluator.evaluate(self.game, state)
        )
        shape = len(state.ply), self.game.num_actions
        if (probabilities.shape, values.shape) != (shape, shape[:1]):
            raise ValueError(
                f"the evaluator gave probabilities {probabilities.shape} and values "
                f"{values.shape}: they must be {shape} and {shape[:1]}"
            )
        if not np.isfinite(probabilities.sum() + values.sum()):  # as one is not, or one in them
            raise ValueError("the evaluator gave a value or a probability that is no number")
        return probabilities, values

    def _expand(self, nodes: IntArray, probabilities: Array, values: Array) -> None:
        """Expand these leaves, as the evaluator judged them."""
        self._leaves.node[: len(nodes)] = nodes
        self.compiled(loops.expand_and_backup)(
            self._leaves, self._policy.settings, values, probabilities.ravel(), self.tree
        )

    def read(self) -> TreeResults:
        """Return the statistics of the roots' actions."""
        tree = self.tree
        counts, shape = tree.edges[self._roots], (self._size, self.game.num_actions)
        rows, ends = np.repeat(np.arange(self._size), counts), np.cumsum(counts)
        edges = np.arange(len(rows)) + (tree.first_edge[self._roots] - ends + counts)[rows]
        child, tries = tree.edge_child[edges], tree.edge_visits[edges]
        lower, upper = self._bounds(child, self._roots[rows])
        mean = np.where(tries, tree.edge_total[edges] / np.maximum(tries, 1), 0.0)
        visits, lowest = np.zeros(shape, np.int64), np.full(shape, -1)
        scores = np.zeros(shape)
        results = TreeResults(visits, np.zeros(shape), lowest, lowest.copy(), scores)
        for of_actions, of_edges in zip(
            results[:4], (tries, np.clip(mean, lower, upper), lower, upper), strict=True
        ):
            of_actions[rows, tree.edge_action[edges]] = of_edges
        if self._settings.evaluator is None:
            scores[:] = visits + (results.values + 1) / 4
        else:
            policy = self._policy.settings
            self.compiled(read_logits)(policy, tree, scores.ravel())
            if policy.simulations:
                span = np.ptp(scores, axis=1, keepdims=True) + 1
                scores[:] = visits + (scores - scores.min(axis=1, keepdims=True)) / span
        return results

    def _bounds(self, child: IntArray, node: IntArray | int) -> tuple[IntArray, IntArray]:
        """Return proven bounds of the results at children (or NONE) to the sides at the nodes."""
        tree = self.tree
        to_move = tree.positions.reshape(-1, tree.position_size)[:, TO_MOVE]
        least, most = tree.lower[child], tree.upper[child]
        passed = to_move[child] != to_move[node]
        least, most = np.where(passed, -most, least), np.where(passed, -least, most)
        return np.where(child == NONE, -1, least), np.where(child == NONE, 1, most)

    def line(self, row: int, action: int) -> list[int]:
        """Return a root's action, followed by the most visited actions, or those that reach the
        result if it is proven; the line ends at a node without visits.
        """
        tree, line = self.tree, [action]
        node = child_of(tree, row * tree.max_nodes, action)
        while node != NONE and tree.edges[node]:
            edges = np.array(edges_of(node, tree))
            least, most = self._bounds(tree.edge_child[edges], node)
            promising = (least >= tree.lower[node]) & (most >= tree.upper[node])
            edge = edges[np.lexsort((-edges, tree.edge_visits[edges], promising))[-1]]
            if tree.edge_visits[edge] == 0:
                break
            line.append(int(tree.edge_action[edge]))
            node = int(tree.edge_child[edge])
        return line
