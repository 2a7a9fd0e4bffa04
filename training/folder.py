"""The folder of a run: made, found again, and gone on from."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from boardenvs.utils.checks import unknown
from boardenvs.utils.files import write_atomically
from training.checkpoint import load_newest
from training.config import Config

RUNS = Path("runs")

# What may differ between the settings of a run and those it is resumed with.
_FREE_TO_CHANGE = ("steps", "minutes", "checkpoint_every", "report", "self_play.threads")


class RunError(Exception):
    """A run that cannot start or end; the message says why and what to do."""


def make_folder(folder: Path, config: Config, overwrite: bool) -> None:
    """An empty folder for a new run, with its settings; RunError where there is one already."""
    if folder.exists():
        if not overwrite:
            raise RunError(
                f"{folder} exists: --resume goes on with it, --overwrite replaces it, and "
                "--set name=NAME makes another"
            )
        if not (folder / "config.yaml").is_file():
            raise RunError(
                f"{folder} is not replaced: without config.yaml it is no folder of a run"
            )
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    write_settings(folder, config)


def write_settings(folder: Path, config: Config) -> None:
    text = yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False)
    write_atomically(folder / "config.yaml", text.encode())


def find_checkpoint(folder: Path, config: Config) -> tuple[dict[str, Any] | None, list[str]]:
    """What the newest whole checkpoint of a run holds, and what there is to warn of.

    None where the run ended before its first one. RunError where there is no such run, or it was
    made with other settings; CheckpointError where no checkpoint is whole.
    """
    if not (folder / "config.yaml").is_file():
        known = sorted(str(p.parent) for p in RUNS.glob("*/config.yaml"))
        raise RunError(unknown("run to resume", str(folder), known))
    for left_over in folder.rglob("*.tmp"):  # of a write that a kill cut off
        left_over.unlink(missing_ok=True)
    checkpoints = folder / "checkpoints"
    if not any(checkpoints.glob("*.ckpt")):
        if (folder / "result.json").exists():
            raise RunError(
                f"{checkpoints} is empty, though the run ended: --overwrite makes it anew"
            )
        return None, [f"{folder} has no checkpoint yet: the run begins anew"]
    path, content, problems = load_newest(checkpoints)
    changed = list(_differences(content["config"], config.model_dump(mode="json")))
    if changed:
        raise RunError(
            f"{folder} was made with other settings; take those to resume, or another name:\n"
            + "\n".join(changed)
        )
    return content, [f"{problem}; going on from {path}" for problem in problems]


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
