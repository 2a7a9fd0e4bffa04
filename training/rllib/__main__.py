"""Train a policy on a Ray cluster: `python -m training.rllib CONFIG [--address HOST:PORT]`.

README.md in this folder explains what RLlib needs here, and how to use it on several machines.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

import ray
from ray.rllib.core import DEFAULT_MODULE_ID
from ray.rllib.utils.metrics import (
    ENV_RUNNER_RESULTS,
    FAULT_TOLERANCE_STATS,
    LEARNER_RESULTS,
    NUM_ENV_STEPS_SAMPLED_LIFETIME,
)
from rich.console import Console

from boardenvs.agents.policy import Policy
from boardenvs.envs.batch import EndedGames
from boardenvs.envs.rllib.ppo import EXPLAINED_VARIANCE, BoardPPO, BoardPPOConfig, NoRunnersError
from boardenvs.envs.rllib.runner import CPU_SECONDS, GAMES, METRICS, MINIBATCHES
from training.boards import board_groups, board_options, game_metrics
from training.command import training_command
from training.folder import RunError, to_arrays
from training.rllib.cluster import joined
from training.rllib.settings import COPIED, RLlibSettings
from training.run import Run
from training.run_settings import POOL, POOL_SIZE, find_precision


@contextlib.contextmanager
def running(config: RLlibSettings, folder: Path) -> Iterator[BoardPPO]:
    """An algorithm that begins anew, runners and learners started; its pool is in the folder."""
    try:
        algorithm = make_config(config, folder).build_algo()
    except (IndexError, ray.exceptions.RayError) as error:  # the first where all runners failed
        raise RunError(
            f"the runners or learners could not be started ({type(error).__name__}: {error}). "
            "Every node needs Python and the packages of 'boardenvs[rllib]' in the same versions "
            "as this machine; Ray's logs say what failed (`ray logs cluster`)"
        ) from None
    try:
        if (start := config.start_policy()) is not None:
            _begin_from(algorithm, start)
        yield algorithm
    finally:
        algorithm.stop()
        with contextlib.suppress(OSError):
            Path(algorithm.logdir).rmdir()  # RLlib makes it in the home folder, for nothing


def _begin_from(algorithm: BoardPPO, policy: Policy) -> None:
    """Have learners and runners take over the layers of a policy of the same widths."""
    algorithm.learner_group.foreach_learner(
        lambda learner: learner.module[DEFAULT_MODULE_ID].unwrapped().network.take(policy)
    )
    # Runners pass over weights of the number that they have, so a sync would not reach them.
    algorithm.env_runner_group.foreach_env_runner(lambda runner: runner.module.network.take(policy))


def make_config(config: RLlibSettings, folder: Path) -> BoardPPOConfig:
    """The settings of a run as RLlib's."""
    ppo, pool = config.ppo, config.self_play.pool
    rllib = BoardPPOConfig()
    rllib.update_from_dict(dict(config.rllib))
    rllib.boards(config.make_game(), board_groups(config), **board_options(config))
    rllib.network(ppo.hidden, find_precision())
    notes = {"run": config.name, "seed": config.seed}
    rllib.league(
        (folder / "pool").resolve(), every=pool.every, size=POOL_SIZE, name=POOL, notes=notes
    )
    rllib.training(
        lr=_schedule(config.steps, ppo.learning_rate, ppo.final_learning_rate),
        entropy_coeff=_schedule(config.steps, ppo.entropy_bonus, ppo.final_entropy_bonus),
        train_batch_size_per_learner=config.steps_per_update // max(config.cluster.learners, 1),
    )
    copied = {name: attrgetter(path)(config) for name, path in COPIED.items()}
    rllib.update_from_dict({**copied, "log_level": "ERROR"})
    return rllib


def _schedule(steps: int, first: float, last: float | None) -> float | list[list[float]]:
    """A value that changes linearly over the run."""
    return first if last in (None, first) else [[0, first], [steps, last]]


class RLlibRun(Run):
    """A run of an algorithm of RLlib."""

    config: RLlibSettings
    keeps_pool = False  # RLlib's league does

    def __init__(self, config: RLlibSettings, folder: Path, algorithm: BoardPPO) -> None:
        super().__init__(config, folder)
        self.algorithm = algorithm
        self._healthy = config.cluster.runners
        self._warned = 0  # how many of the algorithm's problems have been said

    def _update(self) -> dict[str, float]:
        """NoRunnersError where no env runner is left, after saving."""
        try:
            result = self.algorithm.train()
        except NoRunnersError:
            self.save()  # the learner is as the last update left it
            raise
        before, self.steps = self.steps, self.algorithm.steps
        played, learnt = result[ENV_RUNNER_RESULTS], result[LEARNER_RESULTS][DEFAULT_MODULE_ID]
        # Of runners and learners in processes of their own.
        self.seconds_elsewhere += sum(float(x.get(CPU_SECONDS, 0)) for x in (played, learnt))
        self._say_what_failed(result[FAULT_TOLERANCE_STATS]["num_healthy_workers"])
        groups = self.algorithm.config.env_config["groups"]
        names = dict.fromkeys(group.name for group in groups)
        trained = float(learnt[MINIBATCHES]) * self.config.ppo.batch_size
        metrics = {
            **game_metrics({name: EndedGames(**played[GAMES][name]) for name in names}),
            **{f"train/{name}": learnt[name] for name in (*METRICS, EXPLAINED_VARIANCE)},
            "train/epochs": trained / (self.steps - before),
            "train/learning_rate": learnt["default_optimizer_learning_rate"],
            "train/entropy_bonus": learnt["curr_entropy_coeff"],
        }
        return {name: float(value) for name, value in metrics.items()}

    def _say_what_failed(self, healthy: int) -> None:
        """A line where runners have failed or are back, and for each file of the pool."""
        runners, before = self.config.cluster.runners, self._healthy
        self._healthy = healthy
        if healthy < before:
            self._display.say(
                f"warning: {runners - healthy} of {runners} env runners have failed; the run "
                "goes on without them until Ray has started them again"
            )
        elif healthy > before:
            self._display.say(f"{healthy} of {runners} env runners play")
        for problem in self.algorithm.problems[self._warned :]:
            self._display.say(f"warning: {problem}; the run goes on")
            self._warned += 1

    def _policy(self) -> Policy:
        return self.algorithm.as_policy(self.notes())

    def _snapshot(self) -> dict[str, Any]:
        """Weights, optimiser and counters, no boards."""
        learner = self.algorithm.learner_group.get_state()["learner"]
        learner.pop("metrics_logger", None)
        stats = self.algorithm.metrics.get_state()["stats"]
        algorithm = {
            "learner": learner,
            "counters": {name: x for name, x in stats.items() if "lifetime" in name},
            "iteration": self.algorithm.iteration,
        }
        return {"algorithm": algorithm}

    def _restore(self, snapshot: dict[str, Any]) -> list[str]:
        """Go on from what was captured, on whatever cluster; what is wrong with the pool."""
        algorithm, captured = self.algorithm, to_arrays(snapshot["algorithm"])
        algorithm.learner_group.set_state({"learner": captured["learner"]})
        algorithm.metrics.set_state({"stats": captured["counters"]})
        algorithm._iteration = captured["iteration"]
        steps = algorithm.steps
        # The learner's schedules follow its updates: this sets them to where they were.
        algorithm.learner_group.foreach_learner(
            lambda learner: learner.after_gradient_based_update(
                timesteps={NUM_ENV_STEPS_SAMPLED_LIFETIME: steps}
            )
        )
        group = algorithm.env_runner_group
        learners = algorithm.learner_group
        group.sync_weights(from_worker_or_learner_group=learners, inference_only=True)

        def count(runner: Any) -> None:
            runner.num_env_steps_sampled_lifetime = steps

        group.foreach_env_runner(count)
        algorithm.restore_pool()
        self._warned = len(algorithm.problems)
        return algorithm.problems


_OPTIONS = {
    "address": "the cluster to join, HOST:PORT or auto; without it the run has one of its own on "
    "this machine"
}


def train(
    config: RLlibSettings,
    folder: Path,
    resume: bool,
    console: Console,
    address: str | None = None,
) -> bool:
    """Train, evaluate the best policy and write the results; False where it was interrupted."""
    with joined(config, address), running(config, folder) as algorithm:
        run = RLlibRun(config, folder, algorithm)
        if not run.train(resume, console):
            return False
    run.conclude(console)
    return True


main = partial(
    training_command, "training.rllib", RLlibSettings, train, options=_OPTIONS
)  # of the words; the exit code


if __name__ == "__main__":
    sys.exit(main())
