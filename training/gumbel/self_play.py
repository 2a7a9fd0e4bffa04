"""Self-play by Gumbel search: many games side by side."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from boardenvs.arena.executor import seed_libraries
from boardenvs.envs.batch import Batch, EndedGames
from boardenvs.game.game import Game
from boardenvs.game.state import Array, IntArray, State, concat, for_movers, take
from boardenvs.search import Evaluator
from boardenvs.search.gumbel import gumbel_search
from training.gumbel.gumbel_settings import GumbelConfig
from training.gumbel.network import JudgedNetwork
from training.run import board_groups, board_options


class PlayedRound(NamedTuple):
    """Some plies on all boards, as arrays."""

    positions: list[Any]  # what `ReplayBuffer.add` takes, the state as `Game.packed` has it
    results: list[Array]  # what `ReplayBuffer.finish` takes
    ended: dict[str, EndedGames]
    games: dict[str, Any]  # a snapshot of those that go on
    seconds: float = 0.0  # of CPU in another process


class SelfPlay:
    """The games of a training, or of one worker at a time: `begin` them, or `restore` a snapshot.

    Some plies get a full search with noise, and their policies are learnt. The others get a quick
    search or none, without noise: they lead to the result of the game (playout cap randomisation,
    Wu 2019). Nothing is learnt from an opponent's plies.
    """

    def __init__(self, config: GumbelConfig, game: Game) -> None:
        self.game = game
        self._config = config
        # The symmetry is drawn when a position is learnt; the evaluator turns boards.
        options = {**board_options(config), "symmetries": False, "mover_view": False}
        self.boards = Batch(game, board_groups(config.share()), **options, seed=config.seed)
        self._judge = config.judging_evaluation()
        # The evaluations of the boards; see `GumbelResults.after`.
        self._roots: Array = np.empty((self.boards.size, game.num_actions + 1), np.float32)

    def begin(self, worker: int) -> None:
        """Begin the games of this worker."""
        seed, first = self._config.seed + (worker << 32), worker << 40  # no run's or worker's own
        self.boards.seed(seed)
        self.boards.restart()
        self._rng = np.random.default_rng([seed, 1, 0])
        boards = np.arange(self.boards.size)
        self._begun = first + len(boards)  # the number of the next game
        self._games: IntArray = first + boards
        self._capped_role: IntArray = np.full(len(boards), -1, np.int64)
        self._draw_capped_roles(boards)

    def play(self, evaluator: Evaluator, plies: int) -> PlayedRound:
        """Play this many plies on every board."""
        positions, results = list[Any](), list[Any]()
        if self._judge is not None:
            evaluator = JudgedNetwork(evaluator, self._judge)
        self._roots[:] = np.nan  # by other weights
        seed_libraries(hash((self._config.seed, self._begun)))  # an opponent may draw from them
        for _ in range(plies):
            state = self.boards.state
            actions, *learnt = self._search(state, evaluator)
            positions.append((state, *learnt, self._games.copy()))
            result = self.boards.step(actions)
            to_first = for_movers(0, state, result.rewards)
            over = result.ended
            self._roots[over] = self._roots[~self.boards.self_play] = np.nan  # other positions
            results.append((self._games[over], to_first[over]))
            self._games[over] = self._begun + np.arange(len(over))
            self._begun += len(over)
            self._draw_capped_roles(over)
        states, *columns = zip(*positions, strict=True)
        return PlayedRound(
            [self.game.packed(concat(states)), *map(np.concatenate, columns)],
            [*map(np.concatenate, zip(*results, strict=True))],
            self.boards.take_ended(),
            self.snapshot(),
        )

    def _search(self, state: State, evaluator: Evaluator) -> tuple[Array, ...]:
        """Return the actions on all boards, the policies of the searches, whether each is to be
        learnt, and values.
        """
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
        actions, policy, values = np.zeros(size, np.int64), np.zeros_like(noise), np.zeros(size)
        roots, self._roots = self._roots, np.full_like(self._roots, np.nan)
        for rows, simulations in ((full, settings.simulations), (~full & ~unsearched, quick)):
            if simulations and rows.any():
                how = settings.with_simulations(simulations)
                actions[rows], policy[rows], values[rows], self._roots[rows] = gumbel_search(
                    self.game, take(state, rows), noise[rows], how, evaluator, roots[rows]
                )
        if unsearched.any():
            rest = take(state, unsearched)
            probabilities, judged = evaluator.evaluate(self.game, rest)
            actions[unsearched] = np.where(self.game.legal(rest), probabilities, -1).argmax(axis=1)
            self._roots[unsearched] = np.nan  # of the search's action, which is not played
            values[unsearched & ~full] = judged[~full[unsearched]]
        return actions, policy.astype(np.float16), full, values

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
        self._rng = np.random.default_rng(0)
        self._rng.bit_generator.state = snapshot["rng"]
        self.boards.restore(snapshot["boards"])
        self._begun = snapshot["begun"]
        self._games, self._capped_role = snapshot["games"], snapshot["capped_role"]
