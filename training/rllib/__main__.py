"""Train a policy with RLlib's own PPO, here or on the cluster at $RAY_ADDRESS; see README.md.

    python -m training.rllib --game othello --runners 2 --name othello_rllib
    boardenvs match othello policy:runs/othello_rllib/policy.npz greedy

The learner plays against its earlier selves: the next state is then always its own, and RLlib's
returns have the right signs. `runs/NAME/` gets settings.json, metrics.json, policy.npz, policies/
and checkpoint/ at every evaluation.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium as gym
import ray
from ray.rllib.algorithms.algorithm import Algorithm
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core import DEFAULT_MODULE_ID
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from ray.rllib.utils.metrics import (
    ENV_RUNNER_RESULTS,
    LEARNER_RESULTS,
    NUM_ENV_STEPS_SAMPLED_LIFETIME,
)

import boardenvs
from boardenvs.agents.policy import Policy, PolicyAgent
from boardenvs.agents.pool import OpponentPool
from boardenvs.arena.executor import WorkerError
from boardenvs.envs.rllib import MaskedVectorEnv
from training.policies import POLICIES, drop_policies
from training.run import is_due
from training.single_run import SingleRunSettings, begun, evaluate, option, parser_of

METRICS = ("policy_loss", "vf_loss", "entropy", "vf_explained_var")


@dataclass(frozen=True)
class RllibSettings(SingleRunSettings):
    """The options of the command."""

    name: str = option("rllib", "the run's: its files are in runs/NAME")
    seed: int = option(0, "of the games and the network")
    steps: int = option(4_000_000, "moves of the learner in all games")
    runners: int = option(2, "processes that play; 0: the process of the command plays")
    cpus_per_runner: float = option(1, "what Ray reserves for each")
    learners: int = option(0, "processes that learn; 0: the process of the command learns")
    gpus_per_learner: float = option(0, "what Ray reserves for each")
    boards: int = option(256, "games played side by side by each runner")
    opponent: str = option("pool", "any player, or pool for earlier selves")
    pool: int = option(20, "earlier selves that are kept, one for each evaluation")
    opening_plies: Sequence[int] = option((0, 30), "random plies before each game, from, to")
    hidden: Sequence[int] = option((128, 128), "widths of the hidden layers")
    batch_size: int = option(1024, "moves in a gradient step of each learner")
    entropy_bonus: float = option(0.04, "weight of the entropy")
    evaluate_every: int = option(250_000, "moves between evaluations")


def make_config(settings: RllibSettings) -> PPOConfig:
    """RLlib's configuration: its own PPO, env runners and masking module."""
    boards = settings.boards * max(1, settings.runners)
    network = {
        "fcnet_hiddens": list(settings.hidden),
        "fcnet_activation": "relu",
        "vf_share_layers": True,
    }
    config: PPOConfig = (
        PPOConfig()
        .environment(
            MaskedVectorEnv,
            env_config={
                "game": boardenvs.games.make(settings.game),
                "opponent": "random" if settings.opponent == "pool" else settings.opponent,
                "opening_plies": tuple(settings.opening_plies),
            },
        )
        .env_runners(
            num_env_runners=settings.runners,
            num_cpus_per_env_runner=settings.cpus_per_runner,
            num_envs_per_env_runner=settings.boards,
            gym_env_vectorize_mode=gym.VectorizeMode.VECTOR_ENTRY_POINT,
            rollout_fragment_length=settings.steps_per_update,
        )
        .learners(num_learners=settings.learners, num_gpus_per_learner=settings.gpus_per_learner)
        .rl_module(
            rl_module_spec=RLModuleSpec(
                module_class=ActionMaskingTorchRLModule, model_config=network
            )
        )
        .training(
            train_batch_size_per_learner=boards
            * settings.steps_per_update
            // max(1, settings.learners),
            minibatch_size=settings.batch_size,
            num_epochs=settings.epochs,
            lr=[[0, settings.learning_rate], [settings.steps, settings.final_learning_rate]],
            gamma=1.0,
            lambda_=settings.gae_lambda,
            entropy_coeff=settings.entropy_bonus,
            use_kl_loss=False,
            vf_loss_coeff=0.5,
            vf_clip_param=float("inf"),
            grad_clip=0.5,
        )
        .debugging(seed=settings.seed, log_level="ERROR")
    )
    return config


def policy_of(algorithm: Algorithm, notes: dict[str, Any] | None = None) -> Policy:
    """A copy of what an algorithm with this network has learnt; it plays without Ray and torch."""
    weights = algorithm.learner_group.get_weights()[DEFAULT_MODULE_ID]

    def layers(prefix: str) -> list[Any]:
        return [
            (array.T.copy(), weights[name.removesuffix("weight") + "bias"])
            for name, array in weights.items()
            if name.startswith(prefix) and name.endswith(".weight")
        ]

    (policy_head,), (value_head,) = layers("pi."), layers("vf.")
    game = algorithm.config.env_config["game"]
    return Policy(game, tuple(layers("encoder.")), policy_head, value_head, notes or {})


# ---- a run ---------------------------------------------------------------------------------------


def train(settings: RllibSettings, folder: Path) -> None:
    """Train to the end, from the folder's checkpoint if there is one; print each evaluation.

    WorkerError if no env runner is left: RLlib would go on without learning.
    """
    pool = OpponentPool(folder / POLICIES, settings.pool, settings.seed)
    checkpoint, rows = (folder / "checkpoint").resolve(), []
    with built(settings) as algorithm:
        if checkpoint.exists():
            algorithm.restore_from_path(str(checkpoint))
            saved = steps_of(algorithm)
            rows = json.loads((folder / "metrics.json").read_text())
            rows = [row for row in rows if row["steps"] <= saved]  # metrics.json may be newer
            drop_policies(folder, saved)
            pool.read(saved)
        while (before := steps_of(algorithm)) < settings.steps:
            began = time.perf_counter()
            if settings.opponent == "pool" and len(pool):
                set_opponent(algorithm, pool.draw(1)[0])
            learnt = algorithm.train()[LEARNER_RESULTS][DEFAULT_MODULE_ID]
            steps = steps_of(algorithm)
            if steps == before:
                raise WorkerError(
                    "no env runner has played; Ray's logs say why (`ray logs cluster`). --resume "
                    "--trust goes on from the last checkpoint"
                )
            if steps >= settings.steps or is_due(before, steps, settings.evaluate_every):
                speed = (steps - before) / (time.perf_counter() - began)
                row = {"steps": steps, "steps_per_second": speed}
                row |= {name: float(learnt[name]) for name in METRICS}
                policy = policy_of(algorithm, {"seed": settings.seed, "steps": steps})
                rows = evaluate(policy, settings, folder, rows, row)
                pool.add(policy, steps)
                algorithm.save_to_path(str(checkpoint))


@contextlib.contextmanager
def ray_for(settings: RllibSettings) -> Iterator[None]:
    """Within this context Ray runs: on the cluster at $RAY_ADDRESS, else on this machine alone.

    WorkerError if the cluster has fewer cores than the settings need.
    """
    address = os.environ.get("RAY_ADDRESS", "local")
    cpus = settings.runners * settings.cpus_per_runner + settings.learners
    if address == "local":
        options: dict[str, Any] = {
            "num_cpus": max(os.cpu_count() or 1, int(cpus)),
            "include_dashboard": False,
        }
        if sys.platform == "linux":  # Ray replaces 127.0.0.1 by an address that others reach
            options["_node_ip_address"] = "127.0.0.2"
    else:
        folder = Path(boardenvs.__file__).parents[1]
        code = [str(folder / name) for name in ("boardenvs", "training")]
        options = {"runtime_env": {"py_modules": code}}
    ray.init(address, log_to_driver=False, logging_level=logging.ERROR, **options)
    try:
        cores = ray.cluster_resources().get("CPU", 0)
        if cores < cpus:
            raise WorkerError(f"the cluster has {cores:g} cores, and {cpus:g} are needed")
        yield
    finally:
        ray.shutdown()


@contextlib.contextmanager
def built(settings: RllibSettings) -> Iterator[Algorithm]:
    """The algorithm, stopped at the end; its folder in the home directory is removed."""
    logging.getLogger("ray.rllib").setLevel(logging.ERROR)
    algorithm = make_config(settings).build_algo()
    try:
        yield algorithm
    finally:
        algorithm.stop()
        with contextlib.suppress(OSError):
            Path(algorithm.logdir).rmdir()


def steps_of(algorithm: Algorithm) -> int:
    """Moves of the learner so far."""
    key = (ENV_RUNNER_RESULTS, NUM_ENV_STEPS_SAMPLED_LIFETIME)
    return int(algorithm.metrics.peek(key, default=0))


def set_opponent(algorithm: Algorithm, opponent: PolicyAgent) -> None:
    """Let it play on the boards of all env runners."""

    def place(runner: Any) -> None:
        if runner.env is not None:
            runner.env.unwrapped.batch.set_opponents("boards", [opponent])

    algorithm.env_runner_group.foreach_env_runner(place)


def main(words: Sequence[str] | None = None) -> None:
    parser = parser_of(
        RllibSettings, "training.rllib", "Train with RLlib's PPO, here or on a cluster."
    )
    given = vars(parser.parse_args(words))
    if given["resume"] and not given["trust"]:
        parser.error(
            "--resume reads RLlib's checkpoint, which can hold code: if you trust whoever wrote "
            "the run's folder, add --trust"
        )
    try:
        with begun(RllibSettings, given) as (settings, folder), ray_for(settings):
            train(settings, folder)
    except (ValueError, OSError, WorkerError) as error:  # Ray's ConnectionError is an OSError
        parser.error(str(error))


if __name__ == "__main__":
    main()
