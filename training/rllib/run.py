"""A run on a Ray cluster: updates, and what became of the env runners."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ray.rllib.core import DEFAULT_MODULE_ID
from ray.rllib.utils.metrics import ENV_RUNNER_RESULTS, FAULT_TOLERANCE_STATS, LEARNER_RESULTS

from boardenvs.agents.policy import Policy
from boardenvs.envs.batch import EndedGames
from boardenvs.envs.rllib.learner import MINIBATCHES
from boardenvs.envs.rllib.ppo import BoardPPO, NoRunnersError
from boardenvs.envs.rllib.runner import CPU_SECONDS, GAMES
from training.boards import game_metrics
from training.history import policy_notes
from training.rllib.algorithm import capture, league_of, restore
from training.rllib.settings import RLlibSettings
from training.run import Run


class RLlibRun(Run):
    """A run of an algorithm of RLlib."""

    config: RLlibSettings
    keeps_pool = False  # RLlib's league does

    def __init__(self, config: RLlibSettings, folder: Path, algorithm: BoardPPO) -> None:
        super().__init__(config, folder)
        self.algorithm = algorithm
        self._healthy = config.cluster.runners
        self._warned = 0  # how many of the league's problems have been told

    def _update(self) -> dict[str, float]:
        """NoRunnersError where no env runner is left, after saving."""
        try:
            result = self.algorithm.train()
        except NoRunnersError:
            self.save()  # the learner is as the last update left it
            raise
        before, self.steps = self.steps, self.algorithm.steps
        self.history.add_cpu_seconds(_cpu_seconds(result))
        self._tell_of_runners(result)
        for problem in league_of(self.algorithm).problems[self._warned :]:
            self._display.say(f"warning: {problem}; the run goes on")
            self._warned += 1
        return self._metrics(result, self.steps - before)

    def _policy(self) -> Policy:
        return self.algorithm.as_policy(policy_notes(self.config, self.steps))

    def _snapshot(self) -> dict[str, Any]:
        return {"algorithm": capture(self.algorithm)}

    def _restore(self, snapshot: dict[str, Any]) -> list[str]:
        problems = restore(self.algorithm, snapshot["algorithm"])
        self._warned = len(problems)
        return problems

    def _tell_of_runners(self, result: Mapping[str, Any]) -> None:
        """A line where runners have failed, or are back."""
        runners, healthy = self.config.cluster.runners, self._healthy
        self._healthy = result[FAULT_TOLERANCE_STATS]["num_healthy_workers"]
        if self._healthy < healthy:
            self._display.say(
                f"warning: {runners - self._healthy} of {runners} env runners have failed; the run "
                "goes on without them until Ray has started them again"
            )
        elif self._healthy > healthy:
            self._display.say(f"{self._healthy} of {runners} env runners play")

    def _metrics(self, result: Mapping[str, Any], steps: int) -> dict[str, float]:
        """The metrics of an update of so many steps; training/README.md explains each."""
        learnt = result[LEARNER_RESULTS][DEFAULT_MODULE_ID]
        played = result[ENV_RUNNER_RESULTS][GAMES]
        names = dict.fromkeys(group.name for group in self.algorithm.config.env_config["groups"])
        ended = {name: EndedGames(**played[name]) for name in names}
        trained = float(learnt[MINIBATCHES]) * self.config.ppo.batch_size
        metrics = {
            **game_metrics(ended),
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
        return {name: float(value) for name, value in metrics.items()}


def _cpu_seconds(result: Mapping[str, Any]) -> float:
    """The CPU time that runners and learners in processes of their own took for an update."""
    played = result[ENV_RUNNER_RESULTS].get(CPU_SECONDS, 0.0)
    learnt = result[LEARNER_RESULTS][DEFAULT_MODULE_ID].get(CPU_SECONDS, 0.0)
    return float(played) + float(learnt)
