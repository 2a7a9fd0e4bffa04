"""The learner of `training.ppo`: sb3-contrib's MaskablePPO with the network that all trainers have,
and all of its state for checkpoints.
"""

from __future__ import annotations

import io
import random
from typing import Any

import numpy as np
import torch as th
from gymnasium import spaces
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.distributions import MaskableDistribution
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.type_aliases import Schedule
from stable_baselines3.common.utils import LinearSchedule
from torch.nn.functional import log_softmax, softmax

from boardenvs.agents.network import BoardNetwork, draw, flat_planes
from boardenvs.agents.policy import Policy
from boardenvs.envs.sb3 import BoardVecEnv
from boardenvs.envs.sb3_buffer import TurnRolloutBuffer
from boardenvs.game.contract import Game
from training.checkpoint import to_arrays, to_tensors
from training.config import Config
from training.settings import find_device, find_precision


class MaskedPolicy(MaskableActorCriticPolicy):
    """A `BoardNetwork` as sb3-contrib's policy.

    Where there are many actions it is faster than sb3-contrib's own. Torch's `exp` and `logsumexp`
    take twelve times as long where logits are as low as those of masked actions; its softmax does
    not. One draw by `multinomial` costs a random number for every action. Together that was half of
    a training with 513 actions.
    """

    def __init__(
        self,
        observation_space: spaces.Box,
        action_space: spaces.Discrete,
        lr_schedule: Schedule,
        *,
        hidden: tuple[int, ...],
        flat: tuple[int, ...] = (),
        precision: str = "float32",
        **named: Any,
    ) -> None:
        self._network_options = hidden, flat, precision
        super().__init__(observation_space, action_space, lr_schedule, net_arch=[], **named)

    def _build(self, lr_schedule: Schedule) -> None:
        shape, actions = self.observation_space.shape, int(self.action_space.n)  # type: ignore[attr-defined]
        assert shape is not None
        self.network = BoardNetwork(shape, actions, *self._network_options)
        self.network.begin_orthogonal()
        rate = lr_schedule(1.0)
        self.optimizer = self.optimizer_class(self.parameters(), lr=rate, **self.optimizer_kwargs)  # type: ignore[call-arg]

    def forward(
        self, obs: th.Tensor, deterministic: bool = False, action_masks: Any = None
    ) -> tuple[th.Tensor, th.Tensor, th.Tensor]:
        """Actions (B,), values (B, 1) and the logarithms of the actions' probabilities (B,)."""
        logits, values = self._outputs(obs, action_masks)
        actions = logits.argmax(dim=1) if deterministic else draw(softmax(logits, dim=1))
        return actions, values[:, None], _of_actions(log_softmax(logits, dim=1), actions)

    def evaluate_actions(
        self, obs: th.Tensor, actions: th.Tensor, action_masks: Any = None
    ) -> tuple[th.Tensor, th.Tensor, th.Tensor]:
        """Values (B, 1), the logarithms of the actions' probabilities (B,) and entropies (B,)."""
        logits, values = self._outputs(obs, action_masks)
        log_probabilities = log_softmax(logits, dim=1)
        entropy = -(softmax(logits, dim=1) * log_probabilities).sum(dim=1)
        return values[:, None], _of_actions(log_probabilities, actions), entropy

    def predict_values(self, obs: Any) -> th.Tensor:
        return self.network.values(self.network.features(obs))[:, None]

    def get_distribution(self, obs: Any, action_masks: Any = None) -> MaskableDistribution:
        return self.action_dist.proba_distribution(self._outputs(obs, action_masks)[0])

    def _predict(
        self, observation: Any, deterministic: bool = False, action_masks: Any = None
    ) -> th.Tensor:
        actions: th.Tensor = self(observation, deterministic, action_masks)[0]
        return actions

    def _outputs(self, obs: th.Tensor, masks: Any) -> tuple[th.Tensor, th.Tensor]:
        """The masked logits (B, A), and values (B,); without masks all actions may be chosen."""
        if masks is None:
            legal = th.ones((), dtype=th.bool, device=self.device)
        else:
            legal = th.as_tensor(masks, dtype=th.bool, device=self.device).reshape(len(obs), -1)
        logits, values = self.network(obs, legal)
        return logits, values

    def as_policy(self, game: Game, notes: dict[str, Any] | None = None) -> Policy:
        """What has been learnt, for `boardenvs.agents.policy_from_sb3`."""
        return self.network.as_policy(game, notes)


def _of_actions(values: th.Tensor, actions: th.Tensor) -> th.Tensor:
    return values.gather(1, actions.view(-1, 1).long()).squeeze(1)


class PPOLearner(MaskablePPO):
    """MaskablePPO, which learns update by update: what `learn` does in one go."""

    policy: MaskedPolicy
    env: BoardVecEnv
    callback: BaseCallback

    def begin(self, total: int, callback: BaseCallback, *, resumed: bool) -> None:
        """Begin a training up to `total` steps, or go on with one, and say so to the callback."""
        left = total - self.num_timesteps
        _, self.callback = self._setup_learn(left, callback, reset_num_timesteps=not resumed)
        self.callback.on_training_start(locals(), globals())

    def update(self, entropy_bonus: float) -> None:
        """Play on all boards and learn from that; the logger has what SB3 records."""
        self.ent_coef = entropy_bonus
        self.collect_rollouts(self.env, self.callback, self.rollout_buffer, self.n_steps)
        self._update_current_progress_remaining(self.num_timesteps, self._total_timesteps)
        self.train()

    def capture(self) -> dict[str, Any]:
        """All that the rest of a training depends on, between two updates."""
        return {
            "policy": self.policy.state_dict(),
            "optimizer": self.policy.optimizer.state_dict(),
            "steps": self.num_timesteps,
            "updates": self._n_updates,
            "episode_starts": to_tensors(self._last_episode_starts),
            "env": to_tensors(self.env.snapshot()),
            "torch_rng": th.get_rng_state(),
            "cuda_rng": th.cuda.get_rng_state_all() if th.cuda.is_available() else [],
            "numpy_rng": to_tensors(np.random.get_state()),  # noqa: NPY002 - SB3 shuffles with it
            "python_rng": random.getstate(),
        }

    def restore(self, captured: dict[str, Any]) -> None:
        """Go on from a `capture` of a learner made from the same settings."""
        self.policy.load_state_dict(captured["policy"])
        self.policy.optimizer.load_state_dict(captured["optimizer"])
        self.num_timesteps = captured["steps"]
        self._n_updates = captured["updates"]
        self._last_episode_starts = to_arrays(captured["episode_starts"])
        self._last_obs = self.env.restore(to_arrays(captured["env"]))
        th.set_rng_state(captured["torch_rng"])
        if captured["cuda_rng"] and th.cuda.is_available():
            th.cuda.set_rng_state_all(captured["cuda_rng"])
        np.random.set_state(to_arrays(captured["numpy_rng"]))  # noqa: NPY002
        random.setstate(captured["python_rng"])

    def as_file(self) -> bytes:
        """The content of a file for `MaskablePPO.load`."""
        buffer = io.BytesIO()
        self.save(buffer)
        return buffer.getvalue()

    def _excluded_save_params(self) -> list[str]:
        buffer = ("rollout_buffer_class", "rollout_buffer_kwargs")  # which holds the environment
        return [*super()._excluded_save_params(), *buffer, "callback"]


def make_learner(config: Config, env: BoardVecEnv) -> PPOLearner:
    """A learner, untrained or as its `start` says; seeds all random generators with the seed."""
    ppo = config.ppo
    learner = PPOLearner(
        MaskedPolicy,
        env,
        n_steps=ppo.steps_per_update,
        batch_size=ppo.batch_size,
        n_epochs=ppo.epochs,
        learning_rate=LinearSchedule(ppo.learning_rate, ppo.final_learning_rate, 1.0),
        gamma=1.0,  # the buffer knows which states are the other side's
        gae_lambda=ppo.gae_lambda,
        rollout_buffer_class=TurnRolloutBuffer,
        rollout_buffer_kwargs={"env": env},
        clip_range=ppo.clip_range,
        target_kl=ppo.target_kl,
        ent_coef=ppo.entropy_bonus,
        vf_coef=ppo.value_weight,
        max_grad_norm=ppo.max_gradient,
        policy_kwargs={
            "hidden": ppo.hidden,
            "flat": flat_planes(env.game),
            "precision": find_precision(config.precision),
        },
        seed=config.seed,
        device=find_device(config.device),
    )
    learner.set_logger(Logger(None, []))  # the metrics are read from it after each update
    if (start := config.start_policy()) is not None:
        learner.policy.network.take(start)
    return learner
