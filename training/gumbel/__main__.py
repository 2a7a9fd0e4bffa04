"""Train a policy by search: `python -m training.gumbel CONFIG [--resume | --overwrite]`.

Gumbel AlphaZero (Danihelka et al. 2022): a network plays itself, each of its moves found by a
search of few simulations, and learns the search's improved policy and the results of the games.
README.md in the folder above explains the recipe, the metrics and the files of a run.
"""

from __future__ import annotations

import sys
import time
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch as th
from rich.console import Console

from boardenvs.agents.policy import Policy
from boardenvs.arena.executor import HERE, Executor
from boardenvs.envs.groups import EndedGames
from training.boards import game_metrics
from training.checkpoint import to_arrays, to_tensors
from training.command import training_command
from training.gumbel.network import NetworkEvaluator, NetworkLearner, new_network
from training.gumbel.replay import ReplayBuffer
from training.gumbel.self_play import PartToPlay, SelfPlay, added_up
from training.gumbel.settings import GumbelConfig
from training.history import policy_notes
from training.run import Run
from training.settings import between, find_device, find_precision


class GumbelRun(Run):
    """A training by Gumbel search in progress."""

    config: GumbelConfig

    def __init__(self, config: GumbelConfig, folder: Path, executor: Executor = HERE) -> None:
        super().__init__(config, folder, executor)
        game = self.history.game
        settings = config.learning
        th.manual_seed(config.seed)
        self._rng = np.random.default_rng([config.seed, 2])
        network = new_network(game, settings.hidden, find_precision(config.precision))
        if (start := config.start_policy()) is not None:
            network.take(start)
        network = network.to(find_device(config.device))
        self.learner = NetworkLearner(game, network, settings.average, settings.weight_decay)
        symmetries = config.self_play.symmetries
        self._replay = ReplayBuffer(
            game, settings.replay, settings.search_value, symmetries=symmetries
        )
        # How the games of each part stand.
        self._games = [SelfPlay(config, game, part).snapshot() for part in range(config.parts)]
        self._to_learn = 0.0  # positions to learn from, of those played

    def _update(self) -> dict[str, float]:
        """Play, and then learn."""
        began, settings = time.monotonic(), self.config.learning
        before = self._replay.added
        ended = self._play()
        played = self._replay.added - before
        self.steps += played
        playing = time.monotonic() - began
        self._to_learn += played * settings.reuse
        learnt = self._learn()
        share = playing / (time.monotonic() - began)
        return {"speed/playing": share, **game_metrics(ended), **learnt}

    def _play(self) -> dict[str, EndedGames]:
        """Plies on the boards of all parts; what became of the games that ended."""
        plies, seed = self.config.learning.plies_per_update, self.config.seed + self.steps
        network = self.learner.player
        if self.executor.parallel:
            network = deepcopy(network).cpu()
        tasks = [
            PartToPlay(self.config, part, games, plies, seed + part)
            for part, games in enumerate(self._games)
        ]
        played = dict(self.executor.run(tasks, NetworkEvaluator(network)))
        parts = [played[part] for part in range(len(tasks))]
        for part in parts:
            part.record.give(self._replay)
        self._games = [part.after for part in parts]
        return added_up(part.ended for part in parts)

    def _learn(self) -> dict[str, float]:
        """Gradient steps on what was played, and what came of them; nan where there were none."""
        settings = self.config.learning
        rate = between(settings.learning_rate, settings.final_learning_rate, self._done())
        losses, values = [th.full((3,), th.nan)], [np.float32(np.nan)]
        if self._replay.ready < settings.batch_size:
            self._to_learn = 0.0
        while self._to_learn >= settings.batch_size:
            self._to_learn -= settings.batch_size
            batch = self._replay.sample(settings.batch_size, self._rng)
            losses.append(self.learner.learn(batch, rate, settings.value_weight))
            values.append(batch.value.var())
        policy_loss, value_loss, entropy = th.stack(losses[1:] or losses).mean(dim=0).tolist()
        variance = float(np.mean(values[1:] or values))
        return {
            "train/entropy": entropy,
            "train/explained_variance": 1 - value_loss / max(variance, 1e-9),
            "train/policy_loss": policy_loss,
            "train/value_loss": value_loss,
            "train/learning_rate": rate,
            "train/gradient_steps": float(len(losses) - 1),
        }

    def _done(self) -> float:
        """The share of the run that is over, 0 to 1, by steps or by minutes."""
        limit = self.config.minutes
        by_time = 0.0 if limit is None else self.history.minutes / limit
        return max(self.steps / self.config.steps, by_time)

    def _policy(self) -> Policy:
        return self.learner.player.as_policy(
            self.history.game, policy_notes(self.config, self.steps)
        )

    def _snapshot(self) -> dict[str, Any]:
        return {
            "to_learn": self._to_learn,
            "rng": self._rng.bit_generator.state,
            "learner": self.learner.snapshot(),
            "replay": to_tensors(self._replay.snapshot()),
            "games": to_tensors(self._games),
        }

    def _restore(self, snapshot: dict[str, Any]) -> list[str]:
        self.learner.restore(snapshot["learner"])
        self._replay.restore(to_arrays(snapshot["replay"]))
        self._games = to_arrays(snapshot["games"])
        self._rng.bit_generator.state = snapshot["rng"]
        self._to_learn = snapshot["to_learn"]
        return []


def train(
    config: GumbelConfig,
    folder: Path,
    resume: bool,
    console: Console,
    executor: Executor = HERE,
) -> bool:
    """Train, evaluate the best policy and write the results; False where it was interrupted."""
    return GumbelRun(config, folder, executor).whole(resume, console)


main = partial(
    training_command, "training.gumbel", GumbelConfig, train, others_play=True
)  # of the words; the exit code


if __name__ == "__main__":
    sys.exit(main())
