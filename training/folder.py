"""The folder of a run: created, protected from a second run, and its checkpoints.

A checkpoint is a line that names the format, the SHA-256 of the rest, and what `torch.save` makes
of tensors and plain values. Loading it runs no code from the file.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch as th
import yaml

from boardenvs.utils.checks import cut, unknown
from boardenvs.utils.decoding import parse_yaml
from boardenvs.utils.ending import message_of
from boardenvs.utils.files import (
    LOCK,
    is_unused,
    read_text,
    remove_written,
    working_alone,
    write_atomically,
    written,
)
from training.run_settings import GameSettings

RUNS = Path("runs")

# All files that a run writes into its folder; --overwrite removes these and no others.
WRITTEN = (
    "config.yaml",
    "result.json",
    "report.md",
    "report.html",
    "evaluations.csv",
    "learning_curve.svg",
    "policy.npz",
    "policies/*.npz",
    "evaluation.npz",
    "positions/*.npz",
    "evaluations/*.npz",
    "checkpoints/*.ckpt",
    "pool/*.npz",
    "tensorboard/events.out.tfevents.*",
)

# Settings that may change when a run is resumed.
_FREE_TO_CHANGE = (
    "steps",
    "checkpoint_every",
    "report",
    "search.workers_on",
    "self_play.threads",
    "workers",
)

KEEP = 2  # checkpoints: the latest, and one to fall back on
_MAGIC = b"boardenvs checkpoint 3\n"
_START = len(_MAGIC) + hashlib.sha256().digest_size


class RunError(Exception):
    """A run that cannot start or end; the message says why and what to do."""


class CheckpointError(RunError):
    """A checkpoint that is missing or damaged; the message names the file."""


@contextmanager
def run_folder(
    folder: Path, config: GameSettings, *, resume: bool = False, overwrite: bool = False
) -> Iterator[None]:
    """Hold the folder of a run until the block ends.

    It is created, or as an earlier run left it; `begin` removes that if it is not resumed.
    RunError if there is more in it already than the settings of a run and no `overwrite`, it has no
    run with these settings to resume, it cannot be created, or another process has it.
    """

    def check() -> None:
        if resume:
            _check_same(folder, config)
        elif not is_unused(folder, WRITTEN):
            # A run that failed before its first step has left its lock and its settings alone.
            _check_replaceable(
                folder,
                overwrite or ((folder / LOCK).exists() and not any(written(folder, WRITTEN[1:]))),
            )

    with ExitStack() as held:
        try:
            held.enter_context(working_alone(folder, WRITTEN, check))
        except OSError as error:
            raise RunError(message_of(error)) from None
        yield


def begin(folder: Path, config: GameSettings, resume: bool) -> None:
    """Remove the files of an earlier run unless it is resumed, and write the settings."""
    if not resume:
        remove_written(folder, WRITTEN[1:])
    settings = yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False)
    write_atomically(folder / "config.yaml", settings.encode())


def _check_replaceable(folder: Path, overwrite: bool) -> None:
    if not overwrite:
        raise RunError(
            f"{folder} exists: --resume goes on with it, --overwrite replaces it, and "
            "--set name=NAME makes another"
        )
    if not ((folder / "config.yaml").is_file() and {"name", "game"} <= {*_settings_in(folder)}):
        raise RunError(
            f"{folder} is not replaced: it has no config.yaml of a run; give another by "
            "--set name=NAME"
        )


def _check_same(folder: Path, config: GameSettings) -> None:
    """Raise RunError if there is no run with these settings."""
    if changed := list(_differences(_settings_in(folder), config.model_dump(mode="json"))):
        raise RunError(
            f"{folder} was made with other settings; resume with those, or give another name:\n"
            + "\n".join(changed)
        )


def _settings_in(folder: Path) -> dict[str, Any]:
    path = folder / "config.yaml"
    if not path.is_file():
        runs = sorted(str(p.parent) for p in RUNS.glob("*/config.yaml"))
        raise RunError(unknown("run to resume", str(folder), runs))
    try:
        return dict(parse_yaml(read_text(path)))
    except (OSError, TypeError, ValueError) as error:
        raise RunError(f"{path} holds no settings: {cut(str(error), 400)}") from None


def _differences(before: dict[str, Any], now: dict[str, Any], within: str = "") -> Iterator[str]:
    """Yield a line for each setting that differs and is not free to change."""
    for key in sorted(before.keys() | now.keys(), key=str):  # others may have numbers there
        name, old, new = f"{within}{key}", before.get(key), now.get(key)
        if name in _FREE_TO_CHANGE or old == new:
            continue
        if isinstance(old, dict) and isinstance(new, dict):
            yield from _differences(old, new, f"{name}.")
        else:
            yield f"  {cut(name)} was {cut(repr(old), 200)} and is {cut(repr(new), 200)}"


# ---- checkpoints ---------------------------------------------------------------------------------


def save_checkpoint(folder: Path, steps: int, content: dict[str, Any]) -> None:
    """Write a checkpoint into the folder, and remove all but the latest `KEEP`."""
    buffer = io.BytesIO()
    th.save(_converted(content, lambda x: hasattr(x, "__array__"), _to_tensor), buffer)
    payload = buffer.getvalue()
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / f"{steps:012d}.ckpt", _MAGIC + _digest(payload) + payload)
    for old in _newest_first(folder)[KEEP:]:
        old.unlink()


def load_newest(folder: Path) -> tuple[dict[str, Any] | None, list[str]]:
    """Return the content of the newest intact checkpoint, and what is wrong with newer ones.

    None if there is no file yet; CheckpointError if none of them is intact.
    """
    problems: list[str] = []
    for path in _newest_first(folder):
        try:
            content = _load(path)
        except CheckpointError as error:
            problems.append(str(error))
        else:
            return content, [f"{problem}; going on from {path}" for problem in problems]
    if problems:
        raise CheckpointError("no checkpoint can be used:\n  " + "\n  ".join(problems))
    return None, []


def _load(path: Path) -> dict[str, Any]:
    try:
        data = path.read_bytes()
        if data.startswith(_MAGIC) and data[len(_MAGIC) : _START] == _digest(data[_START:]):
            return dict(th.load(io.BytesIO(data[_START:]), "cpu", weights_only=True))
        why = "it is of another version, cut off or damaged"
    # Whatever it is. Torch's own advice, to load without `weights_only`, would run the file's code.
    except Exception as error:
        why = type(error).__name__
    raise CheckpointError(f"checkpoint {path} cannot be read: {why}")


def _digest(payload: bytes) -> bytes:
    return hashlib.sha256(payload).digest()


def _newest_first(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.ckpt"), reverse=True)


def _to_tensor(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else th.as_tensor(value)


def to_arrays(value: Any) -> Any:
    """Return nested dicts, tuples and lists with their tensors as NumPy arrays."""
    return _converted(value, th.is_tensor, lambda x: x.numpy())


def _converted(value: Any, applies: Callable[[Any], bool], convert: Callable[[Any], Any]) -> Any:
    if isinstance(value, dict):
        return {key: _converted(x, applies, convert) for key, x in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)(_converted(x, applies, convert) for x in value)
    return convert(value) if applies(value) else value
