"""A solved game on disk: a line of JSON that says what it is, then the numbers themselves."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from boardenvs.game.state import IntArray
from boardenvs.utils.files import write_atomically

# To be raised whenever the same rules would give another table.
FORMAT = 1

_DTYPE = np.dtype("<i2")


def read(path: Path, key: str) -> IntArray | None:
    """The codes that `write` stored with this key, (N,) int16, read-only.

    None where there is no such file, or it is incomplete, or of another format or game.
    """
    try:
        head, _, body = path.read_bytes().partition(b"\n")
    except OSError:
        return None
    if head != _head(key, body):
        return None
    return np.frombuffer(body, _DTYPE)


def write(path: Path, key: str, codes: IntArray) -> None:
    """Store the codes; OSError where the folder cannot be written to."""
    body = codes.astype(_DTYPE).tobytes()
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, _head(key, body) + b"\n" + body)


def _head(key: str, body: bytes) -> bytes:
    fields: dict[str, Any] = {
        "format": FORMAT,
        "key": key,
        "sha256": hashlib.sha256(body).hexdigest(),
    }
    return json.dumps(fields).encode()
