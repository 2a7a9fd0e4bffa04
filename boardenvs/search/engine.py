"""Search of one game, compiled for it: the memory that a search works in, and calls of it."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from boardenvs.game.contract import Game
from boardenvs.game.state import IntArray, Position, State, WordArray, stack
from boardenvs.kernel import get_backend
from boardenvs.kernel.backend import Backend
from boardenvs.kernel.link import array_for_loops
from boardenvs.search import loops_alphabeta, loops_calls, loops_endgame, loops_random
from boardenvs.search.limits import Limits
from boardenvs.search.memory import linked, node_width, node_words, numbers, words

LOOPS = (loops_random, loops_alphabeta, loops_endgame, loops_calls)
_SLOTS = 1 << 20  # of the transposition table, which has 32 MB
_LEVELS = 128  # of recursion: an end of 64 empty squares with a pass after each move
_NO_LIMIT = 1 << 62
_NODES_A_CALL = 1 << 19  # of several positions, about: in compiled code some 30 ms
_REMINDER = 0.01  # seconds between two calls to a search that has to stop


@dataclass(frozen=True)
class Results:
    """What searches found, one a row."""

    action: IntArray  # (B,) int64: the best; noop where the game is over
    value: IntArray  # (B,) int64: see `Engine.search`
    depth: IntArray  # (B,) int64: plies searched for it; empty squares where solved to the end
    exact: IntArray  # (B,) int64: 1 where no heuristic had a say in the value
    nodes: IntArray  # (B,) int64: positions generated


class Engine:
    """Alpha-beta search for one game by the backend in use, with a table of its own.

    Not for two threads at once.
    """

    def __init__(self, game: Game) -> None:
        self.game = game
        self._fills = game.fills_up and game.margin_counts
        self._backend = get_backend()
        self._loops = linked(game, self._backend, LOOPS)
        records = _LEVELS * game.num_actions
        self._counters = numbers(loops_alphabeta.COUNTERS)
        self._memory = (
            words(_SLOTS * loops_alphabeta.SLOT),
            words(records * (node_width(game) + 1)),
            numbers(records),
            self._counters,
        )
        self._generation = 0
        self._solved = False  # whether `finish` had the last word
        self._compile()

    def search(
        self, state: State, seeds: WordArray, limits: Limits, *, forced: bool = False
    ) -> Results:
        """Search each row deeper and deeper until one of the limits is met or the value is proven.

        A value is the heuristic's; where the end is seen, `WIN` plus the margin (Othello) or less
        the plies until then (other games), with a minus sign for a loss, or 0 for a draw. A
        position with one legal action is not searched unless `forced`: its value is 0 and its depth
        too. The same seeds, (B,) uint64, give the same results: rows know nothing of one another or
        of earlier calls.
        """
        if get_backend() != self._backend:
            raise RuntimeError(f"this engine is of {self._backend!r}, not of {get_backend()!r}")
        legal = self.game.legal(state)
        found: IntArray = np.zeros((len(seeds), loops_calls.FOUND), np.int64)
        found[:, loops_calls.ACTION] = legal.argmax(axis=1)
        found[state.terminated, loops_calls.ACTION] = self.game.noop
        out = array_for_loops(found.reshape(-1))
        roots, seeds = _roots(state), array_for_loops(np.array(seeds, np.uint64))
        filled = np.bitwise_count(state.own | state.opp | np.uint64(self.game.holes))
        is_end = (64 - filled <= limits.endgame) & self._fills
        wanted = legal.sum(axis=1) > (0 if forced else 1)
        alone = is_end if limits.time is None else wanted
        for row in np.flatnonzero(wanted & alone).tolist():
            self._search_one(roots, row, seeds, limits, bool(is_end[row]), out)
        others = array_for_loops(np.flatnonzero(wanted & ~alone))
        self._search_many(roots, others, seeds, limits, out)
        return Results(*found.T)

    def line(self, position: Position, found: Results) -> list[int]:
        """The best action of the position that was searched last, and what is best after it, to
        the end of the game or as far as the search has seen.
        """
        actions = [int(found.action[0])]
        depth, value = int(found.depth[0]), int(found.value[0])
        next_found: IntArray = np.zeros(loops_calls.FOUND, np.int64)
        out = array_for_loops(next_found)
        while self._solved or len(actions) < depth:
            position, value = self.game.next(position, actions[-1]), -value
            if position.terminated or self.game.is_truncated(position):
                break
            root = _roots(stack([position]))
            if self._solved:
                self._run(math.inf, self._loops.finish, *root, 0, _NO_LIMIT, out=out)
            else:
                distance = len(actions)
                down = (numbers(1), 0, 1, words(1), depth - distance, _NO_LIMIT, distance, value)
                self._run(math.inf, self._loops.deepen, *root, *down, out=out)
            actions.append(int(next_found[loops_calls.ACTION]))
        return actions

    def _search_one(
        self, roots: Any, row: int, seeds: Any, limits: Limits, is_end: bool, out: Any
    ) -> None:
        self._generation += 1  # forgets what the table holds
        self._solved = False
        nodes = _NO_LIMIT if limits.nodes is None else limits.nodes
        time = limits.time
        if is_end:
            time = None if time is None else time / 2
            self._run(time, self._loops.finish, *roots, row, nodes // 2, out=out)
            self._solved = bool(out[row * loops_calls.FOUND + loops_calls.PROVEN])
        if not self._solved:
            only = (array_for_loops(np.array([row])), 0, 1)
            self._run(
                time, self._loops.deepen, *roots, *only, seeds, limits.depth, nodes, 0, 0, out=out
            )

    def _search_many(self, roots: Any, rows: Any, seeds: Any, limits: Limits, out: Any) -> None:
        """Search several positions a call, so that threads which share Python seldom wait for it,
        but only so many that Ctrl-C is heard.
        """
        nodes = _NO_LIMIT if limits.nodes is None else limits.nodes
        done = 0
        while done < len(rows):
            self._generation += 1
            self._solved = False
            part = (rows, done, _NODES_A_CALL, seeds, limits.depth, nodes, 0, 0)
            reached = self._run(None, self._loops.deepen, *roots, *part, out=out)
            self._generation += reached - done - 1
            done = reached

    def _run(
        self, seconds: float | None, loop: Callable[..., Any], *arguments: Any, out: Any
    ) -> Any:
        """Call a loop, in a thread that ends after these seconds or with Ctrl-C; with None here."""
        everything = (*arguments, self._generation, *self._memory, out)
        if seconds is None:
            return loop(*everything)
        with ThreadPoolExecutor(1) as pool:
            work = pool.submit(loop, *everything)
            try:
                wait([work], min(seconds, threading.TIMEOUT_MAX))
            finally:
                while not work.done():
                    self._counters[loops_alphabeta.LIMIT] = 0
                    wait([work], _REMINDER)
        return work.result()

    def _compile(self) -> None:
        """Call every loop once, so that no search's time is spent on that."""
        roots = _roots(self.game.init(1))
        out = numbers(loops_calls.FOUND)
        if self._fills:
            self._run(None, self._loops.finish, *roots, 0, 1, out=out)
        only = (numbers(1), 0, 1, words(1), 1, 1, 0, 0)
        self._run(None, self._loops.deepen, *roots, *only, out=out)


def _roots(state: State) -> tuple[Any, Any, Any]:
    """Positions as loops take them: nodes, sides to move and plies."""
    columns = (node_words(state), state.to_move.astype(np.uint64), state.ply.astype(np.uint64))
    return tuple(array_for_loops(column) for column in columns)


def engine_for(game: Game) -> Engine:
    """The engine that all searches of this thread share, by the backend in use."""
    return _engine(game, get_backend(), threading.get_ident())


@lru_cache(maxsize=16)
def _engine(game: Game, backend: Backend, thread: int) -> Engine:
    return Engine(game)
