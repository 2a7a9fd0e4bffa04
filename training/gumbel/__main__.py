"""Train a policy by search: `python -m training.gumbel CONFIG [--resume | --overwrite]`.

Gumbel AlphaZero (Danihelka et al. 2022): a network plays itself, each move found by a search of few
simulations, and learns the search's improved policy and the results of the games.
"""

from __future__ import annotations

import sys
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any
from warnings import warn

import numpy as np
import torch as th
from rich.console import Console

from boardenvs.agents.network import BoardNetwork
from boardenvs.agents.policy import Policy
from boardenvs.arena.executor import WorkerError
from training.command import training_command
from training.folder import RunError, to_arrays
from training.gumbel.drills import Drills
from training.gumbel.gumbel_settings import GumbelConfig
from training.gumbel.network import NetworkLearner
from training.gumbel.replay import ReplayBuffer
from training.gumbel.workers import SelfPlayWorkers, total
from training.run import Run, game_metrics
from training.run_settings import between, find_device, find_precision


class GumbelRun(Run):
    """A training by Gumbel search in progress."""

    config: GumbelConfig

    def __init__(self, config: GumbelConfig, folder: Path) -> None:
        super().__init__(config, folder)
        settings = config.learning
        th.manual_seed(config.seed)
        device = find_device(config.device)
        network = BoardNetwork(self.game, config.network.size, find_precision(device))
        if (start := config.start_policy()) is not None:
            network.take(start)
        self.learner = NetworkLearner(self.game, network.to(device), settings)
        self._replay = ReplayBuffer(self.game, settings.replay, settings.search_value)
        plies, rng = config.self_play.opening_plies, np.random.default_rng([config.seed, 3])
        self._drills = Drills(self.game, settings.drills, plies, rng) if settings.drills else None
        self._workers = SelfPlayWorkers(config, self.learner.player)
        self._rounds = self._workers.rounds()
        self._to_learn = 0.0  # positions to learn from, of those played

    def train(self, resume: bool, console: Console) -> bool:
        """Train as every run does, and end the workers."""
        try:
            with closing(self._rounds):
                return super().train(resume, console)
        except WorkerError as error:
            raise RunError(f"{error}; go on with --resume") from None

    def _update(self) -> dict[str, float]:
        before, rounds = self._replay.added, next(self._rounds)
        for played in rounds:
            state, *columns = played.positions
            self._replay.add(self.game.unpacked(state), *columns)
            self._replay.finish(*played.results)
            self._began[1] -= played.seconds if self.config.search.workers else 0.0
        count = self._replay.added - before
        self.steps += count
        self._to_learn += count * self.config.learning.reuse
        metrics = game_metrics(total([played.ended for played in rounds]))
        kept = self.config.learning.replay // self.config.self_play.boards
        if metrics["games/plies"] > kept:
            warn(
                f"games are longer than {kept} plies, which learning.replay holds of each board: "
                "their first plies are not learnt",
                stacklevel=1,
            )
        return metrics | self._learn()

    def _learn(self) -> dict[str, float]:
        """Take the gradient steps that are due; metrics are nan if there were none."""
        settings = self.config.learning
        rng = np.random.default_rng([self.config.seed, 2, self.steps])
        rate = between(
            settings.learning_rate, settings.final_learning_rate, self.steps / self.config.steps
        )
        losses, ready = [th.full((3,), th.nan)], self._replay.ready()
        if len(ready) < settings.batch_size:
            self._to_learn = 0.0
        while self._to_learn >= settings.batch_size:
            self._to_learn -= settings.batch_size
            batch = self._replay.batch(rng.choice(ready, settings.batch_size), rng)
            more = self._drills.loss(self.learner.network, rng) if self._drills else 0.0
            losses.append(self.learner.learn(batch, rate, more))
        policy_loss, value_loss, entropy = th.stack(losses[1:] or losses).mean(dim=0).tolist()
        return {
            "train/entropy": entropy,
            "train/policy_loss": policy_loss,
            "train/value_loss": value_loss,
            "train/learning_rate": rate,
            "train/gradient_steps": float(len(losses) - 1),
        }

    def _policy(self) -> Policy:
        return self.learner.player.as_policy(self.game, self.notes(), mover_view=True)

    def _snapshot(self) -> dict[str, Any]:
        return {
            "to_learn": self._to_learn,
            "learner": self.learner.snapshot(),
            "replay": self._replay.snapshot(),
            "round": self._workers.in_progress,
        }

    def _restore(self, snapshot: dict[str, Any]) -> None:
        self.learner.restore(snapshot["learner"])
        self._replay.restore(to_arrays(snapshot["replay"]))
        self._workers.in_progress = to_arrays(snapshot["round"])
        self._to_learn = snapshot["to_learn"]


def train(config: GumbelConfig, folder: Path, resume: bool, console: Console) -> bool:
    """Train, judge the best policy and write the report; False if interrupted."""
    return GumbelRun(config, folder).whole(resume, console)


main = partial(training_command, "training.gumbel", GumbelConfig, train)  # takes the arguments


if __name__ == "__main__":
    sys.exit(main())
