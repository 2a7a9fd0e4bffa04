"""Self-play by Gumbel search: many games side by side, and what they leave to learn from."""

from __future__ import annotations

from typing import Any

import numpy as np

from boardenvs.envs.batch import Batch
from boardenvs.game.contract import Game
from boardenvs.game.state import FloatArray, IntArray, State, take
from boardenvs.search import Evaluator
from boardenvs.search.gumbel import gumbel_search
from training.boards import board_groups, board_options, game_metrics
from training.gumbel.replay import ReplayBuffer
from training.gumbel.settings import GumbelConfig


class SelfPlay:
    """The games of a training, on the boards that all trainings have.

    Some plies are searched in full, with noise, and their policies are learnt. The others are
    played after a quick search or none, without noise: what they are for is the result of the game
    (playout cap randomisation, Wu 2019). Nothing is learnt of an opponent's plies.
    """

    def __init__(self, config: GumbelConfig, game: Game, replay: ReplayBuffer) -> None:
        self.game = game
        self._config, self._replay = config, replay
        options = {**board_options(config), "symmetries": False}  # drawn where they are learnt from
        self.boards = Batch(game, board_groups(config), **options, seed=config.seed)
        self._rng = np.random.default_rng([config.seed, 1])
        boards = self.boards.size
        self._begun = boards  # games so far
        self._games: IntArray = np.arange(boards)
        self._slots: list[list[int]] = [[] for _ in range(boards)]  # in the replay, of each game
        self._capped_role: IntArray = np.full(boards, -1, np.int64)
        self._draw_capped_roles(np.arange(boards))

    def play(self, evaluator: Evaluator, plies: int) -> None:
        """So many plies on every board."""
        for _ in range(plies):
            state = self.boards.state
            result = self.boards.step(self._search(state, evaluator))
            to_first = np.where(state.to_move == 0, result.rewards, -result.rewards)
            self._finish(result.ended, to_first[result.ended])

    def _search(self, state: State, evaluator: Evaluator) -> IntArray:
        """The actions on all boards; what was found is put into the replay."""
        settings, size = self._config.search, self.boards.size
        capped_search = settings.capped()
        full = self._rng.random(size) < settings.full_share
        unsearched = state.to_move == self._capped_role
        if capped_search is None:
            unsearched |= ~full
        noise = self._rng.gumbel(size=(size, self.game.num_actions))
        noise[~full] = 0
        actions: IntArray = np.zeros(size, np.int64)
        policy: FloatArray = np.zeros((size, self.game.num_actions))
        values: FloatArray = np.zeros(size)
        for rows, how in ((full, settings.full()), (~full & ~unsearched, capped_search)):
            if how is not None and rows.any():
                found = gumbel_search(self.game, take(state, rows), noise[rows], how, evaluator)
                actions[rows], policy[rows], values[rows] = found
        if unsearched.any():
            probabilities, judged = evaluator.evaluate(self.game, take(state, unsearched))
            actions[unsearched] = probabilities.argmax(axis=1)
            values[unsearched & ~full] = judged[~full[unsearched]]
        self._remember(state, policy, full, values)
        return actions

    def _remember(self, state: State, policy: FloatArray, full: Any, values: FloatArray) -> None:
        for board, slots in enumerate(self._slots):
            slots.append((self._replay.added + board) % self._replay.size)
        self._replay.add(state, policy, full, values, self._games)

    def _finish(self, over: IntArray, results: FloatArray) -> None:
        """Games on these boards are over, with these results to the first role; others began."""
        for board, result in zip(over, results, strict=True):
            self._replay.finish(np.array(self._slots[board]), int(self._games[board]), result)
            self._slots[board] = []
        self._games[over] = self._begun + np.arange(len(over))
        self._begun += len(over)
        self._draw_capped_roles(over)

    def _draw_capped_roles(self, boards: IntArray) -> None:
        """The roles that play without search in the games that begin on these boards, -1 for none;
        against an opponent the network's own.
        """
        drawn = self._rng.integers(2, size=len(boards))
        capped = self._rng.random(len(boards)) < self._config.search.playout_cap_role_share
        its_own = self.boards.state.to_move[boards]
        role = np.where(self.boards.self_play[boards], drawn, its_own)
        self._capped_role[boards] = np.where(capped, role, -1)

    def take_metrics(self) -> dict[str, float]:
        """Of the games that have ended since the last call; nan where none did."""
        return game_metrics(self.boards.take_ended())

    def snapshot(self) -> dict[str, Any]:
        """All that the rest of the games depends on."""
        return {
            "rng": self._rng.bit_generator.state,
            "boards": self.boards.snapshot(),
            "begun": self._begun,
            "games": self._games,
            "slots": self._slots,
            "capped_role": self._capped_role,
        }

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Go on from a `snapshot`."""
        self._rng.bit_generator.state = snapshot["rng"]
        self.boards.restore(snapshot["boards"])
        self._begun = snapshot["begun"]
        self._slots = [list(slots) for slots in snapshot["slots"]]
        self._games, self._capped_role = snapshot["games"].copy(), snapshot["capped_role"].copy()
