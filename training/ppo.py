"""Train a policy by self-play: `python -m training.ppo CONFIG [--resume | --overwrite]`.

README.md in this folder is the guide, reference.md explains settings, metrics and files.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from stable_baselines3.common.callbacks import BaseCallback

from boardenvs.agents.policy import Policy
from boardenvs.envs.sb3 import BoardVecEnv
from boardenvs.utils.console import make_console
from boardenvs.utils.files import write_atomically
from training.boards import board_groups, board_options, game_metrics
from training.command import run, training_command
from training.learner import Callbacks, make_learner
from training.run import Run
from training.run_settings import POOL, PPOConfig


class PPORun(Run):
    """A run of MaskablePPO. Checkpoints are written between two updates, so that a resumed run goes
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

    def train(self, resume: bool, console: Console) -> bool:
        if resume:
            self.resume(console)
        if not self.is_finished():
            self.learner.begin(self.config.steps, self.callbacks)
        return super().train(False, console)

    def close(self) -> None:
        """End the callbacks, and the threads of the boards."""
        if hasattr(self.learner, "callback"):
            self.callbacks.on_training_end()
        self.env.close()

    def is_finished(self) -> bool:
        return super().is_finished() or self.callbacks.stop_requested

    def _update(self) -> dict[str, float]:
        self._draw_opponents()
        self.steps += self.env.num_envs * self.learner.n_steps
        self.learner.update(self.config.ppo.entropy_bonus_at(self.steps / self.config.steps))
        logged = dict(self.logger.name_to_value)
        self.logger.name_to_value.clear()  # SB3's own names; ours are the same for all trainers
        self.logger.name_to_excluded.clear()
        return {
            **game_metrics(self.env.take_ended()),
            "train/entropy": -float(logged["train/entropy_loss"]),
            "train/explained_variance": float(logged["train/explained_variance"]),
            "train/policy_loss": float(logged["train/policy_gradient_loss"]),
            "train/value_loss": float(logged["train/value_loss"]),
            "train/approx_kl": float(logged["train/approx_kl"]),
            "train/clip_fraction": float(logged["train/clip_fraction"]),
            "train/learning_rate": float(logged["train/learning_rate"]),
            "train/entropy_bonus": float(self.learner.ent_coef),
        }

    def _draw_opponents(self) -> None:
        """Draw snapshots from the pool for the boards of the next rollout."""
        boards = self.env.boards
        count = sum(group.name == POOL for group in boards.groups)
        if count and len(self.pool):
            boards.set_opponents(POOL, self.pool.draw(count))

    def conclude(self, console: Console) -> None:
        self.learner.policy.network.take(self._best)
        write_atomically(self.folder / "best_model.zip", self.learner.as_file())
        super().conclude(console)

    def _policy(self) -> Policy:
        return self.learner.policy.as_policy(self.game, self.notes())

    def _snapshot(self) -> dict[str, Any]:
        return {"learner": self.learner.capture()}

    def _restore(self, snapshot: dict[str, Any]) -> list[str]:
        self.learner.restore(snapshot["learner"])
        return []


def make_env(config: PPOConfig) -> BoardVecEnv:
    """Return the boards of a run."""
    groups, options = board_groups(config), board_options(config)
    return BoardVecEnv(config.make_game(), groups=groups, **options, final_infos=False)


def train(
    config: PPOConfig,
    *,
    callbacks: Sequence[BaseCallback] = (),
    resume: bool = False,
    overwrite: bool = False,
    console: Console | None = None,
) -> bool:
    """Train from Python, with callbacks of Stable-Baselines3; returns False if interrupted.

    The run's folder is runs/NAME in the current folder. RunError if it holds a run already, and
    neither `resume` nor `overwrite` is set; see also `training.command.run`.
    """
    with_callbacks = partial(_train, callbacks=callbacks)
    console = console or make_console()
    return run(with_callbacks, config, console, resume=resume, overwrite=overwrite)


def _train(
    config: PPOConfig,
    folder: Path,
    resume: bool,
    console: Console,
    callbacks: Sequence[BaseCallback] = (),
) -> bool:
    with contextlib.closing(PPORun(config, folder, callbacks)) as ppo:
        return ppo.whole(resume, console)


main = partial(training_command, "training.ppo", PPOConfig, _train)  # takes the arguments


if __name__ == "__main__":
    sys.exit(main())
