"""Train a policy by self-play: `python -m training.ppo CONFIG [--resume | --overwrite]`.

README.md in this folder explains the recipe, the figures and the files of a run.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from pathlib import Path

import torch as th
from rich.console import Console
from sb3_contrib import MaskablePPO

from training.command import Command
from training.config import Config
from training.folder import resume_from
from training.interrupt import InterruptRequest
from training.loop import StopTraining, Training
from training.model import make_env, make_model
from training.progress import TrainingDisplay
from training.report import conclude


def train(config: Config, folder: Path, resume: bool, console: Console) -> bool:
    """Train, judge the best policy and write the results; False where it was interrupted."""
    env = make_env(config)
    model = make_model(config, env)
    with contextlib.closing(env), InterruptRequest() as interrupt:
        training = Training(config, folder, env, interrupt)
        resumed = resume and resume_from(
            folder, config, lambda content: training.load(model, content), console
        )
        done = model.num_timesteps
        with TrainingDisplay(
            console, folder / "tensorboard", config.name, config.steps, done
        ) as display:
            training.display = display
            if not training.history.is_finished(done):
                with contextlib.suppress(StopTraining):
                    model.learn(
                        config.steps - done,
                        callback=training,
                        log_interval=None,  # type: ignore[arg-type]  # the callback logs
                        reset_num_timesteps=not resumed,
                    )
        if interrupt.requested:
            return False
    _write_best(training, model)
    conclude(folder, config, training.history, console)
    return True


def _write_best(training: Training, model: MaskablePPO) -> None:
    model.policy.load_state_dict(training.best_weights)
    training.write_best(model)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code, see `training.command`."""
    th.distributions.Distribution.set_default_validate_args(False)  # the masks are checked
    return Command("training.ppo", Config, train)(arguments)


if __name__ == "__main__":
    sys.exit(main())
