"""The learner: MaskablePPO over self-play, and all of its state for checkpoints."""

from __future__ import annotations

import io
import random
from typing import Any

import numpy as np
import torch as th
from gymnasium import spaces
from sb3_contrib import MaskablePPO
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.utils import LinearSchedule

from boardenvs.envs.sb3 import BoardVecEnv
from training.checkpoint import to_arrays, to_tensors
from training.config import Config

# One policy plays both sides, one ply a step, so the value of the next state is the opponent's:
# what is good for it is bad for the mover. See README.md, "Why gamma is -1".
GAMMA = -1.0


class Trunk(BaseFeaturesExtractor):
    """Fully connected layers that policy and value share: half the work of one stack for each."""

    def __init__(self, observation_space: spaces.Box, hidden: tuple[int, ...]) -> None:
        super().__init__(observation_space, hidden[-1])
        sizes = (int(np.prod(observation_space.shape)), *hidden)
        layers: list[th.nn.Module] = [th.nn.Flatten()]
        for inputs, outputs in zip(sizes, hidden, strict=False):
            layers += [th.nn.Linear(inputs, outputs), th.nn.ReLU()]
        self.layers = th.nn.Sequential(*layers)

    def forward(self, observations: th.Tensor) -> th.Tensor:
        features: th.Tensor = self.layers(observations)
        return features


def make_env(config: Config) -> BoardVecEnv:
    return BoardVecEnv(
        config.make_game(),
        config.self_play.boards,
        random_plies=config.self_play.random_plies,
        seed=config.seed,
    )


def make_model(config: Config, env: BoardVecEnv) -> MaskablePPO:
    """An untrained model; seeds all random generators with the run's seed."""
    ppo = config.ppo
    model = MaskablePPO(
        "MlpPolicy",
        env,
        gamma=GAMMA,
        n_steps=ppo.steps_per_update,
        batch_size=ppo.batch_size,
        n_epochs=ppo.epochs,
        learning_rate=LinearSchedule(ppo.learning_rate, ppo.final_learning_rate, 1.0),
        gae_lambda=ppo.gae_lambda,
        clip_range=ppo.clip_range,
        ent_coef=ppo.entropy_bonus,
        vf_coef=ppo.value_weight,
        max_grad_norm=ppo.max_gradient,
        policy_kwargs={
            "net_arch": [],
            "features_extractor_class": Trunk,
            "features_extractor_kwargs": {"hidden": ppo.hidden},
        },
        seed=config.seed,
        device="cpu",
    )
    model.set_logger(Logger(None, []))  # the figures are read from it after each update
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
    np.random.set_state(to_arrays(captured["numpy_rng"]))  # noqa: NPY002
    random.setstate(captured["python_rng"])


def model_file(model: MaskablePPO) -> bytes:
    """The content of a file for `MaskablePPO.load`."""
    buffer = io.BytesIO()
    model.save(buffer)
    return buffer.getvalue()
