"""Train a policy on a Ray cluster: `python -m training.rllib CONFIG [--address HOST:PORT]`.

README.md in this folder explains what RLlib needs here, and how to use it on several machines.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from training.command import TrainingCommand
from training.folder import find_checkpoint, resume_from
from training.interrupt import InterruptRequest
from training.progress import TrainingDisplay
from training.report import conclude
from training.rllib.algorithm import running
from training.rllib.cluster import joined
from training.rllib.loop import ClusterTraining
from training.rllib.settings import RLlibSettings

_OPTIONS = {
    "address": "the cluster to join, HOST:PORT or auto; without it the run has one of its own on "
    "this machine"
}


def train(
    config: RLlibSettings,
    folder: Path,
    resume: bool,
    console: Console,
    address: str | None = None,
) -> bool:
    """Train, judge the best policy and write the results; False where it was interrupted."""
    if resume:
        find_checkpoint(folder, config, lambda content: [])  # before the cluster is asked for
    with joined(config, address), running(config, folder) as algorithm:
        training = ClusterTraining(config, folder, algorithm)
        if resume:
            resume_from(folder, config, training.load, console)
        # After Ray, which takes SIGTERM for itself.
        with (
            InterruptRequest() as interrupt,
            TrainingDisplay(
                console, folder / "tensorboard", config.name, config.steps, algorithm.steps
            ) as display,
        ):
            training.run(display, interrupt)
        if interrupt.requested:
            return False
        training.write_best()
    conclude(folder, config, training.history, console)
    return True


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code, see `training.command`."""
    return TrainingCommand("training.rllib", RLlibSettings, train, _OPTIONS)(arguments)


if __name__ == "__main__":
    sys.exit(main())
