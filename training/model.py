"""The learner: MaskablePPO over the boards of a training, and all of its state for checkpoints."""

from __future__ import annotations

import io
import random
from typing import Any

import numpy as np
import torch as th
from sb3_contrib import MaskablePPO
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.utils import LinearSchedule

from boardenvs.agents.trunk import begin_from, flat_planes
from boardenvs.envs.sb3 import BoardVecEnv
from training.boards import board_groups, board_options
from training.checkpoint import to_arrays, to_tensors
from training.config import Config
from training.device import find_device
from training.network import MaskedPolicy, Trunk
from training.precision import find_precision


def make_env(config: Config) -> BoardVecEnv:
    """The boards; those of the pool have random players until there are snapshots."""
    groups, options = board_groups(config), board_options(config)
    return BoardVecEnv(config.make_game(), groups=groups, **options, final_infos=False)


def make_model(config: Config, env: BoardVecEnv) -> MaskablePPO:
    """A model, untrained or as its `start` says; seeds all random generators with the seed."""
    ppo = config.ppo
    model = MaskablePPO(
        MaskedPolicy,
        env,
        n_steps=ppo.steps_per_update,
        batch_size=ppo.batch_size,
        n_epochs=ppo.epochs,
        learning_rate=LinearSchedule(ppo.learning_rate, ppo.final_learning_rate, 1.0),
        gae_lambda=ppo.gae_lambda,
        clip_range=ppo.clip_range,
        target_kl=ppo.target_kl,
        ent_coef=ppo.entropy_bonus,
        vf_coef=ppo.value_weight,
        max_grad_norm=ppo.max_gradient,
        policy_kwargs={
            "net_arch": [],
            "features_extractor_class": Trunk,
            "features_extractor_kwargs": {
                "hidden": ppo.hidden,
                "flat": flat_planes(env.game),
                "precision": find_precision(config.precision),
            },
        },
        seed=config.seed,
        device=find_device(config.device),
    )
    # One gamma for each board: -1 where the next state is the other side's. SB3 computes returns
    # and advantages for all boards at once, so an array does what a number does. See README.md.
    model.rollout_buffer.gamma = env.discounts  # type: ignore[assignment]
    model.set_logger(Logger(None, []))  # the metrics are read from it after each update
    if (start := config.start_policy()) is not None:
        network: Any = model.policy
        begin_from(start, network.features_extractor.layers, network.action_net, network.value_net)
    return model


def capture(model: MaskablePPO, env: BoardVecEnv) -> dict[str, Any]:
    """All that the rest of a training depends on, between two updates."""
    return {
        "policy": model.policy.state_dict(),
        "optimizer": model.policy.optimizer.state_dict(),
        "steps": model.num_timesteps,
        "updates": model._n_updates,
        "episode_starts": to_tensors(model._last_episode_starts),
        "env": to_tensors(env.snapshot()),
        "torch_rng": th.get_rng_state(),
        "cuda_rng": th.cuda.get_rng_state_all() if th.cuda.is_available() else [],
        "numpy_rng": to_tensors(np.random.get_state()),  # noqa: NPY002 - SB3 shuffles with it
        "python_rng": random.getstate(),
    }


def restore(model: MaskablePPO, env: BoardVecEnv, captured: dict[str, Any]) -> None:
    """Put a model and environment made from the same settings where `capture` found them."""
    model.policy.load_state_dict(captured["policy"])
    model.policy.optimizer.load_state_dict(captured["optimizer"])
    model.num_timesteps = captured["steps"]
    model._n_updates = captured["updates"]
    model._last_episode_starts = to_arrays(captured["episode_starts"])
    model._last_obs = env.restore(to_arrays(captured["env"]))
    th.set_rng_state(captured["torch_rng"])
    if captured["cuda_rng"] and th.cuda.is_available():
        th.cuda.set_rng_state_all(captured["cuda_rng"])
    np.random.set_state(to_arrays(captured["numpy_rng"]))  # noqa: NPY002
    random.setstate(captured["python_rng"])


def model_file(model: MaskablePPO) -> bytes:
    """The content of a file for `MaskablePPO.load`."""
    buffer = io.BytesIO()
    model.save(buffer)
    return buffer.getvalue()
