"""How fast RLlib trains with its own parts and with ours: `python -m training.rllib.speed`.

All learn Othello with the same network, batches and epochs, in one process, in turn. Shown are the
steps learnt from, a second of CPU time.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import gymnasium as gym
import ray
import torch as th
from ray.rllib.algorithms.algorithm import Algorithm
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.utils.metrics import ENV_RUNNER_RESULTS, NUM_MODULE_STEPS_SAMPLED
from rich.console import Console
from rich.table import Table

from boardenvs.envs.rllib.module import BoardModule
from boardenvs.envs.rllib.multi_agent import BoardMultiAgentEnv
from boardenvs.envs.rllib.ppo import BoardPPOConfig
from boardenvs.envs.rllib.vector import MaskedVectorEnv
from training.rllib.cluster import LOOPBACK

BOARDS, STEPS, BATCH = 256, 32, 1024
# The two-agent environment has one board a process, and is given a smaller update.
FEW = 1024


def own_parts() -> PPOConfig:
    """RLlib's PPO with our network, and its own env runner and connectors."""
    return _shared(
        PPOConfig()
        .environment(MaskedVectorEnv, env_config={"game": "othello"})
        .env_runners(
            num_envs_per_env_runner=BOARDS,
            rollout_fragment_length=STEPS,
            gym_env_vectorize_mode=gym.VectorizeMode.VECTOR_ENTRY_POINT,
        )
        .training(train_batch_size_per_learner=BOARDS * STEPS)
        .rl_module(rl_module_spec=RLModuleSpec(module_class=BoardModule))
    )


def two_agents() -> PPOConfig:
    """RLlib's multi-agent PPO, as in its examples of leagues: one of two networks learns."""

    def mapping(agent: int, episode: object, **kwargs: object) -> str:
        return ("learner", "other")[(hash(episode.id_) + agent) % 2]  # type: ignore[attr-defined]

    modules = {name: RLModuleSpec(module_class=BoardModule) for name in ("learner", "other")}
    return _shared(
        PPOConfig()
        .environment(BoardMultiAgentEnv, env_config={"game": "othello"})
        .training(train_batch_size_per_learner=FEW)
        .multi_agent(
            policies=set(modules), policy_mapping_fn=mapping, policies_to_train=["learner"]
        )
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs=modules))
    )


def our_parts() -> PPOConfig:
    """`BoardPPO`."""
    return _shared(
        BoardPPOConfig()
        .boards("othello", BOARDS)
        .training(train_batch_size_per_learner=BOARDS * STEPS)
    )


WAYS: dict[str, Callable[[], PPOConfig]] = {
    "two agents, multi-agent env runner": two_agents,
    "MaskedVectorEnv, RLlib's env runner": own_parts,
    "BoardPPO": our_parts,
}


def _shared(config: PPOConfig) -> PPOConfig:
    config.env_runners(num_env_runners=0)
    config.training(
        gamma=1.0, use_kl_loss=False, minibatch_size=min(BATCH, FEW), num_epochs=2, lr=1e-3
    )
    return config.debugging(seed=0, log_level="ERROR")


def steps_per_second(algorithm: Algorithm, updates: int) -> float:
    """The steps that are learnt from, a second of this process's CPU time."""
    steps, began = 0.0, time.process_time()
    for _ in range(updates):
        sampled = algorithm.train()[ENV_RUNNER_RESULTS][NUM_MODULE_STEPS_SAMPLED]
        steps += float(sampled.get("learner") or sampled["default_policy"])
    return steps / (time.process_time() - began)


def main() -> None:
    """Measure all ways in turn, so many rounds, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m training.rllib.speed", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    th.set_num_threads(1)
    ray.init(
        "local",
        _node_ip_address=LOOPBACK,
        include_dashboard=False,
        logging_level="ERROR",
        log_to_driver=False,
    )
    algorithms = {name: make().build_algo() for name, make in WAYS.items()}
    for algorithm in algorithms.values():
        algorithm.train()  # compiles rules, and allocates
    found: dict[str, list[float]] = {name: [] for name in WAYS}
    for _ in range(rounds):
        for name, algorithm in algorithms.items():
            found[name].append(steps_per_second(algorithm, 2))
    table = Table("", "steps a CPU second", "least", "most")
    for name, speeds in found.items():
        row = (statistics.median(speeds), min(speeds), max(speeds))
        table.add_row(name, *(f"{speed:,.0f}" for speed in row))
    Console().print(table)
    ray.shutdown()


if __name__ == "__main__":
    main()
