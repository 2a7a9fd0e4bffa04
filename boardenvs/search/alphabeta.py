"""Alpha-beta search of batches of positions, compiled for one game."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from boardenvs.game.game import Game
from boardenvs.game.position import Position, stack
from boardenvs.game.state import BoolArray, IntArray, State, WordArray
from boardenvs.kernel.backend import Backend
from boardenvs.search.compiled.alphabeta import search_positions
from boardenvs.search.compiled.endgame import solve_position
from boardenvs.search.compiled.nodes import (
    COUNTERS,
    LIMIT,
    Budget,
    MoveStack,
    Roots,
    SearchMemory,
)
from boardenvs.search.compiled.transposition import (
    FEWEST_BUCKETS,
    NODES_A_BUCKET,
    WORDS,
    TranspositionTable,
    key_of_board,
)
from boardenvs.search.compiler import (
    check_roots,
    check_seeds,
    compile_for,
    has_exact_end,
    numbers,
    position_size,
    position_words,
    word_type,
    words,
)
from boardenvs.search.evaluation import Evaluation, tuple_tables
from boardenvs.search.evaluation_file import trained_evaluation
from boardenvs.search.limits import MAX_NODES, Limits, SearchResults
from boardenvs.utils.halting import run_until

_SLOTS = 1 << 20  # of the transposition table: 32 MB
_SLOTS_IN_PYTHON = 1 << 16
_LISTS = 128  # of moves, by distance: an end of 64 empty squares with a pass after each move
_NODES_A_CALL = 1 << 19  # for several positions, approximately: some 30 ms in compiled code


class _Call(NamedTuple):
    """Arguments of calls of the compiled search, and when to end them."""

    roots: Roots
    budget: Budget
    results: SearchResults
    seconds: float | None = None
    stop: Callable[[], bool] | None = None


class AlphaBeta:
    """Alpha-beta search for one game by the current backend, with its own transposition table.

    It judges positions by the evaluation, or without one by the game's heuristic. Not thread-safe.
    """

    def __init__(self, game: Game, evaluation: Evaluation | None = None) -> None:
        if evaluation is not None:
            evaluation.check_game(game)
        self.game = game
        self._has_exact_end = has_exact_end(game)
        parts: dict[str, Any] = {} if game.in_words else {"key_of": key_of_board}
        self._search_positions = compile_for(game, search_positions, **parts)
        self._solve_position = solve_position  # compiled at the first use
        # The exact end has the same result whatever orders its moves.
        trained = trained_evaluation(game) if self._has_exact_end else None
        moves, record = _LISTS * game.num_actions, position_size(game) + 1
        self._table = self.new_table()
        self._memory = SearchMemory(
            self._table,
            MoveStack(
                words(moves * record, word_type(game)),
                numbers(moves),
                numbers(moves),
                numbers(_LISTS),
                game.num_actions,
                record,
            ),
            numbers(COUNTERS),
            words(game.history + _LISTS + 1),
            tuple_tables(trained if evaluation is None else evaluation),
            int(evaluation is not None),
            0,
            0,
        )
        self._solved = False  # whether the last search has solved the end
        self._compile(Limits(1, nodes=1))

    def search(
        self,
        state: State,
        seeds: WordArray,
        limits: Limits,
        *,
        forced: bool = False,
        stop: Callable[[], bool] | None = None,
        tables: Sequence[TranspositionTable] = (),
    ) -> SearchResults:
        """Search each row deeper and deeper until a limit is reached or the value is proven.

        A value is the heuristic's or the evaluation's. A proven win has `WIN` plus the margin, in
        games where it counts, or `WIN` less the plies until then; a loss the same with a minus
        sign; a draw 0. Without a heuristic, values that are not proven are 0. A position with one
        legal action is not searched unless `forced`: its value and depth are 0.

        The same seeds, (B,) uint64, give the same results, independent of other rows and of earlier
        calls; but if a table of `new_table` is given for each row, the values in it are used again.
        `stop()` is called every few milliseconds: once it returns True, the search ends.
        """
        check_seeds(check_roots(self.game, state), seeds)
        fewest, ends = 1 if forced else 2, self.is_end(state, limits)
        squares = ends.astype(np.int64)
        if ends.any():
            if self._solve_position is solve_position:
                self._solve_position = compile_for(self.game, solve_position)
                self._compile(Limits(1, nodes=1, endgame=64))
            ends &= np.bitwise_count(state.legal_bits).sum(axis=1) >= fewest
            squares[ends] = self.game.empty_squares(state)[ends]
        in_points = self._has_exact_end and self._memory.judged_by_tables
        probcut = round(100 * limits.probcut) if in_points else 0
        self._memory = self._memory._replace(
            table=self._table, probcut=probcut, reductions=int(limits.reductions)
        )
        results = _no_results(len(seeds))
        call = _Call(
            _roots(state, seeds),
            Budget(
                limits.depth,
                limits.nodes or MAX_NODES,
                _NODES_A_CALL,
                fewest,
                int(len(tables) > 0),
            ),
            results,
            limits.time,
            stop,
        )
        rows: IntArray = np.arange(len(seeds))
        alone = ends | ((limits.time, stop, tables) != (None, None, ()))
        for row in rows[alone].tolist():
            if tables:
                self._memory = self._memory._replace(table=tables[row])
            self._search_one(call, row, int(squares[row]))
        rows = rows[~alone]
        # The others together, so that threads which share Python seldom wait for it, but only a
        # limited number at a time, so that Ctrl-C is heard.
        while len(rows):
            self._solved = False
            rows = rows[self._run(self._search_positions, call, rows) :]
        return results

    def new_table(self, nodes: int = MAX_NODES) -> TranspositionTable:
        """Return an empty table for searches of this many nodes.

        The searches of one game may share it if values are points. In other games a proven win is
        worth less the later it comes after the root, and values of another root would be wrong.
        """
        most = _SLOTS if self.game.in_words else _SLOTS_IN_PYTHON
        slots = min(most, 2 * max(FEWEST_BUCKETS, 1 << (nodes // NODES_A_BUCKET).bit_length()))
        size = slots * (WORDS + self.game.known_words) + 2
        return TranspositionTable(words(size, word_type(self.game)))

    def line(self, position: Position, searched: SearchResults) -> list[int]:
        """Return the principal variation of the position that was searched last, to the end of the
        game or as far as the search has seen.
        """
        actions = [int(searched.action[0])]
        depth, value = int(searched.depth[0]), int(searched.value[0])
        while self._solved or len(actions) < depth:
            before, position = position, position.step(actions[-1])
            value = value if position.to_move == before.to_move else -value
            if position.is_over():
                break
            squares = int(self.game.empty_squares(stack([position]))[0])
            ahead = squares if self._solved else depth - len(actions)
            results = _no_results(1)
            results.value[0] = value
            roots = _roots(stack([position]), np.zeros(1, np.uint64), len(actions))
            call = _Call(roots, Budget(ahead, MAX_NODES, 1, 1, 1), results, math.inf)
            if self._solved:
                self._run(self._solve_position, call, 0)
            else:
                self._run(self._search_positions, call, np.zeros(1, np.int64))
            actions.append(int(results.action[0]))
        return actions

    def is_end(self, state: State, limits: Limits) -> BoolArray:
        """Return which rows these limits solve to the end at once, (B,) bool."""
        if not (self._has_exact_end and limits.endgame):
            return np.zeros(len(state.ply), np.bool_)
        return self.game.empty_squares(state) <= limits.endgame

    def _search_one(self, call: _Call, row: int, squares: int) -> None:
        """Search a position; if `squares`, its empty squares, is not 0, first to the end."""
        self._solved = False
        if squares:
            budget = call.budget._replace(depth=squares, nodes=call.budget.nodes // 2)
            call = call._replace(seconds=None if call.seconds is None else call.seconds / 2)
            self._run(self._solve_position, call._replace(budget=budget), row)
            self._solved = bool(call.results.exact[row])
        if not self._solved:
            self._run(self._search_positions, call, np.array([row]))

    def _run(self, loop: Callable[..., Any], call: _Call, rows: IntArray | int) -> Any:
        """Run a compiled loop on rows, in a thread if seconds, `stop` or Ctrl-C may end it."""
        roots, budget, results, seconds, stop = call
        search = partial(loop, roots, rows, budget, self._memory, results)
        if seconds is None and stop is None:
            return search()
        return run_until(search, self._halt, math.inf if seconds is None else seconds, stop)

    def _halt(self) -> None:
        self._memory.counters[LIMIT] = 0

    def _compile(self, limits: Limits) -> None:
        """Search with limits that end it at once, so that no search's time goes to compiling."""
        self.search(self.game.init(1), np.zeros(1, np.uint64), limits, forced=True)


def _roots(state: State, seeds: WordArray, distance: int = 0) -> Roots:
    positions = position_words(state)
    seeds = np.array(seeds, np.uint64)
    keys = np.zeros(0, np.uint64) if state.history is None else state.history
    return Roots(positions.ravel(), seeds, keys.ravel(), positions.shape[1], distance)


def _no_results(rows: int) -> SearchResults:
    return SearchResults(*np.zeros((len(SearchResults._fields), rows), np.int64))


def alphabeta_for(game: Game, evaluation: Evaluation | None = None) -> AlphaBeta:
    """Return the search that this thread shares, by the current backend; without an evaluation it
    judges by the game's heuristic.
    """
    return _alphabeta(game, evaluation, game.backend, threading.get_ident())


@lru_cache(maxsize=16)
def _alphabeta(
    game: Game, evaluation: Evaluation | None, backend: Backend, thread: int
) -> AlphaBeta:
    return AlphaBeta(game, evaluation)
