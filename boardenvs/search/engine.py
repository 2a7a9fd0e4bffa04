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
_LEAST = 1_000  # nodes of a search within a time, and what a speed is measured by
_SLOW = 50_000.0  # nodes a second that any machine reaches

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
            self._generation += 1  # forgets what the table holds
            limits = (min(depth, MAX_DEPTH), NO_LIMIT if nodes is None else nodes)
            if time is None:
                self._choose(inputs, row, *limits, endgame, forced, result)
            else:
                self._choose_within(time, inputs, row, *limits, endgame, forced, result)
        return Results(*out.T)

    def _choose(
        self, inputs: list[Any], row: int, depth: int, nodes: int, endgame: int, forced: bool,
        result: Any,
    ) -> None:  # fmt: skip
        self._loops.choose(
            *inputs, row, depth, nodes, endgame, int(forced), self._generation,
            self._table, self._buffer, self._keys, self._counters, result,
        )  # fmt: skip

    def _choose_within(
        self, seconds: float, inputs: list[Any], row: int, depth: int, nodes: int, endgame: int,
        forced: bool, result: Any,
    ) -> None:  # fmt: skip
        """Search with as many nodes as fit in the time, by the speed so far; where that was too
        few, again with more: what the table holds is soon found again.
        """
        if not self._nodes_per_second:
            self._choose(inputs, row, 1, 1, 0, forced, result)  # compiles
            self._nodes_per_second = _SLOW
        began = clock.perf_counter()
        while True:
            start = clock.perf_counter()
            limit = min(nodes, max(_LEAST, int(self._nodes_per_second * (seconds + began - start))))
            self._choose(inputs, row, depth, limit, endgame, forced, result)
            now, spent = clock.perf_counter(), self._counters[0]
            if spent >= _LEAST:
                self._nodes_per_second = spent / (now - start)
            if spent < limit or limit == nodes or now - began > 0.6 * seconds:
                return


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
