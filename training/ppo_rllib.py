"""Masked PPO of Ray's RLlib under Ray Tune, here or on a cluster, in one file to copy and change.

    python ppo_rllib.py --game othello --runners 2
    boardenvs match othello policy:runs/rllib/policy.npz greedy

The learner plays against its earlier selves: the next state is then always its own, and RLlib's
returns have the right signs. Tune keeps checkpoints in runs/NAME, from which --resume goes on.
"""

from __future__ import annotations

import argparse
from collections import deque
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from ray import tune
from ray.rllib.algorithms.ppo import PPO, PPOConfig
from ray.rllib.callbacks.callbacks import RLlibCallback
from ray.rllib.core import DEFAULT_MODULE_ID
from ray.rllib.core.rl_module.rl_module import RLModule, RLModuleSpec
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule

import boardenvs
from boardenvs.agents.policy import PolicyAgent
from boardenvs.agents.policy_file import save_policy
from boardenvs.envs.rllib import MaskedVectorEnv, policy_from_rllib, set_opponent
from boardenvs.utils.ray import connect

STEPS = "num_env_steps_sampled_lifetime"  # moves of the learner so far
PLIES = 32  # of each game between two updates
EARLIER = 20  # selves that are kept
MODULE = f"learner_group/learner/rl_module/{DEFAULT_MODULE_ID}"  # in a checkpoint


def parse_args(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    add = parser.add_argument
    add("--game", default="othello", help="any game of boardenvs, or MODULE:NAME")
    add("--name", default="rllib", help="the run's: its files are in runs/NAME")
    add("--seed", type=int, default=0, help="of the games and the network")
    add("--steps", type=int, default=4_000_000, help="moves of the learner in all games")
    add("--runners", type=int, default=2, help="processes that play")
    add("--boards", type=int, default=256, help="games played side by side by each runner")
    add("--opponent", help="any player, in place of earlier selves")
    add("--every", type=int, default=250_000, help="steps between earlier selves and checkpoints")
    add("--hidden", type=int, nargs="+", default=[128, 128], help="widths of the hidden layers")
    add("--resume", action="store_true", help="go on; checkpoints of others could run their code")
    args = parser.parse_args(words)
    try:
        boardenvs.games.make(args.game)
    except ValueError as error:
        parser.error(str(error))
    args.folder = Path("runs", args.name).resolve()
    if args.folder.exists() != args.resume:
        why = "there is no run to resume" if args.resume else "add --resume, or choose another name"
        parser.error(f"{args.folder}: {why}")
    return args


class EarlierSelves(RLlibCallback):  # type: ignore[misc]
    """One of the last selves plays on all boards after each update; one is added `every` steps."""

    def __init__(self, every: int, opponent: str | None) -> None:
        self.every, self.opponent, self.steps = every, opponent, 0
        self.selves, self.rng = deque[PolicyAgent](maxlen=EARLIER), np.random.default_rng(every)

    def on_train_result(self, *, algorithm: Any, result: Any, **_: Any) -> None:
        """RuntimeError if no env runner is left: RLlib would go on without learning."""
        before, self.steps = self.steps, result[STEPS]
        if self.steps == before:
            raise RuntimeError("no env runner has played; `ray logs cluster` says why")
        if self.opponent is not None:
            return
        if not self.selves or self.steps // self.every > before // self.every:
            weights = algorithm.learner_group.get_weights()[DEFAULT_MODULE_ID]
            policy = policy_from_rllib(weights, algorithm.config.env_config["game"])
            self.selves.append(PolicyAgent(policy, sample=True))
        set_opponent(algorithm, self.selves[self.rng.integers(len(self.selves))])


def make_config(args: argparse.Namespace) -> PPOConfig:
    """Return RLlib's configuration: its own PPO, env runners and masking module."""
    network = {"fcnet_hiddens": args.hidden, "fcnet_activation": "relu", "vf_share_layers": True}
    boards = {"opponent": args.opponent or "random", "opening_plies": (0, 30)}
    config: PPOConfig = (
        PPOConfig()
        .environment(
            MaskedVectorEnv, env_config={"game": boardenvs.games.make(args.game), **boards}
        )
        .callbacks(partial(EarlierSelves, args.every, args.opponent))
        .env_runners(
            num_env_runners=args.runners,
            num_envs_per_env_runner=args.boards,
            gym_env_vectorize_mode=gym.VectorizeMode.VECTOR_ENTRY_POINT,
            rollout_fragment_length=PLIES,
        )
        .rl_module(rl_module_spec=RLModuleSpec(ActionMaskingTorchRLModule, model_config=network))
        .training(
            train_batch_size_per_learner=args.boards * max(1, args.runners) * PLIES,
            minibatch_size=1024,
            num_epochs=2,
            lr=[[0, 2e-3], [args.steps, 1e-4]],
            gamma=1.0,
            lambda_=0.9,
            entropy_coeff=0.04,
            use_kl_loss=False,
            vf_loss_coeff=0.5,
            vf_clip_param=float("inf"),
            grad_clip=0.5,
        )
        .debugging(seed=args.seed, log_level="ERROR")
    )
    return config


def main(args: argparse.Namespace) -> None:
    connect(args.runners + 1, boardenvs)
    if args.resume:
        tuner = tune.Tuner.restore(str(args.folder), PPO, resume_errored=True)
    else:
        updates = args.every // (args.boards * max(1, args.runners) * PLIES)
        kept = tune.CheckpointConfig(2, checkpoint_frequency=updates or 1, checkpoint_at_end=True)
        run = tune.RunConfig(
            args.name,
            str(args.folder.parent),
            stop={STEPS: args.steps},
            checkpoint_config=kept,
            verbose=1,
        )
        tuner = tune.Tuner(PPO, param_space=make_config(args), run_config=run)
    (result,) = tuner.fit()
    if result.error or result.checkpoint is None:
        raise result.error or RuntimeError("there is no checkpoint yet")
    module = RLModule.from_checkpoint(Path(result.checkpoint.path, MODULE))
    game, notes = result.config["env_config"]["game"], {"steps": int(result.metrics[STEPS])}
    policy = policy_from_rllib(module.get_state(), game, notes)
    save_policy(policy, args.folder / "policy.npz")
    for name in ("random", "greedy"):
        print(f"  {boardenvs.play_match(game, PolicyAgent(policy), name, 100)} against {name}")


if __name__ == "__main__":
    main(parse_args())
