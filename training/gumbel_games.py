"""Self-play by Gumbel search: many games side by side, and what they leave to learn from."""

from __future__ import annotations

from typing import Any

import numpy as np

from boardenvs.game.contract import Game
from boardenvs.game.openings import random_openings
from boardenvs.game.state import FloatArray, IntArray, State, put, take
from boardenvs.search import Evaluator
from boardenvs.search.gumbel import gumbel_search
from training.gumbel_replay import Replay
from training.gumbel_settings import GumbelConfig
from training.openings import played_starts

# Random openings that are played at once, for the games that begin.
_STOCK = 4096


class SelfPlay:
    """The games of a training.

    Most plies can be played after a quick search without noise: what they are for is the result of
    the game. The others are searched in full, with noise, and their policies are learnt (playout
    caps, Wu 2019).
    """

    def __init__(self, config: GumbelConfig, game: Game, replay: Replay) -> None:
        self.game = game
        self._config, self._replay = config, replay
        self._rng = np.random.default_rng([config.seed, 1])
        self._starts = played_starts(config)
        boards = config.self_play.boards
        self._begun = boards  # games so far
        self._games: IntArray = np.arange(boards)
        self._slots: IntArray = np.zeros((boards, 64), np.int64)
        self._lengths: IntArray = np.zeros(boards, np.int64)
        self._stock: State | None = None
        self._left = 0
        self._state = self._openings(boards)
        self._ended: list[tuple[float, float]] = []  # plies and whether wiped out

    def play(self, evaluator: Evaluator, plies: int) -> None:
        """So many plies on every board."""
        for _ in range(plies):
            self._ply(evaluator)

    def _ply(self, evaluator: Evaluator) -> None:
        state, boards = self._state, len(self._games)
        settings = self._config.search
        full = self._rng.random(boards) < settings.full_share
        noise = self._rng.gumbel(size=(boards, self.game.num_actions))
        noise[~full] = 0
        actions: IntArray = np.zeros(boards, np.int64)
        policy: FloatArray = np.zeros((boards, self.game.num_actions))
        values: FloatArray = np.zeros(boards)
        for rows, how in ((full, settings.full()), (~full, settings.quick())):
            if rows.any():
                found = gumbel_search(self.game, take(state, rows), noise[rows], how, evaluator)
                actions[rows], policy[rows], values[rows] = found
        self._keep(state, policy, full, values)
        turn = self.game.turn(state, actions, checked=True)
        over = np.flatnonzero(turn.terminated | turn.truncated)
        sign = np.where(state.to_move == 0, 1, -1)
        self._finish(over, (turn.rewards * sign)[over], take(turn.state, over))
        self._state = turn.state
        if len(over):
            put(self._state, over, self._openings(len(over)))

    def _keep(self, state: State, policy: FloatArray, full: Any, values: FloatArray) -> None:
        """Put the positions into the replay, and remember where they are."""
        boards = np.arange(len(self._games))
        if self._lengths.max() == self._slots.shape[1]:
            self._slots = np.concatenate([self._slots, np.zeros_like(self._slots)], axis=1)
        self._slots[boards, self._lengths] = (self._replay.added + boards) % self._replay.size
        self._lengths += 1
        self._replay.add(state, policy, full, values, self._games)

    def _finish(self, over: IntArray, results: FloatArray, final: State) -> None:
        """Games on these boards are over, with these results to the first role."""
        for board, result in zip(over, results, strict=True):
            slots = self._slots[board, : self._lengths[board]]
            games = np.full(len(slots), self._games[board])
            self._replay.finish(slots, games, np.full(len(slots), result))
        wiped_out = (final.own == 0) | (final.opp == 0)
        self._ended += zip(final.ply.tolist(), wiped_out.tolist(), strict=True)
        self._lengths[over] = 0
        self._games[over] = self._begun + np.arange(len(over))
        self._begun += len(over)

    def _openings(self, count: int) -> State:
        """Positions that games begin from."""
        if self._starts is not None:
            return take(self._starts, self._rng.integers(len(self._starts.ply), size=count))
        if self._left < count:
            plies = self._config.self_play.opening_plies
            self._left = max(_STOCK, count)
            self._stock = random_openings(self.game, self._left, plies, self._rng)
        assert self._stock is not None
        self._left -= count
        return take(self._stock, slice(self._left, self._left + count))

    def take_figures(self) -> dict[str, float]:
        """Of the games that have ended since the last call; nan where none did."""
        ended = np.array(self._ended or [(np.nan, np.nan)], np.float64)
        self._ended = []
        plies, wiped_out = ended.mean(axis=0)
        return {"games/plies": float(plies), "games/wiped_out": float(wiped_out)}

    def snapshot(self) -> dict[str, Any]:
        """All that the rest of the games depends on."""
        stock = self._stock
        return {
            "rng": self._rng.bit_generator.state,
            "begun": self._begun,
            "arrays": [self._games, self._slots, self._lengths],
            "state": tuple(self._state),
            "stock": None if stock is None else tuple(stock),
            "left": self._left,
            "ended": self._ended,
        }

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Go on from a `snapshot`."""
        self._rng.bit_generator.state = snapshot["rng"]
        self._begun, self._left = snapshot["begun"], snapshot["left"]
        self._games, self._slots, self._lengths = (x.copy() for x in snapshot["arrays"])
        self._state = State(*(x.copy() for x in snapshot["state"]))
        self._stock = None if snapshot["stock"] is None else State(*snapshot["stock"])
        self._ended = [(a, b) for a, b in snapshot["ended"]]
