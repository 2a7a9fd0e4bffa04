"""The command line of all trainings: `python -m training.X CONFIG [--resume | --overwrite]`.

Code that a configuration file names is imported only with --trust: the file may be somebody else's,
and `python:` players and games in modules, "MODULE:NAME", run whatever code its author chose.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from rich.console import Console
from threadpoolctl import threadpool_limits

from boardenvs import games
from boardenvs.agents.spec import runs_code
from boardenvs.utils.checks import cut, printable, quote, unknown
from boardenvs.utils.console import make_console, python_command
from boardenvs.utils.decoding import decode, parse_yaml
from boardenvs.utils.ending import interrupting, why_interrupted
from boardenvs.utils.files import read_text
from training.folder import RUNS, RunError, run_folder
from training.run_settings import ConfigError, GameSettings, set_up_torch

Settings = TypeVar("Settings", bound=GameSettings)

EXIT_FAILURE, EXIT_USAGE, EXIT_INTERRUPTED = 1, 2, 130


def training_command(
    module: str,
    settings: type[Settings],
    train: Callable[..., bool],
    arguments: Sequence[str] | None = None,
) -> int:
    """Run a training as a command; return the exit code: 0, 1 if a file cannot be written, 2 for
    wrong input, 130 if interrupted.

    `train(config, folder, resume, console)` returns False if it was interrupted.
    """
    args = _parser(module).parse_args(arguments)
    words = [module, str(args.config), "--resume", *["--trust"] * args.trust]
    again = python_command(*words, *(word for item in args.set for word in ("--set", item)))
    console, why = make_console(), "interrupted"
    try:
        config = read_settings(settings, args.config, args.set, trust=args.trust)
        finished = run(train, config, console, args.resume, args.overwrite)
    except (ConfigError, RunError) as error:
        print(f"error: {printable(str(error))}", file=sys.stderr)
        return EXIT_USAGE
    except OSError as error:
        print(f"error: {printable(str(error))}\nWhen it is fixed: {again}", file=sys.stderr)
        return EXIT_FAILURE
    except KeyboardInterrupt as error:
        finished, why = False, why_interrupted(error)
    if not finished:
        console.print(f"{why}; go on with: {again}", soft_wrap=True)
        return EXIT_INTERRUPTED
    return 0


def _parser(module: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description="Learn by self-play.")
    parser.add_argument("config", type=Path, metavar="CONFIG", help="a YAML file with settings")
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--resume", action="store_true", help="go on from the last checkpoint")
    group.add_argument("--overwrite", action="store_true", help="replace an earlier run")
    parser.add_argument(
        "--trust",
        action="store_true",
        help="import the code that CONFIG names: python: players, and games in modules",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="change a setting, for example ppo.gae_lambda=0.8 (may be repeated)",
    )
    return parser


def run(
    train: Callable[..., bool],
    config: Settings,
    console: Console,
    resume: bool = False,
    overwrite: bool = False,
) -> bool:
    """Train in the folder runs/NAME, which is created unless the run is resumed.

    Returns False if it was interrupted. Raises ConfigError, RunError, OSError and
    KeyboardInterrupt.
    """
    folder = RUNS / config.name
    if overwrite and f"{folder}/" in str(config):
        raise RunError(
            f"a setting names a file of {folder}, which --overwrite removes: --set name=NAME makes "
            "another run"
        )
    set_up_torch()
    with (
        run_folder(folder, config, resume=resume, overwrite=overwrite),
        threadpool_limits(1),  # NumPy's threads
        interrupting(),
    ):
        return train(config, folder, resume, console)


# ---- the settings -------------------------------------------------------------------------------


def read_settings(
    kind: type[Settings], path: Path, overrides: Sequence[str] = (), *, trust: bool = False
) -> Settings:
    """Read settings of this kind from a YAML file, changed by overrides such as "seed=3".

    The default name of a run is the file's. ConfigError for everything that is wrong and, without
    `trust`, if the file names code to import.
    """
    values = {"name": path.stem} | _read_yaml(path)
    own = [_override(values, override) for override in overrides]
    if not trust and (named := code_named(values, own)):
        raise ConfigError(
            f"{path} names code, which has not been imported: {', '.join(named)}. If you trust its "
            "author, --trust imports it; or give it by --set"
        )
    try:
        return decode(kind, values, "the settings")
    except ValueError as error:
        raise ConfigError(f"{path} cannot be used: {error}") from None


def _read_yaml(path: Path) -> dict[str, Any]:
    try:
        values = parse_yaml(read_text(path))
    except FileNotFoundError:
        raise ConfigError(
            unknown("configuration file", str(path), sorted(map(str, path.parent.glob("*.yaml"))))
        ) from None
    except (OSError, ValueError) as error:  # a UnicodeDecodeError, or a number that is too long
        raise ConfigError(f"{path} cannot be read: {cut(str(error), 400)}") from None
    if not isinstance(values, dict):
        raise ConfigError(f"{path} holds no settings: it must have lines such as 'game: othello'")
    return values


def _override(values: dict[str, Any], override: str) -> list[Any]:
    """Apply an override to the values; return the words of its key, and its value."""
    key, separator, text = override.partition("=")
    if not separator:
        raise ConfigError(f"--set {cut(override)}: write it as key=value, for example seed=3")
    *groups, last = words = key.split(".")
    try:
        for group in groups:
            values = values.setdefault(group, {})
        values[last] = parse_yaml(text)
    except (AttributeError, TypeError):
        raise ConfigError(
            f"--set {cut(override)}: {cut(groups[-1])} is not a group of settings"
        ) from None
    except ValueError:
        raise ConfigError(f"--set {cut(override)}: {quote(text)} is not a YAML value") from None
    return [words, values[last]]


def code_named(settings: dict[str, Any], own: list[Any]) -> list[str]:
    """Return the texts in settings that name code to import, except those in `own`."""
    named = {text for text in _texts(settings) if runs_code(text)}
    if games.imports_code(game := str(settings.get("game"))):
        named.add(game)
    return [cut(text) for text in sorted(named - {*_texts(own)})]


def _texts(value: Any) -> Iterator[str]:
    """Yield all texts in nested dicts and lists, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _texts([*value.keys(), *value.values()])
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)
