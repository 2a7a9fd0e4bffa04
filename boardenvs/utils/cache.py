"""The folder for what can be made again: compiled rules and exact solutions.

What lies there is executed, so a folder or file counts only where nobody but this user, or root,
could have written it.
"""

from __future__ import annotations

import atexit
import os
import shutil
import stat
import tempfile
import warnings
from functools import lru_cache
from pathlib import Path

VARIABLE = "BOARDENVS_CACHE"


def cache_folder() -> Path:
    """`$BOARDENVS_CACHE`, or `boardenvs` in the user's cache folder; a new folder of this process,
    removed at its end, where there is none, or others could have written to it.

    The folder exists. It may be read-only, as in a container's image: then nothing is added to it.
    """
    return _usable(_wanted())


def is_trusted(path: Path) -> bool:
    """Whether nobody but this user, or root, owns the file or folder or may write to it."""
    try:
        status = path.stat()
    except OSError:
        return False
    if not hasattr(os, "geteuid"):  # Windows: folders of a user are theirs by default
        return True
    others = stat.S_IWGRP | stat.S_IWOTH
    return status.st_uid in (os.geteuid(), 0) and not status.st_mode & others


def is_private(path: Path) -> bool:
    """Whether it is a file of this user's, no link, that nobody else may read or write."""
    try:
        status = path.lstat()
    except OSError:
        return False
    mine = not hasattr(os, "geteuid") or (
        status.st_uid == os.geteuid() and not status.st_mode & 0o077
    )
    return mine and stat.S_ISREG(status.st_mode)


@lru_cache(maxsize=1)
def private_folder() -> Path:
    """A new folder of this process, which is removed at its end."""
    folder = Path(tempfile.mkdtemp(prefix="boardenvs_"))
    atexit.register(_remove, folder, os.getpid())
    return folder


def _remove(folder: Path, owner: int) -> None:
    if os.getpid() == owner:  # not in a process that was forked off
        shutil.rmtree(folder, ignore_errors=True)


def _wanted() -> Path | None:
    """Where the user wants the cache; None where nothing says it."""
    given = os.environ.get(VARIABLE)
    if given:
        return Path(given).absolute()
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "boardenvs"
    except RuntimeError:  # neither HOME nor an entry in the list of users
        return None


@lru_cache(maxsize=8)
def _usable(folder: Path | None) -> Path:
    if folder is None:
        why = "there is neither a home nor a folder for caches"
    else:
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            why = "" if is_trusted(folder) else f"another user owns {folder}, or may write to it"
        except OSError as error:
            why = f"{folder} cannot be made: {error.strerror}"
        if not why:
            return folder
    warnings.warn(
        f"what is compiled or solved is not kept ({why}): set {VARIABLE} to a folder of your own",
        UserWarning,
        stacklevel=4,
    )
    return private_folder()
