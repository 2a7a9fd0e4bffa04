"""Train a policy by self-play: `python -m training.ppo CONFIG [--resume | --overwrite]`.

README.md in this folder explains the recipe, the metrics and the files of a run.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import torch as th
from rich.console import Console
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

from training.callbacks import Callbacks, make_callback
from training.command import TrainingCommand, run
from training.config import Config
from training.folder import resume_from
from training.interrupt import InterruptRequest
from training.loop import StopTraining, Training
from training.model import make_env, make_model
from training.progress import TrainingDisplay
from training.report import conclude
from training.settings import ConfigError


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
    """Train, judge the best policy and write the results; False where it was interrupted."""
    th.distributions.Distribution.set_default_validate_args(False)  # the masks are checked
    others = Callbacks([*_callbacks_of(config), *callbacks])
    env = make_env(config)
    model = make_model(config, env)
    model.logger.dir = str(folder)
    training = Training(config, folder, env, others)
    with contextlib.closing(env), contextlib.ExitStack() as at_end:
        at_end.callback(others.end)
        resumed = resume and resume_from(
            folder, config, lambda content: training.load(model, content), console
        )
        if not _learn(training, model, resumed, console):
            return False
        model.policy.load_state_dict(training.best_weights)
        training.write_best(model)
        conclude(folder, config, training.history, console)
    return True


def _learn(training: Training, model: MaskablePPO, resumed: bool, console: Console) -> bool:
    """Train to the end of the run, or until a signal, and then False."""
    config, done = training.config, model.num_timesteps
    folder = training.folder / "tensorboard"
    with (
        InterruptRequest() as interrupt,
        TrainingDisplay(console, folder, config.name, config.steps, done) as display,
    ):
        training.display, training.interrupt = display, interrupt
        if not training.history.is_finished(done):
            with contextlib.suppress(StopTraining):
                model.learn(
                    config.steps - done,
                    callback=[training.others, training],
                    log_interval=None,  # type: ignore[arg-type]  # the callback logs
                    reset_num_timesteps=not resumed,
                )
        return not interrupt.requested


def _callbacks_of(config: Config) -> list[BaseCallback]:
    """The callbacks that the settings name; ConfigError where there is none of that name."""
    try:
        return [make_callback(*item) for item in config.callbacks.items()]
    except ValueError as error:
        raise ConfigError(str(error)) from None


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code, see `training.command`."""
    return TrainingCommand("training.ppo", Config, _train)(arguments)


if __name__ == "__main__":
    sys.exit(main())
