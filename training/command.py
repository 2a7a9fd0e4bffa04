"""The command line of every way of training: `python -m training.X CONFIG [--resume | ...]`."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TypeAlias

import torch as th
from rich.console import Console
from threadpoolctl import threadpool_limits

from boardenvs.utils.ending import interrupting
from training.checkpoint import CheckpointError
from training.folder import RUNS, RunError, make_folder
from training.settings import ConfigError, Settings, read_settings

# Of the settings, the run's folder, whether to resume, and where to print.
Train: TypeAlias = Callable[[Settings, Path, bool, Console], bool]

EXIT_FAILURE, EXIT_USAGE, EXIT_INTERRUPTED = 1, 2, 130


def training_command(
    module: str,
    settings: type[Settings],
    train: Callable[..., bool],
    arguments: Sequence[str] | None = None,
    more: Mapping[str, str] | None = None,
) -> int:
    """A way of training as a command; returns the exit code: 0, 1 where files cannot be written,
    2 for wrong input, 130 for an interruption.

    `train` trains, evaluates the best policy and writes the results into the run's folder, going on
    from the last checkpoint where it is to resume; it returns False where it was interrupted.
    `more` are options that take a text, with what `--help` says of them; `train` has them by name,
    None where they are not given.
    """
    parser = _parser(module)
    for name, text in (more or {}).items():
        parser.add_argument(f"--{name}", metavar=name.upper(), help=text)
    options = parser.parse_args(arguments)
    own = {name: getattr(options, name) for name in more or {}}
    again = _resume(module, options, own)
    console = Console(markup=False)
    try:
        config = read_settings(settings, options.config, options.set, trust=options.trust)
        how = {"resume": options.resume, "overwrite": options.overwrite}
        finished = run(partial(train, **own), config, console, **how)
    except (ConfigError, CheckpointError, RunError) as error:
        print(f"error: {error}", file=sys.stderr)
        return EXIT_USAGE
    except OSError as error:
        print(f"error: {error}\nWhen it is put right: {again}", file=sys.stderr)
        return EXIT_FAILURE
    except KeyboardInterrupt:
        finished = False
    if not finished:
        console.print(f"interrupted; go on with: {again}", soft_wrap=True)
        return EXIT_INTERRUPTED
    return 0


def _resume(module: str, options: argparse.Namespace, own: Mapping[str, str | None]) -> str:
    """The command that goes on."""
    words = ["python", "-m", module, str(options.config), "--resume"]
    words += ["--trust"] * options.trust
    words += [word for name, text in own.items() if text for word in (f"--{name}", text)]
    return shlex.join(words + [word for item in options.set for word in ("--set", item)])


def run(
    train: Train[Settings],
    config: Settings,
    console: Console,
    *,
    resume: bool = False,
    overwrite: bool = False,
) -> bool:
    """Train in the run's folder, which is made where it is not to resume; see `training_command`.

    Raises ConfigError, RunError, CheckpointError, OSError and KeyboardInterrupt.
    """
    folder = RUNS / config.name
    config.check_machine()
    if not resume:
        make_folder(folder, config, overwrite)
    th.set_num_threads(config.threads)
    with threadpool_limits(config.threads), interrupting():  # NumPy's threads
        return train(config, folder, resume, console)


def _parser(module: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"python -m {module}", description="Train a policy by self-play."
    )
    parser.add_argument("config", type=Path, metavar="CONFIG", help="a YAML file with settings")
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--resume", action="store_true", help="go on from the last checkpoint")
    group.add_argument("--overwrite", action="store_true", help="replace an earlier run")
    parser.add_argument(
        "--trust",
        action="store_true",
        help="import the code that CONFIG names: python: players, games and callbacks in modules",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="change a setting, for example ppo.epochs=3 (may be repeated)",
    )
    return parser
