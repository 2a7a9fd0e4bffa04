"""Files that are whole or not there, and where those are kept that can be made again."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


def cache_folder() -> Path:
    """Where compiled rules and exact solutions are kept: `$BOARDENVS_CACHE` or the user's cache."""
    given = os.environ.get("BOARDENVS_CACHE")
    if given:
        return Path(given)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "boardenvs"


def file_name(text: str) -> str:
    """The text as part of a path, with "_" for all but letters, digits, ".", "-" and "_"."""
    return re.sub(r"[^\w.-]", "_", text)


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file to write into, which takes the place of `path` when the block ends without an error.

    So `path` holds the old or the new content whenever power or process end. Several processes and
    threads may write the same path: one of them is last.
    """
    aside = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}.tmp")
    try:
        with aside.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise


def write_atomically(path: Path, content: bytes) -> None:
    """Replace `path` by this content; see `replacing`."""
    with replacing(path) as file:
        file.write(content)
