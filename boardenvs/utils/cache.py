"""The folder for what can be computed again: compiled rules and exact solutions.

Its files are executed, so a folder or file is used only if nobody but this user, or root, can have
written it.
"""

from __future__ import annotations

import errno
import os
import stat
import tempfile
import warnings
from functools import lru_cache
from pathlib import Path

from boardenvs.utils.files import refuse_pipe, remove_left_over, write_atomically

VARIABLE = "BOARDENVS_CACHE"


def cache_folder() -> Path:
    """Return `$BOARDENVS_CACHE`, or `boardenvs` in the user's cache folder.

    If there is none, or others can write to it, this is a temporary folder of this process. The
    folder exists; it may be read-only, as in a container's image: then nothing is added to it.
    """
    folder, base = os.environ.get(VARIABLE), os.environ.get("XDG_CACHE_HOME")
    try:
        default = (Path(base) if base else Path.home() / ".cache") / "boardenvs"
    except RuntimeError:  # neither HOME nor an entry in the list of users
        default = None
    return _usable(Path(folder).absolute() if folder else default)


def is_trusted(path: Path) -> bool:
    """Return whether only this user, or root, owns the file or folder and may write to it."""
    try:
        status = path.stat()
    except OSError:
        return False
    if not hasattr(os, "geteuid"):  # Windows: a user's folders are private by default
        return True
    return status.st_uid in (os.geteuid(), 0) and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def read_kept(path: Path, most: int = 1 << 28) -> bytes:
    """Return the content of a file in the cache folder; OSError says why it is not used."""
    refuse_pipe(path)
    if path.stat().st_size > most:
        raise OSError(errno.EFBIG, f"it has more than {most:,} bytes", str(path))
    if not is_trusted(path):
        raise PermissionError(errno.EACCES, "another user owns it or may write to it", str(path))
    return path.read_bytes()


def keep(path: Path, content: bytes) -> None:
    """Write a file in the cache folder, alone; what killed writers of it left over is removed.

    OSError where that cannot be.
    """
    refuse_pipe(path)
    remove_left_over(path.parent, [path.name])
    write_atomically(path, content, mode=0o600)


@lru_cache(maxsize=1)
def _temporary() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="boardenvs_")


def private_folder() -> Path:
    """Return a temporary folder of this process, which is removed when it ends."""
    return Path(_temporary().name)


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
