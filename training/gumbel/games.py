"""Self-play by Gumbel search: many games side by side, and what they leave to learn from."""

from __future__ import annotations

from typing import Any

import numpy as np

from boardenvs.agents import Agent, make_agent
from boardenvs.game.contract import Game
from boardenvs.game.openings import random_openings
from boardenvs.game.state import BoolArray, FloatArray, IntArray, State, put, take
from boardenvs.search import Evaluator
from boardenvs.search.gumbel import gumbel_search
from training.gumbel.replay import ReplayBuffer
from training.gumbel.settings import GumbelConfig
from training.openings import played_starts
from training.settings import SELF_PLAY

# Random openings that are played at once, for the games that begin.
_STOCK = 4096


class SelfPlay:
    """The games of a training.

    Some plies are searched in full, with noise, and their policies are learnt. The others are
    played after a quick search or none, without noise: what they are for is the result of the game
    (playout caps, Wu 2019). On the boards of an opponent it plays one role of each game, and
    nothing is learnt of its plies.
    """

    def __init__(self, config: GumbelConfig, game: Game, replay: ReplayBuffer) -> None:
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
        names = [name for name, size in config.self_play.groups() for _ in range(size)]
        self._opponents: dict[str, tuple[Agent, BoolArray]] = {
            name: (make_agent(name), np.array(names) == name) for name in config.self_play.opponents
        }
        self._has_opponent: BoolArray = np.array(names) != SELF_PLAY
        self._opponent_role: IntArray = np.full(boards, -1, np.int64)
        self._alone_role: IntArray = np.full(boards, -1, np.int64)
        self._state = self._openings(boards)
        self._draw_roles(np.arange(boards))
        # Of the games that ended: plies, whether wiped out, and what opponents lost, by name.
        self._ended: list[tuple[float, float]] = []
        self._scores: dict[str, list[float]] = {name: [] for name in self._opponents}

    def play(self, evaluator: Evaluator, plies: int) -> None:
        """So many plies on every board."""
        for _ in range(plies):
            self._ply(evaluator)

    def _ply(self, evaluator: Evaluator) -> None:
        state, boards = self._state, len(self._games)
        mine = state.to_move != self._opponent_role
        actions: IntArray = np.zeros(boards, np.int64)
        for agent, of_agent in self._opponents.values():
            rows = of_agent & ~mine
            if rows.any():
                actions[rows] = agent.act(self.game, take(state, rows), self._rng)
        actions[mine] = self._search(np.flatnonzero(mine), evaluator)
        turn = self.game.turn(state, actions, checked=True)
        over = np.flatnonzero(turn.terminated | turn.truncated)
        sign = np.where(state.to_move == 0, 1, -1)
        self._state = turn.state
        self._finish(over, (turn.rewards * sign)[over], take(turn.state, over))
        if len(over):
            put(self._state, over, self._openings(len(over)))

    def _search(self, boards: IntArray, evaluator: Evaluator) -> IntArray:
        """The actions on these boards; what was found is put into the replay."""
        state, size = take(self._state, boards), len(boards)
        settings, quick = self._config.search, self._config.search.quick()
        full = self._rng.random(size) < settings.full_share
        alone = state.to_move == self._alone_role[boards]
        if quick is None:
            alone |= ~full
        noise = self._rng.gumbel(size=(size, self.game.num_actions))
        noise[~full] = 0
        actions: IntArray = np.zeros(size, np.int64)
        policy: FloatArray = np.zeros((size, self.game.num_actions))
        values: FloatArray = np.zeros(size)
        for rows, how in ((full, settings.full()), (~full & ~alone, quick)):
            if how is not None and rows.any():
                found = gumbel_search(self.game, take(state, rows), noise[rows], how, evaluator)
                actions[rows], policy[rows], values[rows] = found
        if alone.any():
            liking, judged = evaluator.evaluate(self.game, take(state, alone))
            actions[alone] = liking.argmax(axis=1)
            values[alone & ~full] = judged[~full[alone]]
        if self._lengths.max() == self._slots.shape[1]:
            self._slots = np.concatenate([self._slots, np.zeros_like(self._slots)], axis=1)
        slots = (self._replay.added + np.arange(size)) % self._replay.size
        self._slots[boards, self._lengths[boards]] = slots
        self._lengths[boards] += 1
        self._replay.add(state, policy, full, values, self._games[boards])
        return actions

    def _finish(self, over: IntArray, results: FloatArray, final: State) -> None:
        """Games on these boards are over, with these results to the first role."""
        for board, result in zip(over, results, strict=True):
            slots = self._slots[board, : self._lengths[board]]
            games = np.full(len(slots), self._games[board])
            self._replay.finish(slots, games, np.full(len(slots), result))
        for name, (_, of_agent) in self._opponents.items():
            lost = np.where(self._opponent_role[over] == 0, -results, results)[of_agent[over]]
            self._scores[name] += ((lost + 1) / 2).tolist()
        wiped_out = (final.own == 0) | (final.opp == 0)
        self._ended += zip(final.ply.tolist(), wiped_out.tolist(), strict=True)
        self._lengths[over] = 0
        self._games[over] = self._begun + np.arange(len(over))
        self._begun += len(over)
        self._draw_roles(over)

    def _draw_roles(self, boards: IntArray) -> None:
        """For the games that begin on these boards the roles of opponents, and those in which the
        network plays without search; -1 where there are none.
        """
        drawn = self._rng.integers(2, size=len(boards))
        alone = self._rng.random(len(boards)) < self._config.search.alone_share
        self._opponent_role[boards] = np.where(self._has_opponent[boards], drawn, -1)
        self._alone_role[boards] = np.where(alone, 1 - drawn, -1)

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

    def take_metrics(self) -> dict[str, float]:
        """Of the games that have ended since the last call; nan where none did."""
        ended = np.array(self._ended or [(np.nan, np.nan)], np.float64)
        self._ended = []
        plies, wiped_out = ended.mean(axis=0)
        metrics = {"games/plies": float(plies), "games/wiped_out": float(wiped_out)}
        for name, scores in self._scores.items():
            metrics[f"games/{name}"] = float(np.mean(scores)) if scores else np.nan
            scores.clear()
        return metrics

    def snapshot(self) -> dict[str, Any]:
        """All that the rest of the games depends on."""
        stock = self._stock
        return {
            "rng": self._rng.bit_generator.state,
            "begun": self._begun,
            "arrays": [self._games, self._slots, self._lengths],
            "roles": [self._opponent_role, self._alone_role],
            "state": tuple(self._state),
            "stock": None if stock is None else tuple(stock),
            "left": self._left,
            "ended": self._ended,
            "scores": self._scores,
        }

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Go on from a `snapshot`."""
        self._rng.bit_generator.state = snapshot["rng"]
        self._begun, self._left = snapshot["begun"], snapshot["left"]
        self._games, self._slots, self._lengths = (x.copy() for x in snapshot["arrays"])
        self._opponent_role, self._alone_role = (x.copy() for x in snapshot["roles"])
        self._state = State(*(x.copy() for x in snapshot["state"]))
        self._stock = None if snapshot["stock"] is None else State(*snapshot["stock"])
        self._ended = [(a, b) for a, b in snapshot["ended"]]
        self._scores = {name: list(scores) for name, scores in snapshot["scores"].items()}
