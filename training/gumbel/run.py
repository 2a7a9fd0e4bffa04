"""A training in progress: games by search, gradient steps, and between them evaluations."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch as th

from boardenvs.agents.policy import Policy
from boardenvs.agents.policy_file import save_policy
from boardenvs.search import Evaluator
from training.checkpoint import save_checkpoint, to_arrays, to_tensors
from training.gumbel.games import SelfPlay
from training.gumbel.judge import JudgedNetwork
from training.gumbel.network import NetworkEvaluator, NetworkLearner, PolicyValueNetwork
from training.gumbel.replay import ReplayBuffer
from training.gumbel.settings import GumbelConfig
from training.history import History, is_due, policy_notes
from training.interrupt import InterruptRequest
from training.precision import find_precision
from training.progress import TrainingDisplay
from training.settings import ConfigError


class GumbelRun:
    """Updates, and between them evaluations and checkpoints."""

    def __init__(self, config: GumbelConfig, folder: Path) -> None:
        self.config = config
        self.folder = folder
        self.history = History(config)
        self.steps = 0
        game = self.history.game
        settings = config.learning
        th.manual_seed(config.seed)
        self._rng = np.random.default_rng([config.seed, 2])
        device = _device(config.device)
        precision = find_precision(config.precision)
        network = PolicyValueNetwork(game, settings.hidden, precision)
        if (start := config.start_policy()) is not None:
            network.begin_from(start, self._rng)
        self.learner = NetworkLearner(network.to(device), settings.average, settings.weight_decay)
        self._evaluator = _evaluator(config, self.learner.player)
        symmetries = config.self_play.symmetries
        self._replay = ReplayBuffer(
            game, settings.replay, settings.search_value, symmetries=symmetries
        )
        self._self_play = SelfPlay(config, game, self._replay)
        self._best = self._policy()
        self._saved = 0  # steps of the last checkpoint
        self._owed = 0.0  # positions to learn from, of those played

    def go_on(self, display: TrainingDisplay, interrupt: InterruptRequest) -> None:
        """Train to the end of the run, or until an interruption is asked for."""
        config, self._display = self.config, display
        self.history.start_clocks()
        if not self.history.results:
            self._evaluate()
            self._try("the first checkpoint", self.save)
        while not (self.history.is_finished(self.steps) or interrupt.requested):
            before = self.steps
            self._update()
            is_last = self.history.is_finished(self.steps)
            if is_last or is_due(before, self.steps, config.evaluation.every):
                self._evaluate()
            if is_last or interrupt.requested:
                self.save()
            elif is_due(self._saved, self.steps, config.checkpoint_every):
                self._try("a checkpoint", self.save)

    def _update(self) -> None:
        """Play, and then learn."""
        began, settings = time.monotonic(), self.config.learning
        before = self._replay.added
        self._self_play.play(self._evaluator, settings.plies_per_update)
        played = self._replay.added - before
        self.steps += played
        playing = time.monotonic() - began
        self._owed += played * settings.reuse
        figures = self._learn()
        figures = {
            "speed/steps_per_second": played / (time.monotonic() - began),
            "speed/playing": playing / (time.monotonic() - began),
            **self._self_play.take_figures(),
            **figures,
        }
        self.history.add_figures(self.steps, figures)
        self._display.update(self.steps, figures)

    def _learn(self) -> dict[str, float]:
        """The gradient steps that are owed, and what came of them; nan where there were none."""
        settings = self.config.learning
        rate = settings.learning_rate_at(self._done())
        losses, values = [th.full((3,), th.nan)], [np.float32(np.nan)]
        if self._replay.ready < settings.batch_size:
            self._owed = 0.0
        while self._owed >= settings.batch_size:
            self._owed -= settings.batch_size
            batch = self._replay.sample(settings.batch_size, self._rng)
            losses.append(self.learner.learn(batch, rate, settings.value_weight, settings.focus))
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

    def _evaluate(self) -> None:
        policy = self._policy()
        result, is_best = self.history.evaluate(policy, self.steps)
        self._display.evaluated(result, is_best)
        if is_best:
            self._best = policy
            self._try("the best policy", self.write_best)

    def _policy(self) -> Policy:
        return self.learner.player.as_policy(policy_notes(self.config, self.steps))

    def write_best(self) -> None:
        """Write the best policy to its file; OSError where that cannot be."""
        save_policy(self._best, self.folder / "policy.npz")

    def _try(self, what: str, write: Callable[[], object]) -> None:
        """Write a file that the training can go on without: what it holds is also in memory."""
        try:
            write()
        except OSError as error:
            self._display.say(f"warning: {what} could not be written ({error}); the run goes on")

    # ---- checkpoints -------------------------------------------------------------------------

    def save(self) -> None:
        """Write a checkpoint; OSError where that cannot be, and then those before it are kept."""
        best = [x for layer in _layers(self._best) for x in layer]
        content = {
            "config": self.config.model_dump(mode="json"),
            "steps": self.steps,
            "owed": self._owed,
            "rng": self._rng.bit_generator.state,
            "learner": self.learner.snapshot(),
            "best": to_tensors(best),
            "replay": to_tensors(self._replay.snapshot()),
            "games": to_tensors(self._self_play.snapshot()),
            "history": self.history.snapshot(),
        }
        save_checkpoint(self.folder / "checkpoints", self.steps, content)
        self._saved = self.steps

    def load(self, content: dict[str, Any]) -> list[str]:
        """Go on from what `save` has written; returns what could not be restored: nothing."""
        self.learner.restore(content["learner"])
        self._replay.restore(to_arrays(content["replay"]))
        self._self_play.restore(to_arrays(content["games"]))
        self._rng.bit_generator.state = content["rng"]
        self._owed = content["owed"]
        self.history.restore(content["history"])
        self.steps = self._saved = content["steps"]
        best = to_arrays(content["best"])
        *hidden, policy, value = zip(best[::2], best[1::2], strict=True)
        notes = policy_notes(self.config, self.history.best.steps)
        self._best = Policy(self.history.game, tuple(hidden), policy, value, notes)
        return []


def _evaluator(config: GumbelConfig, network: PolicyValueNetwork) -> Evaluator:
    """What judges the leaves of searches."""
    evaluator, judge = NetworkEvaluator(network), config.search.judge
    evaluation = config.evaluation_of_judge()
    if judge is None or evaluation is None:
        return evaluator
    return JudgedNetwork(evaluator, evaluation, judge.depth, judge.share)


def _layers(policy: Policy) -> list[Any]:
    return [*policy.hidden, policy.policy_head, policy.value_head]


def _device(name: str) -> th.device:
    """The device of a setting; ConfigError where there is none."""
    if name == "auto":
        return th.device("cuda" if th.cuda.is_available() else "cpu")
    device = th.device(name)
    if device.type == "cuda" and (device.index or 0) >= th.cuda.device_count():
        raise ConfigError(f"device is {name!r}: torch has {th.cuda.device_count()} GPUs here")
    return device
