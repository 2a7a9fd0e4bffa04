"""Monte Carlo tree search of many positions, each in a tree of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np

from boardenvs.game.contract import Game
from boardenvs.game.state import Array, FloatArray, IntArray, State, WordArray, take
from boardenvs.kernel import get_backend
from boardenvs.kernel.link import array_for_loops
from boardenvs.search import loops_playout, loops_random, loops_trees, loops_uct
from boardenvs.search.memory import linked, node_width, node_words, numbers, reals, words
from boardenvs.search.playouts import play_out

LOOPS = (loops_random, loops_playout, loops_uct, loops_trees)

# Edges that a tree has room for, by its nodes: about twice what games have on average. A position
# that finds no room stays a leaf.
_EDGES_PER_NODE = 48
_EDGES = 1 << 22  # of all trees that are searched together; about 200 MB
# In one call, so that Ctrl-C is heard: in compiled code some 10 ms.
_ROLLOUTS_A_CALL = 1 << 12
# Playing out so many positions one at a time takes Python as long as NumPy takes for all at once.
_FEW = 16


class Evaluator(Protocol):
    """What judges positions in place of random games."""

    def evaluate(self, game: Game, state: State) -> tuple[Array, Array]:
        """The probability of each action, (B, A) float32, and the value to the side to move,
        (B,) float32 from -1 to 1.
        """
        ...


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
    tries: IntArray = np.zeros((len(seeds), game.num_actions), np.int64)
    sums: FloatArray = np.zeros((len(seeds), game.num_actions))
    for part in _parts(len(seeds), rollouts):
        forest = _Forest(game, take(state, part), seeds[part], rollouts, c, leaves, evaluator)
        forest.grow()
        forest.read(tries[part], sums[part])
    return tries, sums / np.maximum(tries, 1)


def _parts(rows: int, rollouts: int) -> Iterator[slice]:
    """As many trees at a time as memory is meant for."""
    size = max(1, _EDGES // (_EDGES_PER_NODE * (rollouts + 1)))
    for start in range(0, rows, size):
        yield slice(start, min(start + size, rows))


class _Forest:
    """The trees that are searched together, in arrays one tree after the other."""

    def __init__(
        self, game: Game, state: State, seeds: WordArray, rollouts: int, c: float, leaves: int,
        evaluator: Evaluator | None,
    ) -> None:  # fmt: skip
        self._game, self._rollouts, self._c, self._leaves = game, rollouts, c, leaves
        self._evaluator = evaluator
        self._loops = linked(game, get_backend(), LOOPS)
        self._trees = trees = len(seeds)
        self._width = node_width(game)
        self._to_move, self._ply = state.to_move.astype(np.uint64), state.ply.astype(np.uint64)
        self._columns = [array_for_loops(self._to_move), array_for_loops(self._ply)]
        self._seeds = array_for_loops(seeds.copy())
        self._node_room = rollouts + 1
        edges_below = _EDGES_PER_NODE * rollouts
        widest = np.bitwise_count(state.legal_bits).sum(axis=1, dtype=np.int64).max(initial=0)
        self._edge_stride = edges_below + int(widest)
        self._nodes = words(trees * self._node_room * self._width)
        self._links = numbers(trees * self._node_room * loops_uct.LINKS)
        self._edges = numbers(trees * self._edge_stride * loops_uct.EDGE)
        self._sums = reals(trees * self._edge_stride)
        self._priors = reals(trees * self._edge_stride if evaluator else 1)
        self._sizes = numbers(trees * loops_uct.SIZES)
        self._plant(state, edges_below)

    def _plant(self, state: State, edges_below: int) -> None:
        """Make the roots and their edges."""
        self._loops.plant(
            array_for_loops(node_words(state)), self._trees, self._node_room, edges_below,
            self._nodes, self._links, self._sizes,
        )  # fmt: skip
        found: IntArray = np.zeros((self._trees, loops_trees.LEAF), np.int64)
        found[:, loops_trees.LEAF_NODE] = np.arange(self._trees) * self._node_room
        over = state.terminated | self._game.truncated(state)
        found[over, loops_trees.LEAF_FINAL] = 1
        chances: FloatArray = np.zeros((self._trees, self._game.num_actions))
        if self._evaluator is not None and not over.all():
            chances[~over] = self._evaluator.evaluate(self._game, take(state, ~over))[0]
        self._absorb(
            1, numbers(self._trees * self._node_room), found, np.zeros(self._trees), chances
        )

    def grow(self) -> None:
        """Judge as many positions in each tree as asked for."""
        one_by_one = get_backend() == "numba" or self._trees < _FEW
        if self._evaluator is None and self._leaves == 1 and one_by_one:
            self._grow_alone()
        else:
            self._grow_together()

    def _grow_alone(self) -> None:
        path = numbers(self._node_room)
        at_once = max(1, _ROLLOUTS_A_CALL // self._rollouts)
        for first in range(0, self._trees, at_once):
            last = min(first + at_once, self._trees)
            self._loops.grow(
                *self._columns, first, last, self._rollouts, self._c, self._node_room,
                self._edge_stride, self._seeds, self._nodes, self._links, self._edges, self._sums,
                self._priors, self._sizes, path,
            )  # fmt: skip

    def _grow_together(self) -> None:
        rows = self._trees * self._leaves
        paths = numbers(rows * self._node_room)
        for done in range(0, self._rollouts, self._leaves):
            self._grow_by(min(self._leaves, self._rollouts - done), paths)

    def _grow_by(self, leaves: int, paths: Any) -> None:
        """Judge so many positions in each tree, at once."""
        rows = self._trees * leaves
        found: IntArray = np.zeros((rows, loops_trees.LEAF), np.int64)
        positions: WordArray = np.zeros((rows, self._width), np.uint64)
        leaf_seeds: WordArray = np.zeros(rows, np.uint64)
        values: FloatArray = np.zeros(rows)
        self._loops.select(
            *self._columns, self._trees, leaves, self._c, int(self._evaluator is not None),
            self._node_room, self._seeds, self._nodes, self._links, self._edges, self._sums,
            self._priors, self._sizes, paths, self._node_room, _flat(found), _flat(positions),
            _flat(leaf_seeds), _flat(values),
        )  # fmt: skip
        live = np.flatnonzero(found[:, loops_trees.LEAF_FINAL] == 0)
        chances = self._judge(live, leaves, found, positions, leaf_seeds, values)
        self._absorb(leaves, paths, found, values, chances)

    def _absorb(
        self, leaves: int, paths: Any, found: IntArray, values: FloatArray, chances: FloatArray
    ) -> None:
        self._loops.absorb(
            self._trees, leaves, self._game.num_actions, int(self._evaluator is not None),
            self._edge_stride, self._nodes, self._links, self._edges, self._sums, self._priors,
            self._sizes, paths, self._node_room, _flat(found), _flat(values), _flat(chances),
        )  # fmt: skip

    def _judge(
        self, live: IntArray, leaves: int, found: IntArray, positions: WordArray,
        leaf_seeds: WordArray, values: FloatArray,
    ) -> FloatArray:  # fmt: skip
        """Fill in the values of the live leaves; returns each leaf's probabilities of actions."""
        length = found[live, loops_trees.LEAF_LENGTH]
        tree = live // leaves
        state = State(
            own=positions[live, 0],
            opp=positions[live, 1],
            legal_bits=positions[live, 2:-1],
            to_move=(self._to_move[tree].astype(np.int64) + length & 1).astype(np.int8),
            ply=(self._ply[tree].astype(np.int64) + length).astype(np.int32),
            terminated=positions[live, -1] != 0,
        )
        if self._evaluator is None:
            values[live] = self._play_out(state, leaf_seeds[live])
            return np.zeros(1)
        chances: FloatArray = np.zeros((len(found), self._game.num_actions))
        if len(live):
            chances[live], values[live] = self._evaluator.evaluate(self._game, state)
        return chances

    def _play_out(self, state: State, seeds: WordArray) -> Array:
        if get_backend() == "numpy":
            return play_out(self._game, state, seeds)
        values: FloatArray = np.zeros(len(seeds))
        columns = (state.to_move.astype(np.uint64), state.ply.astype(np.uint64), seeds)
        self._loops.play_out(node_words(state), *columns, len(seeds), values)
        return values

    def read(self, tries: IntArray, sums: FloatArray) -> None:
        """Add up the roots' actions, into rows of arrays (trees, A)."""
        for tree in range(self._trees):
            self._loops.visits(
                tree, self._node_room, self._links, self._edges, self._sums,
                _flat(tries[tree]), _flat(sums[tree]),
            )  # fmt: skip


def _flat(array: Array) -> Any:
    return array_for_loops(array.reshape(-1))
