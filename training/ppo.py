"""Train a policy by self-play: `python -m training.ppo CONFIG [--resume | --overwrite]`.

README.md in this folder explains the recipe, the metrics and the files of a run.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from stable_baselines3.common.callbacks import BaseCallback

from boardenvs.agents.policy import Policy
from boardenvs.envs.sb3 import BoardVecEnv
from boardenvs.utils.files import write_atomically
from training.boards import board_groups, board_options, game_metrics
from training.command import run, training_command
from training.config import Callbacks, Config, make_callback
from training.history import policy_notes
from training.learner import make_learner
from training.run import Run
from training.settings import POOL, ConfigError


class PPORun(Run):
    """A run of Stable-Baselines3's MaskablePPO.

    Its checkpoints are written between two updates, where what is saved is all there is, so that a
    run that resumes goes on as if it had not been interrupted.
    """

    config: Config

    def __init__(self, config: Config, folder: Path, callbacks: Sequence[BaseCallback]) -> None:
        super().__init__(config, folder)
        self.callbacks = Callbacks([*_callbacks_of(config), *callbacks])
        self.env = make_env(config)
        self.learner = make_learner(config, self.env)
        self.learner.logger.dir = str(folder)

    def close(self) -> None:
        """Tell the callbacks that the run ended, and let go of the threads of the boards."""
        self.callbacks.end()
        self.env.close()

    def _go_on(self, stop_requested: Callable[[], bool]) -> None:
        if not self._is_finished():
            total, resumed = self.config.steps, bool(self.history.results)
            self.learner.begin(total, self.callbacks, resumed=resumed)
        super()._go_on(stop_requested)

    def _is_finished(self) -> bool:
        return super()._is_finished() or self.callbacks.stop_requested

    def _update(self) -> dict[str, float]:
        learner, epochs_before = self.learner, self.learner._n_updates
        self._draw_opponents()
        self.steps += self.env.num_envs * learner.n_steps
        learner.update(self.config.ppo.entropy_bonus_at(self.steps / self.config.steps))
        logged = learner.logger.name_to_value
        return {
            **game_metrics(self.env.take_ended()),
            "train/entropy": -float(logged["train/entropy_loss"]),
            "train/explained_variance": float(logged["train/explained_variance"]),
            "train/policy_loss": float(logged["train/policy_gradient_loss"]),
            "train/value_loss": float(logged["train/value_loss"]),
            "train/approx_kl": float(logged["train/approx_kl"]),
            "train/clip_fraction": float(logged["train/clip_fraction"]),
            "train/epochs": float(learner._n_updates - epochs_before),
            "train/learning_rate": float(logged["train/learning_rate"]),
            "train/entropy_bonus": float(learner.ent_coef),
        }

    def _draw_opponents(self) -> None:
        """Other snapshots on the boards of the pool, for the rollout that begins."""
        boards = self.env.boards
        count = sum(group.name == POOL for group in boards.groups)
        if count and len(self.pool):
            boards.set_opponents(POOL, self.pool.draw(count))

    def _log(self, metrics: dict[str, float]) -> None:
        """To SB3's logger, in whose formats callbacks have them written."""
        logger = self.learner.logger
        logger.name_to_value.clear()  # what SB3 records itself is among them, by other names
        for name, value in metrics.items():
            logger.record(name, value)
        logger.dump(self.steps)

    def write_best(self) -> None:
        """For players and, in `best_model.zip`, for SB3."""
        super().write_best()
        self.learner.policy.network.take(self._best)
        write_atomically(self.folder / "best_model.zip", self.learner.as_file())

    def _policy(self) -> Policy:
        return self.learner.policy.as_policy(self.env.game, policy_notes(self.config, self.steps))

    def _snapshot(self) -> dict[str, Any]:
        return {"learner": self.learner.capture()}

    def _restore(self, snapshot: dict[str, Any]) -> list[str]:
        self.learner.restore(snapshot["learner"])
        return []


def make_env(config: Config) -> BoardVecEnv:
    """The boards; those of the pool have random players until there are snapshots."""
    groups, options = board_groups(config), board_options(config)
    return BoardVecEnv(config.make_game(), groups=groups, **options, final_infos=False)


def train(
    config: Config,
    *,
    callbacks: Sequence[BaseCallback] = (),
    resume: bool = False,
    overwrite: bool = False,
    console: Console | None = None,
) -> bool:
    """What the command does, from Python, with callbacks of Stable-Baselines3 beside those of the
    settings; False where it was interrupted.

    The run's folder is runs/NAME in the current folder. RunError where it has a run already, and
    neither `resume` nor `overwrite` is set; see also `training.command.run`.
    """
    with_callbacks = partial(_train, callbacks=callbacks)
    console = console or Console(markup=False)
    return run(with_callbacks, config, console, resume=resume, overwrite=overwrite)


def _train(
    config: Config,
    folder: Path,
    resume: bool,
    console: Console,
    callbacks: Sequence[BaseCallback] = (),
) -> bool:
    """Train, evaluate the best policy and write the results; False where it was interrupted."""
    with contextlib.closing(PPORun(config, folder, callbacks)) as ppo:
        return ppo.whole(resume, console)


def _callbacks_of(config: Config) -> list[BaseCallback]:
    """The callbacks that the settings name; ConfigError where there is none of that name."""
    try:
        return [make_callback(*item) for item in config.callbacks.items()]
    except ValueError as error:
        raise ConfigError(str(error)) from None


main = partial(training_command, "training.ppo", Config, _train)  # of the words; the exit code


if __name__ == "__main__":
    sys.exit(main())
