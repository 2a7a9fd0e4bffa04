"""What MaskablePPO of sb3-contrib keeps of a rollout of a `BoardVecEnv`, whose next state may be
either side's.

    env = BoardVecEnv(game, num_envs=512)
    model = MaskablePPO(
        "MlpPolicy", env, gamma=1.0,
        rollout_buffer_class=TurnRolloutBuffer, rollout_buffer_kwargs={"env": env},
    )
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch as th
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer

from boardenvs.envs.sb3 import BoardVecEnv


class TurnRolloutBuffer(MaskableRolloutBuffer):
    """A buffer whose returns count the next state's value by `env.discounts` after each step.

    All of a board's rewards and values are taken as the side sees them that began the rollout
    there; then the returns and advantages are those of a single player.
    """

    def __init__(self, *args: Any, env: BoardVecEnv, **options: Any) -> None:
        self._env = env
        super().__init__(*args, **options)

    def reset(self) -> None:
        # Of each step and after the last one: 1 where the side is to move that began, else -1.
        self._signs = np.ones((self.buffer_size + 1, self.n_envs), np.float32)
        super().reset()

    def add(self, *args: Any, **options: Any) -> None:
        self._signs[self.pos + 1] = self._signs[self.pos] * self._env.discounts
        super().add(*args, **options)

    def compute_returns_and_advantage(self, last_values: th.Tensor, dones: Any) -> None:
        *signs, last = self._signs
        turning = (self.rewards, self.values)
        for array in turning:
            array *= signs
        last_values = last_values.flatten() * th.from_numpy(last).to(last_values.device)
        super().compute_returns_and_advantage(last_values, dones)
        for array in (*turning, self.advantages, self.returns):
            array *= signs
