"""Train a policy on a Ray cluster: `python -m training.rllib CONFIG [--address HOST:PORT]`.

README.md in this folder explains what RLlib needs here, and how to use it on several machines.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from training.command import training_command
from training.folder import find_checkpoint
from training.rllib.cluster import joined
from training.rllib.run import RLlibRun, running
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
    """Train, evaluate the best policy and write the results; False where it was interrupted."""
    if resume:
        find_checkpoint(folder, config, lambda content: [])  # before the cluster is asked for
    with joined(config, address), running(config, folder) as algorithm:
        run = RLlibRun(config, folder, algorithm)
        if not run.train(resume, console):
            return False
    run.conclude(console)
    return True


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code, see `training.command`."""
    return training_command("training.rllib", RLlibSettings, train, arguments, _OPTIONS)


if __name__ == "__main__":
    sys.exit(main())
