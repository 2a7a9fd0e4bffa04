"""The rollout buffer of `SelfPlayPPO`: each step of each board has a discount of its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from boardenvs.utils.imports import extra

with extra("train"):
    import torch as th
    from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer

from boardenvs.game.state import Array, BoolArray


class TurnRolloutBuffer(MaskableRolloutBuffer):
    """A rollout buffer with one discount per step and board, gamma times `env.discounts`: negative
    where the next state is the other side's. `env` is what the steps are of; set it first.
    """

    env: Any

    def reset(self) -> None:
        self._discounts: Array = np.ones((self.buffer_size, self.n_envs), np.float32)
        super().reset()

    def add(self, *args: Any, **options: Any) -> None:
        self._discounts[self.pos] = self.gamma * self.env.discounts
        super().add(*args, **options)

    def compute_returns_and_advantage(self, last_values: th.Tensor, dones: Any) -> None:
        over = np.concatenate([self.episode_starts[1:], dones[None]]).astype(np.bool_)
        last = last_values.flatten().cpu().numpy()
        values = np.concatenate([self.values, last[None]])
        self.advantages = advantages(self.rewards, over, values, self._discounts, self.gae_lambda)
        self.returns = self.advantages + self.values


def advantages(
    rewards: Array, over: BoolArray, values: Array, discounts: Array, gae_lambda: float
) -> Array:
    """Return the advantages of T steps on B boards, (T, B): https://arxiv.org/abs/1506.02438.

    `rewards` (T, B) float32 are for the side that moved, `over` (T, B) is True if the step ended
    the game, `values` (T + 1, B) float32 are the values before each step and after the last one.
    `discounts` (T, B) float32 multiply the value of the next state: -gamma where the other side
    moves there, +gamma where the same side does.
    """
    by_step, later = np.empty_like(values[1:]), np.zeros_like(values[0])
    for step in reversed(range(len(over))):
        discount = np.where(over[step], 0, discounts[step])
        later = (
            rewards[step]
            + discount * values[step + 1]
            - values[step]
            + discount * gae_lambda * later
        )
        by_step[step] = later
    return by_step
