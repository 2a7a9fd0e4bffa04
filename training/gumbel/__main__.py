"""Train a policy by search: `python -m training.gumbel CONFIG [--resume | --overwrite]`.

Gumbel AlphaZero (Danihelka et al. 2022): a network plays itself, each of its moves found by a
search of few simulations, and learns the search's improved policy and the results of the games.
README.md in the folder above explains the recipe, the figures and the files of a run.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from training.command import TrainingCommand
from training.folder import resume_from
from training.gumbel.run import GumbelRun
from training.gumbel.settings import GumbelConfig
from training.interrupt import InterruptRequest
from training.progress import TrainingDisplay
from training.report import conclude


def train(config: GumbelConfig, folder: Path, resume: bool, console: Console) -> bool:
    """Train, judge the best policy and write the results; False where it was interrupted."""
    with InterruptRequest() as interrupt:
        run = GumbelRun(config, folder)
        if resume:
            resume_from(folder, config, run.load, console)
        with TrainingDisplay(
            console, folder / "tensorboard", config.name, config.steps, run.steps
        ) as display:
            run.go_on(display, interrupt)
        if interrupt.requested:
            return False
    run.write_best()
    conclude(folder, config, run.history, console)
    return True


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code, see `training.command`."""
    return TrainingCommand("training.gumbel", GumbelConfig, train)(arguments)


if __name__ == "__main__":
    sys.exit(main())
