"""Checkpoints that are whole or refused: written aside, renamed in one step, with a digest.

A file is a line that names the format, the SHA-256 of the rest, and the rest: what `torch.save`
makes of tensors and plain values. Loading runs no code from the file.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch as th

from boardenvs.utils.checks import cut
from boardenvs.utils.files import write_atomically

KEEP = 2  # the last checkpoint and one to fall back on

_MAGIC = b"boardenvs checkpoint 1\n"
# What is raised where a content lacks something, or has something else in its place.
_WRONG_CONTENT = (LookupError, TypeError, ValueError, RuntimeError, AttributeError, AssertionError)
_DIGEST = hashlib.sha256().digest_size


class CheckpointError(Exception):
    """A checkpoint that is missing or damaged; the message names the file."""


def save_checkpoint(folder: Path, steps: int, content: dict[str, Any]) -> Path:
    """Write the checkpoint of a training after `steps`, and remove all but the last `KEEP`."""
    buffer = io.BytesIO()
    th.save(content, buffer)
    payload = buffer.getvalue()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{steps:012d}.ckpt"
    write_atomically(path, _MAGIC + hashlib.sha256(payload).digest() + payload)
    for old in _newest_first(folder)[KEEP:]:
        old.unlink()
    return path


def load_checkpoint(path: Path) -> dict[str, Any]:
    """What `save_checkpoint` was given; CheckpointError where the file is not whole, or holds
    something else.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise CheckpointError(f"checkpoint {path} cannot be read: {error.strerror}") from None
    start = len(_MAGIC) + _DIGEST
    if not data.startswith(_MAGIC):
        raise CheckpointError(
            f"{path} is not a checkpoint of this version, or its start is damaged"
        )
    if hashlib.sha256(data[start:]).digest() != data[len(_MAGIC) : start]:
        raise CheckpointError(f"checkpoint {path} is damaged or cut off: its digest does not match")
    try:
        content = th.load(io.BytesIO(data[start:]), map_location="cpu", weights_only=True)
    # Whatever it raises; what torch advises then, to load without `weights_only`, runs code of the
    # file, and is not repeated.
    except Exception as error:
        raise CheckpointError(
            f"{path} holds no checkpoint: torch cannot read it ({type(error).__name__})"
        ) from None
    if not isinstance(content, dict):
        raise CheckpointError(f"{path} holds no checkpoint but {cut(repr(content))}")
    return content


def load_newest(
    folder: Path, use: Callable[[dict[str, Any]], None] = lambda content: None
) -> tuple[Path, dict[str, Any], list[str]]:
    """The newest checkpoint that is whole and that `use` takes, its content, and what was wrong
    with newer ones.

    CheckpointError, naming the files, where there is none.
    """
    problems: list[str] = []
    for path in _newest_first(folder):
        try:
            content = load_checkpoint(path)
            use(content)
        except CheckpointError as error:
            problems.append(str(error))
        except _WRONG_CONTENT as error:
            reason = cut(" ".join(f"{type(error).__name__}: {error}".split()), 200)
            problems.append(f"{path} is of no training as this one: {reason}")
        else:
            return path, content, problems
    if problems:
        raise CheckpointError("no checkpoint can be used:\n  " + "\n  ".join(problems))
    raise CheckpointError(f"there is no checkpoint in {folder}: start without --resume")


def _newest_first(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.ckpt"), reverse=True)


def to_tensors(value: Any) -> Any:
    """Nested dicts, tuples and lists with their NumPy arrays as tensors, which `th.load` trusts,
    and NumPy's numbers as Python's.
    """

    def convert(x: Any) -> Any:
        return x.item() if isinstance(x, np.generic) else th.as_tensor(x)

    return _converted(value, lambda x: hasattr(x, "__array__"), convert)


def to_arrays(value: Any) -> Any:
    """The inverse of `to_tensors`."""
    return _converted(value, th.is_tensor, lambda x: x.numpy())


def _converted(value: Any, applies: Callable[[Any], bool], convert: Callable[[Any], Any]) -> Any:
    if isinstance(value, dict):
        return {key: _converted(x, applies, convert) for key, x in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)(_converted(x, applies, convert) for x in value)
    return convert(value) if applies(value) else value
