"""Files that are whole or not there, folders of files, and files of lines that grow: what a command
writes into a folder, by name, is all that it ever removes, and a line is whole, or is not there.
"""

from __future__ import annotations

import contextlib
import errno
import glob
import io
import os
import re
import stat
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO

if sys.platform != "win32":
    import fcntl


# What `replacing` adds to a name while it writes.
_LEFT_OVER = ".[0-9]*.[0-9]*.tmp"


def file_name(text: str) -> str:
    """The text as part of a path, with "_" for all but letters, digits, ".", "-" and "_"."""
    return re.sub(r"[^\w.-]", "_", text)


@contextmanager
def replacing(path: Path, mode: int | None = None) -> Iterator[BinaryIO]:
    """A file to write into, which takes the place of `path` when the block ends without an error.

    So `path` holds the old or the new content whenever power or process end. Several processes and
    threads may write the same path: one of them is last. A link stays a link, and what it leads to
    is replaced. Anything but a regular file, such as a device or a pipe, is written to as it is.
    The file has the `mode` given; without one its own stays, and a new file has what the process's
    mask leaves. OSError names `path`.
    """
    target = Path(os.path.realpath(path))
    before = _status(target)
    with naming(path):
        if before is not None and not stat.S_ISREG(before.st_mode):
            with target.open("wb") as file:
                yield file
            return
        for left in target.parent.glob(glob.escape(target.name) + _LEFT_OVER):
            _remove_unless_held(left)
        aside = _aside(target)
        try:
            with aside.open("wb") as file:
                with contextlib.suppress(OSError):  # file systems without locks
                    _lock(file)
                if mode is None and before is not None:
                    mode = stat.S_IMODE(before.st_mode)
                if mode is not None:
                    os.chmod(aside, mode)
                yield file
                file.flush()
                os.fsync(file.fileno())
            aside.replace(target)
        except BaseException:
            aside.unlink(missing_ok=True)
            raise


def write_atomically(path: Path, content: bytes, mode: int | None = None) -> None:
    """Replace `path` by this content; see `replacing`."""
    with replacing(path, mode) as file:
        file.write(content)


def check_writable(path: Path) -> None:
    """OSError, which names `path`, where `replacing` could not write it: to be called before work
    whose result it is to hold.
    """
    target = Path(os.path.realpath(path))
    with naming(path):
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, "it is a folder, not a file")
        if not target.parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, f"there is no folder {path.parent}")
        status = _status(target)
        if status is not None and not stat.S_ISREG(status.st_mode):
            if not os.access(target, os.W_OK):
                raise PermissionError(errno.EACCES, f"{target} cannot be written to")
            return
        # What the system says of access is not always what it does: it is tried.
        aside = _aside(target)
        aside.open("wb").close()
        aside.unlink()


def check_folder(path: Path) -> None:
    """OSError, which names `path`, where no folder with files can be made there: see
    `check_writable`.
    """
    nearest = Path(os.path.realpath(path))
    while not nearest.exists() and nearest != nearest.parent:
        nearest = nearest.parent
    with naming(path):
        if not nearest.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, f"{nearest} is a file, not a folder")
        if not os.access(nearest, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, f"{nearest} cannot be written to")


def _remove_unless_held(aside: Path) -> None:
    """Remove a temporary file, but for one that a writer still holds."""
    with contextlib.suppress(OSError), aside.open("rb") as file:
        _lock(file)
        aside.unlink()


def _aside(target: Path) -> Path:
    """The temporary file that this thread writes in the place of a file."""
    return target.with_name(f"{target.name}.{os.getpid()}.{threading.get_ident()}.tmp")


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:
        return None


def _lock(file: IO[bytes]) -> None:
    """Hold the file until it is closed; OSError where somebody else does.

    Windows has no such locks, and removes no file that is open.
    """
    if sys.platform != "win32":
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def one_process_at_a_time(path: Path) -> Iterator[None]:
    """Have other processes wait that ask for the same file, which is there meanwhile; where it
    cannot be made or locked, and on Windows, nobody waits.
    """
    with contextlib.ExitStack() as held:
        with contextlib.suppress(OSError):
            held.enter_context(_held(path))
        yield


@contextmanager
def _held(path: Path) -> Iterator[None]:
    """A file that this process alone has, from when the others that had it are done."""
    if sys.platform == "win32":
        yield
        return
    while True:
        with path.open("wb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            # Who was waited for has removed the file; another process may have made it anew.
            if not (path.exists() and os.path.samestat(os.fstat(file.fileno()), path.stat())):
                continue
            try:
                yield
            finally:
                with contextlib.suppress(OSError):
                    path.unlink()
            return


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Have errors name the path asked for, not a temporary file or what a link leads to, and not
    nothing, as where the disk is full; those that name other files stay.
    """
    try:
        yield
    except OSError as error:
        named = error.filename
        if named is not None and not str(named).startswith(os.path.realpath(path)):
            raise
        raise type(error)(error.errno, error.strerror or str(error), str(path)) from error


# ---- folders ---------------------------------------------------------------------------------


def written(folder: Path, names: Sequence[str]) -> Iterator[Path]:
    """The files in a folder that have one of these names, such as "report.md" or "pool/*.npz".

    What killed writers left of them is among them; nothing that a link leads to is.
    """
    for name in names:
        for pattern in (name, name + _LEFT_OVER):
            for path in folder.glob(pattern):
                inside = path.relative_to(folder).parents
                if path.is_file() and not any((folder / part).is_symlink() for part in inside):
                    yield path


def is_unused(folder: Path, names: Sequence[str]) -> bool:
    """Whether there is nothing in a folder but what was left of the first files, by a kill or a
    full disk; or whether it is not there.
    """
    return not folder.exists() or set(folder.iterdir()) <= set(_left_over(folder, names))


def remove_left_over(folder: Path, names: Sequence[str]) -> None:
    """Remove the temporary files that killed writers of these names left."""
    for path in _left_over(folder, names):
        _remove_unless_held(path)


def _left_over(folder: Path, names: Sequence[str]) -> list[Path]:
    return [path for path in written(folder, names) if path.suffix == ".tmp"]


def remove_written(folder: Path, names: Sequence[str]) -> None:
    """Remove the files that have one of these names, and folders in it that are empty then."""
    inside = set()
    for path in written(folder, names):
        path.unlink(missing_ok=True)
        inside.add(path.parent)
    for emptied in inside - {folder}:
        with contextlib.suppress(OSError):  # something else is in it
            emptied.rmdir()


def whole_lines(path: Path) -> list[bytes]:
    """The lines of a file without their ends, but for the half line that a killed writer left."""
    return path.read_bytes().split(b"\n")[:-1]


def append_lines(path: Path, lines: Iterable[bytes]) -> None:
    """Append lines, given without their ends, so that they are on the disk when this returns.

    A half line that a killed writer left goes; who else appends meanwhile waits, but on Windows.
    OSError names the file, which is then as it was.
    """
    added = b"".join(line + b"\n" for line in lines)
    with naming(path), path.open("a+b", buffering=0) as file:
        if sys.platform != "win32":
            with contextlib.suppress(OSError):  # file systems without locks
                fcntl.flock(file, fcntl.LOCK_EX)
        end = _end_of_lines(file)
        file.truncate(end)
        try:
            written = 0
            while written < len(added):
                written += file.write(added[written:]) or 0
            os.fsync(file.fileno())
        except OSError:  # an interruption leaves whole lines, or a half one that goes later
            file.truncate(end)
            raise


def _end_of_lines(file: io.FileIO) -> int:
    """Where the last whole line ends."""
    end = file.seek(0, os.SEEK_END)
    while end:
        start = max(0, end - 4096)
        file.seek(start)
        found = file.read(end - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0
