"""The folder of a run: made, found again, and gone on from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml
from rich.console import Console

from boardenvs.utils.checks import cut, unknown
from boardenvs.utils.decoding import parse_yaml
from boardenvs.utils.ending import message_of
from boardenvs.utils.files import (
    check_folder,
    is_unused,
    remove_left_over,
    remove_written,
    write_atomically,
)
from training.checkpoint import load_newest
from training.settings import GameSettings, RunSettings

RUNS = Path("runs")

# All that a run writes into its folder; --overwrite removes these and nothing else.
WRITTEN = (
    "config.yaml",
    "result.json",
    "report.md",
    "report.html",
    "evaluations.csv",
    "metrics.csv",
    "policy.npz",
    "evaluation.npz",
    "positions/*.npz",
    "evaluations/*.npz",
    "best_model.zip",
    "learning_curve.svg",
    "ratings.svg",
    "metrics.svg",
    "checkpoints/*.ckpt",
    "pool/*.npz",
    "tensorboard/events.out.tfevents.*",
)

# What may differ between the settings of a run and those it is resumed with.
_FREE_TO_CHANGE = (
    "steps",
    "minutes",
    "checkpoint_every",
    "report",
    "self_play.threads",
    "callbacks",
    "cluster",
)


class RunError(Exception):
    """A run that cannot start or end; the message says why and what to do."""


def make_folder(folder: Path, config: GameSettings, overwrite: bool) -> None:
    """A folder for a new run, with its settings; RunError where there is something in it already,
    or where it cannot be made.

    With `overwrite` the files of the run that it holds are removed before, and no others.
    """
    try:
        check_folder(folder)
    except OSError as error:
        raise RunError(
            f"{message_of(error)}; a run has a folder in {RUNS}/ of the folder where it is started"
        ) from None
    if not is_unused(folder, WRITTEN):
        if not overwrite:
            raise RunError(
                f"{folder} exists: --resume goes on with it, --overwrite replaces it, and "
                "--set name=NAME makes another"
            )
        if not (folder / "config.yaml").is_file():
            raise RunError(
                f"{folder} is not replaced: it has no config.yaml, so it is not the folder of a run"
            )
        try:
            is_run = {"name", "game"} <= _settings_in(folder).keys()
        except (OSError, RunError):
            is_run = False
        if not is_run:
            raise RunError(f"{folder} is not replaced: its config.yaml has no settings of a run")
        remove_written(folder, [name for name in WRITTEN if name != "config.yaml"])
    folder.mkdir(parents=True, exist_ok=True)
    write_settings(folder, config)


def _settings_in(folder: Path) -> dict[str, Any]:
    """The settings of the run in a folder; RunError where it has none that can be read."""
    path = folder / "config.yaml"
    if not path.is_file():
        known = sorted(str(p.parent) for p in RUNS.glob("*/config.yaml"))
        raise RunError(unknown("run to resume", str(folder), known))
    try:
        settings = parse_yaml(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise RunError(f"{path} cannot be read: {cut(str(error), 400)}") from None
    if not isinstance(settings, dict):
        raise RunError(f"{path} has no settings of a run")
    return settings


def write_settings(folder: Path, config: GameSettings) -> None:
    text = yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False)
    write_atomically(folder / "config.yaml", text.encode())


def resume_from(
    folder: Path,
    config: RunSettings,
    restore: Callable[[dict[str, Any]], list[str]],
    console: Console,
) -> bool:
    """Go on from the run's newest whole checkpoint; False where there is none yet.

    Errors as of `find_checkpoint`.
    """
    resumed, warnings = find_checkpoint(folder, config, restore)
    if resumed:
        write_settings(folder, config)
    for warning in warnings:
        console.print(f"warning: {warning}", markup=False, soft_wrap=True)
    return resumed


def find_checkpoint(
    folder: Path, config: RunSettings, restore: Callable[[dict[str, Any]], list[str]]
) -> tuple[bool, list[str]]:
    """Whether `restore` took a checkpoint of a run, the newest that it can, and what there is to
    warn of, which it returns too.

    False where the run ended before its first one. RunError where there is no such run, or it was
    made with other settings; CheckpointError where no checkpoint can be used.
    """
    _settings_in(folder)
    remove_left_over(folder, WRITTEN)
    checkpoints = folder / "checkpoints"
    if not any(checkpoints.glob("*.ckpt")):
        if (folder / "result.json").exists():
            raise RunError(
                f"{checkpoints} is empty, though the run ended: --overwrite makes it anew"
            )
        return False, [f"{folder} has no checkpoint yet: the run begins anew"]
    warnings: list[str] = []

    def use(content: dict[str, Any]) -> None:
        before = content["config"]
        if not isinstance(before, dict):
            raise TypeError("its settings are no settings")
        _check_unchanged(folder, before, config)
        warnings.extend(restore(content))

    path, _, problems = load_newest(checkpoints, use)
    return True, [f"{problem}; going on from {path}" for problem in problems] + warnings


def check_settings(folder: Path, config: GameSettings) -> None:
    """RunError where there is no run in the folder, or one with other settings."""
    _check_unchanged(folder, _settings_in(folder), config)


def _check_unchanged(folder: Path, before: dict[str, Any], config: GameSettings) -> None:
    changed = "\n".join(_differences(before, config.model_dump(mode="json")))
    if changed:
        raise RunError(
            f"{folder} was made with other settings; take those to resume, or another name:\n"
            + changed
        )


def _differences(before: dict[str, Any], now: dict[str, Any], within: str = "") -> Iterator[str]:
    """A line for each setting that is not as it was, free ones left out."""
    for key in sorted(before.keys() | now.keys()):
        name = f"{within}{key}"
        old, new = before.get(key), now.get(key)
        if old == new or name in _FREE_TO_CHANGE:
            continue
        if isinstance(old, dict) and isinstance(new, dict) and old.keys() == new.keys():
            yield from _differences(old, new, f"{name}.")
        else:
            yield f"  {name} was {old!r} and is {new!r}"
