"""The command line of every way of training: `python -m training.X CONFIG [--resume | ...]`.

Settings are read from YAML, and explained when they are wrong. Code that a configuration names is
imported only where the user has said so: it may be of others, and `python:` players, and games and
callbacks in modules, "MODULE:NAME", would run what they chose.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, get_args

import torch as th
from pydantic import ValidationError
from pydantic_core import ErrorDetails
from rich.console import Console
from threadpoolctl import threadpool_limits

from boardenvs import games
from boardenvs.agents.spec import runs_code
from boardenvs.arena.executor import Executor
from boardenvs.arena.processes import WorkerError
from boardenvs.utils.checks import cut, quote, unknown
from boardenvs.utils.decoding import parse_yaml
from boardenvs.utils.ending import interrupting, why_interrupted
from training.checkpoint import CheckpointError
from training.folder import RUNS, RunError, make_folder
from training.settings import ConfigError, GameSettings, Section

Settings = TypeVar("Settings", bound=GameSettings)

# Of the settings, the run's folder, whether to resume, and where to print.
Train: TypeAlias = Callable[[Settings, Path, bool, Console], bool]

# Options of trainings whose games others may play.
_WHO_PLAYS = {
    "workers": "processes that play; with --address, by default one a core there",
    "address": "the Ray cluster where games are played, HOST:PORT, ray://HOST:PORT or auto",
}

EXIT_FAILURE, EXIT_USAGE, EXIT_INTERRUPTED = 1, 2, 130
_MOST = 2000  # characters of a message


def training_command(
    module: str,
    settings: type[Settings],
    train: Callable[..., bool],
    arguments: Sequence[str] | None = None,
    more: Mapping[str, str] | None = None,
    others_play: bool = False,
) -> int:
    """A way of training as a command; returns the exit code: 0, 1 where files cannot be written,
    or nobody plays, 2 for wrong input, 130 for an interruption.

    `train` trains, evaluates the best policy and writes the results into the run's folder, going on
    from the last checkpoint where it is to resume; it returns False where it was interrupted.
    `more` are options that take a text, with what `--help` says of them; `train` has them by name,
    None where they are not given. Where others may play the games, it has an `executor` instead.
    """
    more = _WHO_PLAYS if others_play else more or {}
    parser = _parser(module)
    for name, text in more.items():
        parser.add_argument(f"--{name}", metavar=name.upper(), help=text)
    options = parser.parse_args(arguments)
    own = {name: getattr(options, name) for name in more}
    again = _resume(module, options, own)
    console, why = Console(markup=False), "interrupted"
    try:
        config = read_settings(settings, options.config, options.set, trust=options.trust)
        how = {"resume": options.resume, "overwrite": options.overwrite}
        train = _played_by(_executor(**own), train) if others_play else partial(train, **own)
        finished = run(train, config, console, **how)
    except (ConfigError, CheckpointError, RunError) as error:
        print(f"error: {error}", file=sys.stderr)
        return EXIT_USAGE
    except (OSError, WorkerError) as error:
        print(f"error: {error}\nWhen it is put right: {again}", file=sys.stderr)
        return EXIT_FAILURE
    except KeyboardInterrupt as error:
        finished, why = False, why_interrupted(error)
    if not finished:
        console.print(f"{why}; go on with: {again}", soft_wrap=True)
        return EXIT_INTERRUPTED
    return 0


def _executor(workers: str | None, address: str | None) -> Executor:
    """Who plays; ConfigError where the number is none."""
    if workers is not None and not (workers.isdecimal() and int(workers)):
        raise ConfigError(f"--workers is {quote(workers)}: it must be a whole number, 1 or more")
    return Executor(int(workers) if workers else None, address)


def _played_by(executor: Executor, train: Callable[..., bool]) -> Callable[..., bool]:
    """`train` with the executor, whose workers live as long as it trains."""

    def training(*arguments: Any) -> bool:
        with executor:
            return train(*arguments, executor)

    return training


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


# ---- the settings -------------------------------------------------------------------------------


def read_settings(
    kind: type[Settings], path: Path, overrides: Sequence[str] = (), *, trust: bool = False
) -> Settings:
    """The settings of this kind in a YAML file, changed by overrides such as "ppo.epochs=3".

    The run's name is the file's, where none is set. ConfigError for whatever is wrong and, without
    `trust`, where the file names code; see the top of this file.
    """
    values = {"name": path.stem} | _read_yaml(path)
    said = [_override(values, override) for override in overrides]
    if not trust and (named := code_named(values, said)):
        raise ConfigError(
            f"{path} names code, which has not been imported: {', '.join(named)}. Where you trust "
            "whoever wrote it, --trust imports it; or give it by --set"
        )
    try:
        return kind.model_validate(values)
    except ValidationError as errors:
        lines = [f"  {_explain(kind, error)}" for error in errors.errors()]
        more = [f"  and {len(lines) - 10} more"] if len(lines) > 10 else []
        message = "\n".join([f"{path} cannot be used:", *lines[:10], *more])
        raise ConfigError(cut(message, _MOST)) from None


def _read_yaml(path: Path) -> dict[str, Any]:
    try:
        values = parse_yaml(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        known = sorted(str(p) for p in path.parent.glob("*.yaml"))
        message = unknown("configuration file", str(path), known)
        if not known:
            message += " Write one: the line 'game: othello' and the line 'steps: 1000000' will do."
        raise ConfigError(message) from None
    except (OSError, ValueError) as error:  # a UnicodeDecodeError, or a number that is too long
        raise ConfigError(f"{path} cannot be read: {cut(str(error), 400)}") from None
    if not isinstance(values, dict):
        raise ConfigError(f"{path} holds no settings: it must have lines such as 'game: othello'")
    return values


def _override(values: dict[str, Any], override: str) -> list[Any]:
    """Set what an override says; returns its words and its value."""
    key, separator, text = override.partition("=")
    if not separator:
        raise ConfigError(f"--set {cut(override)}: write it as key=value, for example ppo.epochs=3")
    *groups, last = words = key.split(".")
    for group in groups:
        values = values.setdefault(group, {})
        if not isinstance(values, dict):
            raise ConfigError(f"--set {cut(override)}: {cut(group)} is not a group of settings")
    try:
        values[last] = parse_yaml(text)
    except ValueError:
        raise ConfigError(f"--set {cut(override)}: {quote(text)} is not a YAML value") from None
    return [words, values[last]]


def _explain(kind: type[Section], error: ErrorDetails) -> str:
    *groups, last = error["loc"] or ("",)
    where = cut(".".join(map(str, error["loc"])))
    if error["type"] == "extra_forbidden":
        return f"{where}: {unknown('setting', last, _fields_of(kind, groups))}"
    if error["type"] == "missing":
        return f"{where} is missing: it must be set"
    message = cut(error["msg"].removeprefix("Value error, "), 600)
    return f"{where} is {quote(error['input'])}: {message}" if where else message


def _fields_of(kind: type[Section], groups: Sequence[int | str]) -> list[str]:
    model: Any = kind
    for group in groups:
        if isinstance(group, str):
            annotation = model.model_fields[group].annotation
            model, *_ = get_args(annotation) or [annotation]  # where it is optional, or one of many
    return list(model.model_fields)


def code_named(settings: dict[str, Any], own: list[Any]) -> list[str]:
    """The texts in settings that have code imported, without those that the user has said."""
    found = [text for text in _texts(settings) if runs_code(text)]
    game, callbacks = settings.get("game"), settings.get("callbacks")
    if isinstance(game, str) and games.imports_code(game):
        found.append(game)
    if isinstance(callbacks, dict):
        found += map(str, callbacks)
    trusted = set(_texts(own))
    return [cut(text) for text in dict.fromkeys(found) if text not in trusted]


def _texts(value: Any) -> Iterator[str]:
    """All texts in nested dicts and lists, keys too; `parse_yaml` bounds how many there are."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value:
            yield from _texts(part)
            if isinstance(value, dict):
                yield from _texts(value[part])
