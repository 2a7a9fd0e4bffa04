"""Alpha-beta search of one game, compiled for it: its memory, and calls of it."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from boardenvs.game.contract import Game, Position, stack
from boardenvs.game.state import BoolArray, IntArray, State, WordArray
from boardenvs.kernel import get_backend
from boardenvs.kernel.backend import Backend
from boardenvs.kernel.link import array_for_loops
from boardenvs.search.compiled import end_root, root
from boardenvs.search.compiled.counters import COUNTERS, LIMIT
from boardenvs.search.compiled.memory import MoveStack, SearchMemory
from boardenvs.search.compiled.roots import Budget, Roots
from boardenvs.search.compiled.transposition import SLOT, TranspositionTable
from boardenvs.search.compiler import compile_for, has_exact_end
from boardenvs.search.evaluation import Evaluation
from boardenvs.search.limits import MAX_NODES, Limits
from boardenvs.search.memory import (
    flat,
    numbers,
    position_size,
    position_words,
    tuple_tables,
    words,
)
from boardenvs.search.results import SearchResults
from boardenvs.search.trained import trained_evaluation

_SLOTS = 1 << 20  # of the transposition table, which has 32 MB
_LISTS = 128  # of moves, by distance: an end of 64 empty squares with a pass after each move
_NODES_A_CALL = 1 << 19  # of several positions, about: in compiled code some 30 ms
_REMINDER = 0.01  # seconds between two calls to a search that has to stop
_QUESTION = 0.01  # seconds between two questions whether it has to


class _Call(NamedTuple):
    """What one call of the compiled search is about."""

    roots: Roots
    rows: Any  # an array of numbers
    budget: Budget
    results: SearchResults  # as loops take it
    first: int = 0  # in `rows`
    to_the_end: bool = False
    stop: Callable[[], bool] | None = None


class Engine:
    """Alpha-beta search for one game by the backend in use, with a table of its own. It judges by
    the evaluation, or without one by the game's heuristic.

    Not for two threads at once.
    """

    def __init__(self, game: Game, evaluation: Evaluation | None = None) -> None:
        if evaluation is not None:
            evaluation.check_game(game)
        self.game = game
        self._has_exact_end = has_exact_end(game)
        self._backend = get_backend()
        self._compiled = compile_for(game, self._backend, root)
        self._ends: Any = None
        # The exact end is the same whatever its moves are ordered by.
        trained = trained_evaluation(game) if self._has_exact_end else None
        moves = _LISTS * game.num_actions
        record_size = position_size(game) + 1
        self._memory = SearchMemory(
            TranspositionTable(words(_SLOTS * SLOT + 2)),
            MoveStack(
                words(moves * record_size),
                numbers(moves),
                numbers(moves),
                game.num_actions,
                record_size,
            ),
            numbers(COUNTERS),
            tuple_tables(trained if evaluation is None else evaluation),
            int(evaluation is not None),
            0,
        )
        self._solved = False  # whether the search before has seen the end at once
        self._compile()

    def search(
        self,
        state: State,
        seeds: WordArray,
        limits: Limits,
        *,
        forced: bool = False,
        stop: Callable[[], bool] | None = None,
    ) -> SearchResults:
        """Search each row deeper and deeper until one of the limits is met or the value is proven.

        A value is the heuristic's; where the end is seen, `WIN` plus the margin (where it counts)
        or less the plies until then (other games), with a minus sign for a loss, or 0 for a draw.
        A game without a heuristic has value 0 where the end is not seen. A position with one legal
        action is not searched unless `forced`: its value is 0 and its depth too. The same seeds,
        (B,) uint64, give the same results: rows know nothing of one another or of earlier calls.
        `stop()`, asked every few milliseconds, is one more limit: once true it ends the search.
        """
        if get_backend() != self._backend:
            raise RuntimeError(f"this engine is of {self._backend!r}, not of {get_backend()!r}")
        legal = self.game.legal(state)
        found = _no_results(len(seeds))
        found.action[:] = legal.argmax(axis=1)
        found.action[state.terminated] = self.game.noop
        roots, results = _roots(state, seeds), SearchResults(*map(array_for_loops, found))
        in_points = self._has_exact_end and self._memory.judged_by_tables
        self._memory = self._memory._replace(
            probcut=round(100 * limits.probcut) if in_points else 0
        )
        squares = self._empty_squares(state.own, state.opp)
        is_end = self.is_end(state, limits)
        wanted = legal.sum(axis=1) > (0 if forced else 1)
        alone = is_end if limits.time is None and stop is None else wanted
        call = _Call(roots, None, _budget(limits), results, stop=stop)
        for row in np.flatnonzero(wanted & alone).tolist():
            one = call._replace(rows=array_for_loops(np.array([row])))
            self._search_one(one, limits.time, int(squares[row]) if is_end[row] else 0)
        others = array_for_loops(np.flatnonzero(wanted & ~alone))
        self._search_many(call._replace(rows=others))
        return found

    def line(self, position: Position, found: SearchResults) -> list[int]:
        """The best action of the position that was searched last, and what is best after it, to
        the end of the game or as far as the search has seen.
        """
        actions = [int(found.action[0])]
        depth, value = int(found.depth[0]), int(found.value[0])
        while self._solved or len(actions) < depth:
            position, value = position.step(actions[-1]), -value
            if position.terminated or position.is_truncated():
                break
            squares = int(self._empty_squares(np.uint64(position.own), np.uint64(position.opp)))
            ahead = squares if self._solved else depth - len(actions)
            results = SearchResults(*map(array_for_loops, _no_results(1)))
            results.value[0] = value
            roots = _roots(stack([position]), np.zeros(1, np.uint64), len(actions))
            budget = Budget(ahead, MAX_NODES, 1)
            self._run(math.inf, _Call(roots, numbers(1), budget, results, to_the_end=self._solved))
            actions.append(int(results.action[0]))
        return actions

    def is_end(self, state: State, limits: Limits) -> BoolArray:
        """Which rows these limits have solved to the end at once, (B,) bool."""
        ends: BoolArray = self._empty_squares(state.own, state.opp) <= limits.endgame
        return ends & self._has_exact_end

    def _empty_squares(self, own: Any, opp: Any) -> Any:
        return 64 - np.bitwise_count(own | opp | np.uint64(self.game.holes)).astype(np.int64)

    def _search_one(self, call: _Call, time: float | None, squares: int) -> None:
        """Search a position, first to the end where that many empty squares are left."""
        self._solved = False
        if squares:
            self._compile_ends()
            budget = call.budget._replace(depth=squares, nodes=call.budget.nodes // 2)
            time = None if time is None else time / 2
            self._run(time, call._replace(budget=budget, to_the_end=True))
            self._solved = bool(call.results.exact[call.rows[0]])
        if not self._solved:
            self._run(time, call)

    def _search_many(self, call: _Call) -> None:
        """Search several positions a call, so that threads which share Python seldom wait for it,
        but only so many that Ctrl-C is heard.
        """
        while call.first < len(call.rows):
            self._solved = False
            call = call._replace(first=self._run(None, call))

    def _run(self, seconds: float | None, call: _Call) -> int:
        """Search, in a thread that ends after these seconds or with Ctrl-C; with None here.

        Returns where among the rows it ended.
        """

        def search() -> int:
            roots, rows, budget, results, first, to_the_end, _ = call
            if to_the_end:
                self._ends.solve_position(roots, int(rows[0]), budget, self._memory, results)
                return 1
            ended: int = self._compiled.search_positions(
                roots, rows, first, budget, self._memory, results
            )
            return ended

        if seconds is None and call.stop is None:
            return search()
        with ThreadPoolExecutor(1) as pool:
            work = pool.submit(search)
            try:
                _wait(work, math.inf if seconds is None else seconds, call.stop)
            finally:
                while not work.done():
                    self._memory.counters[LIMIT] = 0
                    wait([work], _REMINDER)
        return work.result()

    def _compile(self) -> None:
        """Search once, so that no search's time is spent on compiling."""
        self._run(None, _first_call(self.game))

    def _compile_ends(self) -> None:
        """The same for exact ends, which not all searches need."""
        if self._ends is None:
            self._ends = compile_for(self.game, self._backend, end_root)
            at_once = Budget(64, 0, 1)
            self._run(None, _first_call(self.game)._replace(budget=at_once, to_the_end=True))


def _first_call(game: Game) -> _Call:
    """One that ends at once."""
    roots = _roots(game.init(1), np.zeros(1, np.uint64))
    results = SearchResults(*map(array_for_loops, _no_results(1)))
    return _Call(roots, numbers(1), Budget(1, 1, 1), results)


def _wait(work: Future[int], seconds: float, stop: Callable[[], bool] | None) -> None:
    """Wait for the work, but no longer than this or until told to stop."""
    end = time.monotonic() + seconds
    longest = threading.TIMEOUT_MAX if stop is None else _QUESTION
    while not work.done() and not (stop is not None and stop()):
        left = end - time.monotonic()
        if left <= 0:
            return
        wait([work], min(left, longest))


def _roots(state: State, seeds: WordArray, distance: int = 0) -> Roots:
    positions = position_words(state)
    seeds = np.array(seeds, np.uint64)
    return Roots(flat(positions), array_for_loops(seeds), positions.shape[1], distance)


def _budget(limits: Limits) -> Budget:
    return Budget(limits.depth, MAX_NODES if limits.nodes is None else limits.nodes, _NODES_A_CALL)


def _no_results(rows: int) -> SearchResults:
    columns: list[IntArray] = [np.zeros(rows, np.int64) for _ in SearchResults._fields]
    return SearchResults(*columns)


def engine_for(game: Game, evaluation: Evaluation | None = None) -> Engine:
    """The engine that all searches of this thread share which judge by this, by the backend in use;
    without an evaluation by the game's heuristic.
    """
    return _engine(game, evaluation, get_backend(), threading.get_ident())


@lru_cache(maxsize=16)
def _engine(game: Game, evaluation: Evaluation | None, backend: Backend, thread: int) -> Engine:
    return Engine(game, evaluation)
