"""Train a policy by self-play: `python -m training.ppo CONFIG [--resume | --overwrite]`.

The learner is `SelfPlayPPO` with the network of all trainers. README.md in this folder
is the guide, reference.md explains settings, metrics and files.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch as th
from gymnasium import spaces
from rich.console import Console
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.callbacks import BaseCallback, CallbackList
from stable_baselines3.common.type_aliases import Schedule
from stable_baselines3.common.utils import LinearSchedule
from torch.nn.functional import log_softmax, softmax

from boardenvs.agents.network import BoardNetwork, draw
from boardenvs.arena.executor import seed_libraries
from boardenvs.envs.sb3 import BoardVecEnv
from boardenvs.envs.sb3_ppo import SelfPlayPPO
from boardenvs.game.game import Game
from boardenvs.utils.console import make_console
from training.command import run, training_command
from training.folder import to_arrays
from training.run import Run, board_groups, board_options, game_metrics
from training.run_settings import POOL, PPOConfig, find_device, find_precision

if TYPE_CHECKING:
    from boardenvs.agents.policy import Policy


# ---- a run --------------------------------------------------------------------------------------


class PPORun(Run):
    """A run of SelfPlayPPO. Checkpoints are written between two updates, so that a resumed run goes
    on bit for bit.
    """

    config: PPOConfig

    def __init__(
        self, config: PPOConfig, folder: Path, callbacks: Sequence[BaseCallback] = ()
    ) -> None:
        super().__init__(config, folder)
        self.callbacks = Callbacks(list(callbacks))
        self.env = make_env(config)
        self.learner = make_learner(config, self.env)
        self.learner.set_logger(self.logger)

    def close(self) -> None:
        """End the callbacks, and the threads of the boards."""
        if hasattr(self.learner, "callback"):
            self.callbacks.on_training_end()
        self.env.close()

    def is_finished(self) -> bool:
        return super().is_finished() or self.callbacks.stop_requested

    def _update(self) -> dict[str, float]:
        if not hasattr(self.learner, "callback"):
            self.learner.begin(self.config.steps, self.callbacks)
        seed_libraries(self.config.seed + self.steps)  # SB3 and players may draw from them
        boards = self.env.boards
        if self._has_pool and len(self.pool):
            count = sum(group.name == POOL for group in boards.groups)
            boards.set_opponents(POOL, self.pool.draw(count))
        self.steps += self.env.num_envs * self.learner.n_steps
        self.learner.update(self.config.ppo.entropy_bonus_at(self.steps / self.config.steps))
        metrics = {
            name: float(x)
            for name, x in self.logger.name_to_value.items()
            if isinstance(x, int | float | np.number)  # a callback may record texts and figures
        }
        return game_metrics(boards.take_ended()) | metrics

    def _policy(self) -> Policy:
        return self.learner.policy.as_policy(self.game, self.notes())

    def _snapshot(self) -> dict[str, Any]:
        return {"learner": self.learner.capture()}

    def _restore(self, snapshot: dict[str, Any]) -> None:
        self.learner.restore(snapshot["learner"])


def make_env(config: PPOConfig) -> BoardVecEnv:
    """Return the boards of a run."""
    groups, options = board_groups(config.self_play), board_options(config)
    return BoardVecEnv(config.make_game(), groups=groups, **options, final_infos=False)


def train(
    config: PPOConfig,
    *,
    callbacks: Sequence[BaseCallback] = (),
    resume: bool = False,
    overwrite: bool = False,
    console: Console | None = None,
) -> bool:
    """Train from Python, with callbacks of Stable-Baselines3; return False if interrupted.

    The run's folder is runs/NAME in the current folder. RunError if it holds a run already, and
    neither `resume` nor `overwrite` is set; see also `training.command.run`.
    """
    with_callbacks = partial(_train, callbacks=callbacks)
    console = console or make_console()
    return run(with_callbacks, config, console, resume, overwrite)


def _train(
    config: PPOConfig,
    folder: Path,
    resume: bool,
    console: Console,
    callbacks: Sequence[BaseCallback] = (),
) -> bool:
    with contextlib.closing(PPORun(config, folder, callbacks)) as ppo:
        return ppo.whole(resume, console)


# ---- the learner --------------------------------------------------------------------------------


class MaskedPolicy(MaskableActorCriticPolicy):
    """A `BoardNetwork` as sb3-contrib's policy.

    It is faster than sb3-contrib's own if there are many actions: torch's `exp` and `logsumexp` are
    slow for logits as low as masked ones, and `multinomial` draws a random number for every action.
    """

    def __init__(
        self,
        observation_space: spaces.Box,
        action_space: spaces.Discrete,
        lr_schedule: Schedule,
        *,
        network: tuple[Game, Mapping[str, Any], str],
        **named: Any,
    ) -> None:
        self._network = network
        super().__init__(observation_space, action_space, lr_schedule, net_arch=[], **named)

    def _build(self, lr_schedule: Schedule) -> None:
        self.network = BoardNetwork(*self._network)
        if "hidden" in self._network[1]:
            self.network.begin_orthogonal()
        rate = lr_schedule(1.0)
        self.optimizer = self.optimizer_class(self.parameters(), lr=rate, **self.optimizer_kwargs)  # type: ignore[call-arg]

    def forward(
        self, obs: th.Tensor, deterministic: bool = False, action_masks: Any = None
    ) -> tuple[th.Tensor, th.Tensor, th.Tensor]:
        """Return actions (B,), values (B, 1) and the actions' log-probabilities (B,)."""
        logits, values = self._outputs(obs, action_masks)
        actions = logits.argmax(dim=1) if deterministic else draw(softmax(logits, dim=1))
        return actions, values[:, None], _of_actions(log_softmax(logits, dim=1), actions)

    def evaluate_actions(
        self, obs: th.Tensor, actions: th.Tensor, action_masks: Any = None
    ) -> tuple[th.Tensor, th.Tensor, th.Tensor]:
        """Return values (B, 1), the actions' log-probabilities (B,) and entropies (B,)."""
        logits, values = self._outputs(obs, action_masks)
        log_probabilities = log_softmax(logits, dim=1)
        entropy = -(softmax(logits, dim=1) * log_probabilities).sum(dim=1)
        return values[:, None], _of_actions(log_probabilities, actions), entropy

    def predict_values(self, obs: Any) -> th.Tensor:
        return self.network.outputs(_planes(obs))[1][:, None]

    def _predict(
        self, observation: Any, deterministic: bool = False, action_masks: Any = None
    ) -> th.Tensor:
        return self(observation, deterministic, action_masks)[0]

    def _outputs(self, obs: th.Tensor, masks: Any) -> tuple[th.Tensor, th.Tensor]:
        """Return the masked logits (B, A) and the values (B,)."""
        if masks is None:
            legal = th.ones((), dtype=th.bool, device=self.device)
        else:
            legal = th.as_tensor(masks, dtype=th.bool, device=self.device).reshape(len(obs), -1)
        logits, values = self.network(_planes(obs), legal)
        return logits, values

    def as_policy(self, game: Game, notes: dict[str, Any] | None = None) -> Policy:
        """Return a copy without torch; `boardenvs.agents.export.policy_from_sb3` calls this."""
        return self.network.as_policy(game, notes, mover_view=True)


def _planes(observations: th.Tensor) -> th.Tensor:
    """View observations (B, R, F, C) as planes (B, C, R, F)."""
    return observations.permute(0, 3, 1, 2)


def _of_actions(values: th.Tensor, actions: th.Tensor) -> th.Tensor:
    return values.gather(1, actions.view(-1, 1).long()).squeeze(1)


class Callbacks(CallbackList):
    """SB3's callbacks; one that returns False ends the run after the update, not within it."""

    stop_requested = False

    def _on_step(self) -> bool:
        self.stop_requested |= not super()._on_step()
        return True


class PPOLearner(SelfPlayPPO):
    """SelfPlayPPO that learns update by update, so that a checkpoint fits between two updates."""

    policy: MaskedPolicy
    env: BoardVecEnv
    callback: BaseCallback

    def begin(self, total: int, callback: BaseCallback) -> None:
        """Begin a training of `total` steps, or go on with one."""
        done = self.num_timesteps
        _, self.callback = self._setup_learn(total - done, callback, reset_num_timesteps=not done)
        self.callback.on_training_start(locals(), globals())

    def update(self, entropy_bonus: float) -> None:
        """Play on all boards and learn from that; SB3's metrics are in the logger then."""
        self.ent_coef = entropy_bonus
        self.collect_rollouts(self.env, self.callback, self.rollout_buffer, self.n_steps)
        self._update_current_progress_remaining(self.num_timesteps, self._total_timesteps)
        self.train()

    def capture(self) -> dict[str, Any]:
        """Return everything that the rest of a training depends on, between two updates."""
        return {
            "policy": self.policy.state_dict(),
            "optimizer": self.policy.optimizer.state_dict(),
            "steps": self.num_timesteps,
            "updates": self._n_updates,
            "episode_starts": self._last_episode_starts,
            "env": self.env.snapshot(),
        }

    def restore(self, captured: dict[str, Any]) -> None:
        """Go on from a `capture` of a learner with the same settings, its arrays as tensors."""
        self.policy.load_state_dict(captured["policy"])
        self.policy.optimizer.load_state_dict(captured["optimizer"])
        self.num_timesteps = captured["steps"]
        self._n_updates = captured["updates"]
        self._last_episode_starts = to_arrays(captured["episode_starts"])
        self._last_obs = self.env.restore(to_arrays(captured["env"]))


def make_learner(config: PPOConfig, env: BoardVecEnv) -> PPOLearner:
    """Return a learner at the start of a run; seeds all global random generators."""
    ppo, device = config.ppo, find_device(config.device)
    network = env.game, config.network.size, find_precision(device)
    learner = PPOLearner(
        MaskedPolicy,
        env,
        n_steps=ppo.steps_per_update,
        batch_size=ppo.batch_size,
        n_epochs=ppo.EPOCHS,
        learning_rate=LinearSchedule(ppo.learning_rate, ppo.final_learning_rate, 1.0),
        gae_lambda=ppo.gae_lambda,
        clip_range=ppo.CLIP_RANGE,
        ent_coef=ppo.entropy_bonus,
        vf_coef=ppo.VALUE_WEIGHT,
        max_grad_norm=ppo.MAX_GRADIENT,
        policy_kwargs={"network": network},
        seed=config.seed,
        device=device,
    )
    if (start := config.start_policy()) is not None:
        learner.policy.network.take(start)
    return learner


main = partial(training_command, "training.ppo", PPOConfig, _train)  # takes the arguments


if __name__ == "__main__":
    sys.exit(main())
