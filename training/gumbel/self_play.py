"""Self-play by Gumbel search: many games side by side, recorded in a replay buffer."""

from __future__ import annotations

from typing import Any

import numpy as np

from boardenvs.envs.batch import Batch
from boardenvs.game.game import Game
from boardenvs.game.state import Array, FloatArray, IntArray, State, for_movers, take
from boardenvs.search import Evaluator
from boardenvs.search.gumbel import gumbel_search
from training.gumbel.gumbel_settings import GumbelConfig
from training.gumbel.network import JudgedNetwork
from training.gumbel.replay import ReplayBuffer
from training.run import board_groups, board_options


class SelfPlay:
    """The games of a training.

    Some plies get a full search with noise, and their policies are learnt. The others get a quick
    search or none, without noise: they lead to the result of the game (playout cap randomisation,
    Wu 2019). Nothing is learnt from an opponent's plies.
    """

    def __init__(self, config: GumbelConfig, game: Game) -> None:
        self.game = game
        self._config = config
        # The symmetry is drawn when a position is learnt; the evaluator turns boards.
        options = {**board_options(config), "symmetries": False, "mover_view": False}
        self.boards = Batch(game, board_groups(config), **options, seed=config.seed)
        self._rng = np.random.default_rng([config.seed, 1, 0])
        self._judge = config.judging_evaluation()
        boards = self.boards.size
        self._begun = boards  # games so far
        self._games: IntArray = np.arange(boards)
        self._capped_role: IntArray = np.full(boards, -1, np.int64)
        self._draw_capped_roles(np.arange(boards))
        # The evaluations of the boards; see `GumbelResults.after`.
        self._roots: Array = np.empty((boards, game.num_actions + 1), np.float32)

    def play(self, evaluator: Evaluator, plies: int, replay: ReplayBuffer) -> None:
        """Play this many plies on every board."""
        if self._judge is not None:
            evaluator = JudgedNetwork(evaluator, self._judge)
        self._roots[:] = np.nan  # by other weights
        for _ in range(plies):
            state = self.boards.state
            result = self.boards.step(self._search(state, evaluator, replay))
            to_first = for_movers(0, state, result.rewards)
            over = result.ended
            self._roots[over] = self._roots[~self.boards.self_play] = np.nan  # other positions
            replay.finish(self._games[over], to_first[over])
            self._games[over] = self._begun + np.arange(len(over))
            self._begun += len(over)
            self._draw_capped_roles(over)

    def _search(self, state: State, evaluator: Evaluator, replay: ReplayBuffer) -> IntArray:
        """Return the actions on all boards, and record what the searches found."""
        settings, size = self._config.search, self.boards.size
        quick = settings.playout_cap_simulations
        full = self._rng.random(size) < settings.full_share
        unsearched = state.to_move == self._capped_role
        if not quick:
            unsearched |= ~full
        # Gumbel noise, in a quarter of the time of `rng.gumbel`.
        noise = self._rng.standard_exponential((size, self.game.num_actions), np.float32)
        noise = -np.log(np.maximum(noise, 1e-10))
        noise[~full] = 0
        actions: IntArray = np.zeros(size, np.int64)
        policy: Array = np.zeros((size, self.game.num_actions), np.float32)
        values: FloatArray = np.zeros(size)
        roots, self._roots = self._roots, np.full_like(self._roots, np.nan)
        for rows, simulations in ((full, settings.simulations), (~full & ~unsearched, quick)):
            if simulations and rows.any():
                how = settings.with_simulations(simulations)
                actions[rows], policy[rows], values[rows], self._roots[rows] = gumbel_search(
                    self.game, take(state, rows), noise[rows], how, evaluator, roots[rows]
                )
        if unsearched.any():
            probabilities, judged = evaluator.evaluate(self.game, take(state, unsearched))
            actions[unsearched] = probabilities.argmax(axis=1)
            values[unsearched & ~full] = judged[~full[unsearched]]
        replay.add(state, policy, full, values, self._games)
        return actions

    def _draw_capped_roles(self, boards: IntArray) -> None:
        """Draw the roles that play without search in the games that begin on these boards, -1 for
        none; against an opponent it is the network's role.
        """
        drawn = self._rng.integers(2, size=len(boards))
        capped = self._rng.random(len(boards)) < self._config.search.playout_cap_role_share
        its_own = self.boards.state.to_move[boards]
        role = np.where(self.boards.self_play[boards], drawn, its_own)
        self._capped_role[boards] = np.where(capped, role, -1)

    def snapshot(self) -> dict[str, Any]:
        """Return everything that the rest of the games depends on."""
        return {
            "rng": self._rng.bit_generator.state,
            "boards": self.boards.snapshot(),
            "begun": self._begun,
            "games": self._games,
            "capped_role": self._capped_role,
        }

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Go on from a `snapshot`."""
        self._rng.bit_generator.state = snapshot["rng"]
        self.boards.restore(snapshot["boards"])
        self._begun = snapshot["begun"]
        self._games, self._capped_role = snapshot["games"], snapshot["capped_role"]
