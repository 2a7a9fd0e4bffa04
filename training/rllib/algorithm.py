"""The algorithm of a run: RLlib's PPO as the settings say, and its state for checkpoints."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import ray
from ray.rllib.core import DEFAULT_MODULE_ID
from ray.rllib.utils.metrics import NUM_ENV_STEPS_SAMPLED_LIFETIME

from boardenvs.agents.policy import Policy
from boardenvs.envs.rllib.league import League
from boardenvs.envs.rllib.ppo import BoardPPO, BoardPPOConfig
from training.boards import board_groups, board_options
from training.checkpoint import to_arrays, to_tensors
from training.device import find_precision
from training.folder import RunError
from training.history import policy_notes
from training.rllib.settings import RLlibSettings
from training.settings import POOL


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
    ppo, cluster, pool = config.ppo, config.cluster, config.self_play.pool
    rllib = BoardPPOConfig()
    rllib.update_from_dict(dict(config.rllib))
    rllib.boards(config.make_game(), board_groups(config), **board_options(config))
    rllib.network(ppo.hidden, find_precision(config.precision))
    rllib.env_runners(
        num_env_runners=cluster.runners,
        num_cpus_per_env_runner=cluster.cpus_per_runner,
        num_gpus_per_env_runner=cluster.gpus_per_runner,
        rollout_fragment_length=ppo.steps_per_update,
    )
    rllib.learners(
        num_learners=cluster.learners,
        num_cpus_per_learner=cluster.cpus_per_learner,
        num_gpus_per_learner=cluster.gpus_per_learner,
    )
    rllib.training(
        lr=_schedule(config.steps, ppo.learning_rate, ppo.final_learning_rate),
        entropy_coeff=_schedule(config.steps, ppo.entropy_bonus, ppo.final_entropy_bonus),
        lambda_=ppo.gae_lambda,
        clip_param=ppo.clip_range,
        vf_loss_coeff=ppo.value_weight,
        grad_clip=ppo.max_gradient,
        num_epochs=ppo.epochs,
        minibatch_size=ppo.batch_size,
        train_batch_size_per_learner=config.steps_per_update // max(cluster.learners, 1),
    )
    league = partial(
        League,
        folder=(folder / "pool").resolve(),
        every=pool.every,
        size=pool.size,
        name=POOL,
        seed=config.seed,
        notes=policy_notes(config, 0),
    )
    rllib.callbacks(league)
    rllib.debugging(seed=config.seed, log_level="ERROR")
    return rllib


def _schedule(steps: int, first: float, last: float | None) -> float | list[list[float]]:
    """A value that changes linearly over the run."""
    return first if last in (None, first) else [[0, first], [steps, last]]


def league_of(algorithm: BoardPPO) -> League:
    """The algorithm's league."""
    return next(callback for callback in algorithm.callbacks if isinstance(callback, League))


def capture(algorithm: BoardPPO) -> dict[str, Any]:
    """All of the training that a checkpoint keeps: weights, optimiser and counters, no boards."""
    learner = algorithm.learner_group.get_state()["learner"]
    learner.pop("metrics_logger", None)
    stats = algorithm.metrics.get_state()["stats"]
    return {
        "learner": to_tensors(_plain(learner)),
        "counters": _plain({name: x for name, x in stats.items() if "lifetime" in name}),
        "iteration": algorithm.iteration,
    }


def restore(algorithm: BoardPPO, captured: dict[str, Any]) -> list[str]:
    """Go on from what was captured, on whatever cluster; what is wrong with the pool's files."""
    algorithm.learner_group.set_state({"learner": to_arrays(captured["learner"])})
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
    group.sync_weights(from_worker_or_learner_group=algorithm.learner_group, inference_only=True)

    def count(runner: Any) -> None:
        runner.num_env_steps_sampled_lifetime = steps

    group.foreach_env_runner(count)
    league = league_of(algorithm)
    league.on_checkpoint_loaded(algorithm=algorithm)
    return league.problems


def _plain(value: Any) -> Any:
    """Nested dicts and lists with NumPy's numbers as Python's, which a checkpoint may hold."""
    if isinstance(value, dict):
        return {key: _plain(x) for key, x in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_plain(x) for x in value)
    return value.item() if isinstance(value, np.generic) else value
