"""MaskablePPO for self-play on a `BoardVecEnv`, right in every game.

env = BoardVecEnv("nine_mens_morris", num_envs=256)
model = SelfPlayPPO("MlpPolicy", env)
model.learn(200_000)
"""

from __future__ import annotations

from typing import Any

from boardenvs.utils.imports import extra

with extra("train"):
    from sb3_contrib import MaskablePPO
    from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.vec_env import VecEnv, unwrap_vec_normalize

from boardenvs.envs.sb3_buffer import TurnRolloutBuffer


class SelfPlayPPO(MaskablePPO):
    """sb3-contrib's MaskablePPO that takes the sign of the next state's value from the environment.

    The environment's `discounts` (B,) are -1 on boards where the other side moves next, and 1 where
    the same side or, against an opponent, the learner does. So one model learns in self-play,
    against opponents, in groups of both, and in games where a side may move again.

    Arguments are MaskablePPO's. `gamma`, by default 1, only shortens the horizon: ValueError unless
    it is above 0. TypeError for an environment without `discounts`, ValueError for `VecNormalize`.

    ```python
    from boardenvs.envs.sb3 import BoardVecEnv
    from boardenvs.envs.sb3_ppo import SelfPlayPPO

    env = BoardVecEnv("nine_mens_morris", num_envs=64, seed=1)
    model = SelfPlayPPO("MlpPolicy", env, n_steps=16, batch_size=256, n_epochs=1, seed=1)
    model.learn(2_000)
    ```
    """

    policy: MaskableActorCriticPolicy
    rollout_buffer: TurnRolloutBuffer

    def __init__(self, policy: Any, env: Any, *, gamma: float = 1.0, **options: Any) -> None:
        options["rollout_buffer_class"] = TurnRolloutBuffer
        super().__init__(policy, env, gamma=gamma, **options)

    def _setup_model(self) -> None:
        if self.gamma <= 0:  # here, since `load` passes by the constructor
            raise ValueError(
                f"gamma is {self.gamma}: it must be above 0, 1 as a rule; the sign of the next "
                "state's value comes from the environment's `discounts`"
            )
        super()._setup_model()

    @staticmethod
    def _wrap_env(env: Any, verbose: int = 0, monitor_wrapper: bool = True) -> VecEnv:
        """Return a vector environment; the constructor, `load` and `set_env` call this."""
        boards = MaskablePPO._wrap_env(env, verbose, monitor_wrapper)
        if unwrap_vec_normalize(boards) is not None:
            raise ValueError(
                "the environment is in a VecNormalize: leave it out, observations are 0 and 1 and "
                "rewards from -1 to 1 already"
            )
        if not hasattr(boards, "discounts"):
            raise TypeError(
                f"{type(boards.unwrapped).__name__} has no `discounts`: SelfPlayPPO learns on a "
                "BoardVecEnv; for an environment of gymnasium.make take MaskablePPO"
            )
        return boards

    def collect_rollouts(
        self,
        env: VecEnv,
        callback: BaseCallback,
        rollout_buffer: Any,
        n_rollout_steps: int,
        use_masking: bool = True,
    ) -> bool:
        rollout_buffer.env = env
        return super().collect_rollouts(env, callback, rollout_buffer, n_rollout_steps, use_masking)
