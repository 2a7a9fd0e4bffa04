"""Train a policy by search: `python -m training.gumbel CONFIG [--resume | --overwrite]`.

Gumbel AlphaZero (Danihelka et al. 2022): a network plays itself, each of its moves found by a
search of few simulations, and learns the search's improved policy and the results of the games.
README.md in the folder above explains the recipe, the metrics and the files of a run.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from training.command import training_command
from training.gumbel.run import GumbelRun
from training.gumbel.settings import GumbelConfig


def train(config: GumbelConfig, folder: Path, resume: bool, console: Console) -> bool:
    """Train, evaluate the best policy and write the results; False where it was interrupted."""
    run = GumbelRun(config, folder)
    if not run.train(resume, console):
        return False
    run.conclude(console)
    return True


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code, see `training.command`."""
    return training_command("training.gumbel", GumbelConfig, train, arguments)


if __name__ == "__main__":
    sys.exit(main())
