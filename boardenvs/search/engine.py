"""Search of one game, compiled for it: the memory that a search works in, and calls of it."""

from __future__ import annotations

import time as clock
import warnings
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

import numpy as np

from boardenvs.game import Game
from boardenvs.kernel import get_backend
from boardenvs.kernel.backend import Backend
from boardenvs.kernel.link import array_for_loops
from boardenvs.search import loops_alphabeta, loops_choose, loops_endgame
from boardenvs.search.memory import linked, node_width, node_words, numbers, words
from boardenvs.state import IntArray, State, WordArray

MAX_DEPTH = 100  # plies of search at most; the table's tags know distances below 255
NO_LIMIT = 1 << 62
_PILOT = 0.02  # seconds of search that tell its speed

LOOPS = (loops_alphabeta, loops_endgame, loops_choose)
_SLOTS = 1 << 20  # of the transposition table, which has 32 MB


@dataclass(frozen=True)
class Results:
    """What searches found, one a row."""

    action: IntArray  # (B,) int64: the best; noop where the game is over
    value: IntArray  # (B,) int64: see `Engine.search`
    depth: IntArray  # (B,) int64: plies searched in full; empty squares where solved to the end
    exact: IntArray  # (B,) int64: 1 where no heuristic had a say in the value
    nodes: IntArray  # (B,) int64: positions generated


class Engine:
    """Alpha-beta search for one game, with a table of its own. Not for two threads at once."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self._loops = linked(game, get_backend(), LOOPS)
        records = (MAX_DEPTH + 1) * game.num_actions
        self._table = words(_SLOTS * loops_alphabeta.SLOT)
        self._buffer = words(records * (node_width(game) + 1))
        self._keys = numbers(records)
        self._counters = numbers(4)
        self._generation = 0
        self._nodes_per_second = 0.0

    def search(
        self,
        state: State,
        seeds: WordArray,
        *,
        depth: int = MAX_DEPTH,
        nodes: int | None = None,
        time: float | None = None,
        endgame: int = 0,
        forced: bool = False,
    ) -> Results:
        """Search each row deeper and deeper, to `depth` plies, or until `nodes` or about `time`
        seconds are spent.

        A value is the heuristic's; where the end is seen, WIN plus the margin (Othello) or less the
        plies until then (other games), with a minus sign for a loss, or 0 for a draw. In the
        Othello family positions with at most `endgame` empty squares are solved to the end at once.
        A position with one legal action is not searched unless `forced`. The same seeds, (B,)
        uint64, give the same results: rows know nothing of one another or of earlier calls.
        """
        rows = len(state.ply)
        columns = (state.to_move.astype(np.uint64), state.ply.astype(np.uint64), seeds)
        inputs = [array_for_loops(x) for x in (node_words(state), *columns)]
        out: IntArray = np.zeros((rows, loops_choose.OUT), np.int64)
        result = array_for_loops(out.reshape(-1))
        for row in range(rows):  # one at a time, so that Ctrl-C is heard
            limit = NO_LIMIT if nodes is None else nodes
            if time is not None:
                limit = min(limit, self._nodes_in(time, inputs, row, result))
            self._choose(inputs, row, min(depth, MAX_DEPTH), limit, endgame, forced, result)
        return Results(*out.T)

    def _choose(
        self, inputs: list[Any], row: int, depth: int, limit: int, endgame: int, forced: bool,
        result: Any,
    ) -> None:  # fmt: skip
        self._generation += 1  # forgets what the table holds
        began = clock.perf_counter()
        self._loops.choose(
            *inputs, row, depth, limit, endgame, int(forced), self._generation,
            self._table, self._buffer, self._keys, self._counters, result,
        )  # fmt: skip
        spent, nodes = clock.perf_counter() - began, self._counters[0]
        if spent >= _PILOT:
            self._nodes_per_second = nodes / spent

    def _nodes_in(self, seconds: float, inputs: list[Any], row: int, result: Any) -> int:
        """How many nodes take so long, by the last search that was long enough to tell."""
        if not self._nodes_per_second:
            self._choose(inputs, row, MAX_DEPTH, 1, 0, True, result)  # compiles
            self._nodes_per_second = 0.0
        nodes = 1 << 12
        while not self._nodes_per_second:
            self._choose(inputs, row, MAX_DEPTH, nodes, 0, True, result)
            if self._counters[0] < nodes:
                return NO_LIMIT  # that was all there is to search
            nodes *= 4
        return max(1, int(seconds * self._nodes_per_second))


def engine_for(game: Game) -> Engine:
    """The engine that agents of this process share; with the backend in use."""
    return _engine(game, get_backend())


@lru_cache(maxsize=16)
def _engine(game: Game, backend: Backend) -> Engine:
    if not find_spec("numba"):
        warnings.warn(
            "search runs without Numba, some sixty times slower: pip install 'boardenvs[fast]'",
            stacklevel=2,
        )
    return Engine(game)
