"""A run between two updates: figures, evaluations, checkpoints, the end."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from ray.rllib.core import DEFAULT_MODULE_ID
from ray.rllib.utils.metrics import ENV_RUNNER_RESULTS, FAULT_TOLERANCE_STATS, LEARNER_RESULTS

from boardenvs.agents.policy import Policy
from boardenvs.agents.policy_file import save_policy
from boardenvs.envs.groups import EndedGames
from boardenvs.envs.rllib.learner import MINIBATCHES
from boardenvs.envs.rllib.ppo import BoardPPO, NoRunnersError
from boardenvs.envs.rllib.runner import CPU_SECONDS, GAMES
from training.boards import game_figures
from training.checkpoint import save_checkpoint, to_arrays, to_tensors
from training.history import History, is_due, policy_notes
from training.interrupt import InterruptRequest
from training.progress import TrainingDisplay
from training.rllib.algorithm import capture, league_of, restore
from training.rllib.settings import RLlibSettings


class ClusterTraining:
    """A run of an algorithm, and its record."""

    def __init__(self, config: RLlibSettings, folder: Path, algorithm: BoardPPO) -> None:
        self.config = config
        self.folder = folder
        self.algorithm = algorithm
        self.history = History(config)
        self.best_weights: dict[str, Any] = {}  # of the module, arrays
        self._steps_saved = 0
        self._healthy = config.cluster.runners
        self._warned = 0  # how many of the league's problems have been told

    def save(self) -> None:
        """Write a checkpoint; OSError where that cannot be, and then those before it are kept."""
        steps = self.algorithm.steps
        content = {
            "config": self.config.model_dump(mode="json"),
            "algorithm": capture(self.algorithm),
            "history": self.history.snapshot(),
            "best_weights": to_tensors(self.best_weights),
        }
        save_checkpoint(self.folder / "checkpoints", steps, content)
        self._steps_saved = steps

    def load(self, content: dict[str, Any]) -> list[str]:
        """Go on from what `save` has written; returns what could not be restored."""
        problems = restore(self.algorithm, content["algorithm"])
        self.history.restore(content["history"])
        self.best_weights = to_arrays(content["best_weights"])
        self._steps_saved, self._warned = self.algorithm.steps, len(problems)
        return problems

    def run(self, display: TrainingDisplay, interrupt: InterruptRequest) -> None:
        """Train until the run is finished or an interrupt is requested, and save.

        NoRunnersError where no env runner is left, after saving too.
        """
        self.history.start_clocks()
        if not self.history.results:
            self._evaluate(display)
            self._try(display, "the first checkpoint", self.save)
        while not (self.history.is_finished(self.algorithm.steps) or interrupt.requested):
            try:
                self._update(display)
            except NoRunnersError:
                self.save()  # the learner is as the last update left it
                raise
        if self._steps_saved < self.algorithm.steps:
            self.save()

    def write_best(self) -> None:
        """Write the best policy for players."""
        module = self.algorithm.get_module()
        module.set_state(self.best_weights)
        notes = policy_notes(self.config, self.history.best.steps)
        save_policy(module.as_policy(self.history.game, notes), self.folder / "policy.npz")

    def _update(self, display: TrainingDisplay) -> None:
        before, began = self.algorithm.steps, time.monotonic()
        result = self.algorithm.train()
        steps, seconds = self.algorithm.steps, time.monotonic() - began
        figures = self._figures(result, steps - before, seconds)
        self.history.add_figures(steps, figures)
        self.history.add_cpu_seconds(_cpu_seconds(result))
        display.update(steps, figures)
        self._tell_of_runners(display, result)
        for problem in league_of(self.algorithm).problems[self._warned :]:
            display.say(f"warning: {problem}; the run goes on")
            self._warned += 1
        is_last = self.history.is_finished(steps)
        if is_last or is_due(before, steps, self.config.evaluation.every):
            self._evaluate(display)
        if not is_last and is_due(self._steps_saved, steps, self.config.checkpoint_every):
            self._try(display, "a checkpoint", self.save)

    def _tell_of_runners(self, display: TrainingDisplay, result: Mapping[str, Any]) -> None:
        """A line where runners have failed, or are back."""
        runners, healthy = self.config.cluster.runners, self._healthy
        self._healthy = result[FAULT_TOLERANCE_STATS]["num_healthy_workers"]
        if self._healthy < healthy:
            display.say(
                f"warning: {runners - self._healthy} of {runners} env runners have failed; the run "
                "goes on without them until Ray has started them again"
            )
        elif self._healthy > healthy:
            display.say(f"{self._healthy} of {runners} env runners play")

    def _figures(self, result: Mapping[str, Any], steps: int, seconds: float) -> dict[str, float]:
        """The figures of the update that has just been made; training/README.md explains each."""
        learnt = result[LEARNER_RESULTS][DEFAULT_MODULE_ID]
        played = result[ENV_RUNNER_RESULTS][GAMES]
        names = dict.fromkeys(group.name for group in self.algorithm.config.env_config["groups"])
        ended = {name: EndedGames(**played[name]) for name in names}
        trained = float(learnt[MINIBATCHES]) * self.config.ppo.batch_size
        figures = {
            "speed/steps_per_second": steps / seconds,
            **game_figures(ended),
            "train/entropy": learnt["entropy"],
            "train/explained_variance": learnt["explained_variance"],
            "train/policy_loss": learnt["policy_loss"],
            "train/value_loss": learnt["value_loss"],
            "train/approx_kl": learnt["approx_kl"],
            "train/clip_fraction": learnt["clip_fraction"],
            "train/epochs": trained / steps,
            "train/learning_rate": learnt["default_optimizer_learning_rate"],
            "train/entropy_bonus": learnt["curr_entropy_coeff"],
        }
        return {name: float(value) for name, value in figures.items()}

    def _evaluate(self, display: TrainingDisplay) -> None:
        steps = self.algorithm.steps
        result, is_best = self.history.evaluate(self._policy(), steps)
        display.evaluated(result, is_best)
        if is_best:
            weights = self.algorithm.get_module().get_state()
            self.best_weights = {name: np.array(x) for name, x in weights.items()}
            self._try(display, "the best policy", self.write_best)

    def _policy(self) -> Policy:
        return self.algorithm.as_policy(policy_notes(self.config, self.algorithm.steps))

    def _try(self, display: TrainingDisplay, what: str, write: Callable[[], object]) -> None:
        """Write a file that the training can go on without: what it holds is also in memory."""
        try:
            write()
        except OSError as error:
            display.say(f"warning: {what} could not be written ({error}); the run goes on")


def _cpu_seconds(result: Mapping[str, Any]) -> float:
    """The CPU time that runners and learners in processes of their own took for an update."""
    played = result[ENV_RUNNER_RESULTS].get(CPU_SECONDS, 0.0)
    learnt = result[LEARNER_RESULTS][DEFAULT_MODULE_ID].get(CPU_SECONDS, 0.0)
    return float(played) + float(learnt)
