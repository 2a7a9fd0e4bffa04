"""Files written whole or not at all, folders of named files, and files of lines that grow."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import re
import stat
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

if sys.platform != "win32":
    import fcntl

LOCK = "in_use.lock"
_LEFT_OVER = ".[0-9]*.[0-9]*.tmp"  # the endings that `replacing` gives to temporary files


def safe_name(text: str) -> str:
    """Return the text as part of a path: "_" for all but letters, digits, ".", "-" and "_"."""
    return re.sub(r"[^\w.-]", "_", text)


@contextmanager
def replacing(path: Path, mode: int | None = None) -> Iterator[BinaryIO]:
    """Open a file that replaces `path` if the block ends without an error.

    So `path` always holds the old or the new content, even after a crash. Several processes and
    threads may write the same path; the last one wins. A link stays a link: its target is replaced.
    Devices and pipes are written to directly. The file gets the `mode` given, else it keeps its
    own; a new file follows the umask. OSError names `path`.
    """
    target = Path(os.path.realpath(path))
    with naming(path):
        if target.exists() and not target.is_file():
            with target.open("wb") as file:
                yield file
            return
        aside = _aside(target)
        try:
            with aside.open("wb") as file:
                if mode is None and target.exists():
                    mode = stat.S_IMODE(target.stat().st_mode)
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
    """Raise OSError if `replacing` could not write the file; to be called before long work."""
    target = Path(os.path.realpath(path))
    with naming(path):
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, "it is a folder, not a file")
        if not target.parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, f"there is no folder {path.parent}")
        if target.exists() and not target.is_file():  # a device or a pipe
            return
        aside = _aside(target)  # os.access is not always right, so it is tried
        aside.open("wb").close()
        aside.unlink()


def check_replaceable(path: Path, overwrite: bool) -> None:
    """Raise ValueError if a file is there that may not be replaced, else as `check_writable`."""
    check_writable(path)
    if path.is_file() and not overwrite:
        raise ValueError(f"{path} exists: give another file, or --overwrite")


def check_folder(path: Path) -> None:
    """Raise OSError if no folder with files can be made there; see `check_writable`."""
    nearest = Path(os.path.realpath(path))
    while not nearest.exists() and nearest != nearest.parent:
        nearest = nearest.parent
    with naming(path):
        if not nearest.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, f"{nearest} is a file, not a folder")
        if not os.access(nearest, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, f"{nearest} cannot be written to")


def _aside(target: Path) -> Path:
    """Return the temporary file that this thread writes before it replaces the target."""
    return target.with_name(f"{target.name}.{os.getpid()}.{threading.get_ident()}.tmp")


@contextmanager
def one_process_at_a_time(path: Path) -> Iterator[None]:
    """Let one process at a time run the block, by a lock on this file.

    If the file cannot be made or locked, as on a read-only disk, no process waits.
    """
    from filelock import FileLock

    with contextlib.ExitStack() as held:
        with contextlib.suppress(OSError, NotImplementedError):
            held.enter_context(FileLock(path, mode=0o600))
        yield


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Have OSErrors about this path, its temporary file or its target name `path`."""
    try:
        yield
    except OSError as error:
        named = error.filename
        if named is not None and not str(named).startswith(os.path.realpath(path)):
            raise
        raise type(error)(error.errno, error.strerror or str(error), str(path)) from error


# ---- reading -------------------------------------------------------------------------------------


def refuse_pipe(path: Path) -> None:
    """Raise OSError for a folder, pipe or device, which could be waited for without end."""
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "it is no file", str(path))


def read_text(path: Path) -> str:
    """Return the text of a file; OSError if it is no file, or longer than a megabyte."""
    return read_bytes(path, 1 << 20).decode()


def read_bytes(path: Path, most: int) -> bytes:
    """Return what a file has; OSError if it is no file, or longer than this many bytes."""
    refuse_pipe(path)
    with path.open("rb") as file:
        long = os.fstat(file.fileno()).st_size > most
        content = b"" if long else file.read(most + 1)  # sizes of special files may be 0
    if long or len(content) > most:
        raise OSError(errno.EFBIG, f"it has more than {most:,} bytes", str(path))
    return content


# ---- folders -------------------------------------------------------------------------------------


@contextmanager
def working_alone(
    folder: Path, names: Sequence[str], check: Callable[[], object] = bool
) -> Iterator[None]:
    """Make a folder if it is missing, and hold its lock while files with these names are written.

    `check` raises an error if the folder is not one to work in; it is called before anything is
    made and again with the lock. What killed writers left over is removed. OSError if another
    process has the lock, or for links.
    """
    from filelock import FileLock, Timeout

    refuse_links(folder, [*names, LOCK])
    check()
    check_folder(folder)
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / LOCK, is_singleton=True)  # this process may hold it twice
    try:
        held = lock.acquire(timeout=0)
    except Timeout:
        why = "another process is writing into it: wait until it ends, or give another folder"
        raise BlockingIOError(errno.EAGAIN, why, str(folder)) from None
    with held:
        check()  # another process may have been quicker
        remove_left_over(folder, names)
        yield


def written(folder: Path, names: Sequence[str]) -> Iterator[Path]:
    """Yield the files in a folder with one of these names, such as "report.md" or "pool/*.npz".

    Temporary files of killed writers are included, files behind links are not.
    """
    for name in names:
        for pattern in (name, name + _LEFT_OVER):
            for path in folder.glob(pattern):
                inside = path.relative_to(folder).parents
                if path.is_file() and not any((folder / part).is_symlink() for part in inside):
                    yield path


def refuse_links(folder: Path, names: Sequence[str]) -> None:
    """Raise OSError if a file with one of these names, or a subfolder of theirs, is a link, pipe or
    device. Others may have made the folder: to write to a link replaces its target, and a pipe is
    waited for.
    """
    patterns = {pattern for name in names for pattern in (name, name.partition("/")[0])}
    for path in (*folder.glob("*"), *folder.glob("*/*")):
        odd = path.is_symlink() or not (path.is_file() or path.is_dir())
        if odd and any(map(path.relative_to(folder).match, patterns)):
            why = "it is a link, and its target would be written to"
            raise OSError(errno.ELOOP, why if path.is_symlink() else "it is no file", str(path))


def is_unused(folder: Path, names: Sequence[str]) -> bool:
    """Return whether a folder is missing, or holds only locks and temporary files of killed
    writers.
    """
    ignored = [*_left_over(folder, names), *folder.glob("*.lock")]
    return not folder.exists() or set(folder.iterdir()) <= set(ignored)


def remove_left_over(folder: Path, names: Sequence[str]) -> None:
    """Remove the temporary files of killed writers; nobody may be writing."""
    for path in _left_over(folder, names):
        path.unlink(missing_ok=True)


def _left_over(folder: Path, names: Sequence[str]) -> list[Path]:
    return [path for path in written(folder, names) if path.suffix == ".tmp"]


def remove_written(folder: Path, names: Sequence[str]) -> None:
    """Remove the files with one of these names, and subfolders that are empty then."""
    inside = set()
    for path in written(folder, names):
        path.unlink(missing_ok=True)
        inside.add(path.parent)
    for emptied in inside - {folder}:
        with contextlib.suppress(OSError):  # something else is in it
            emptied.rmdir()


# ---- lines ---------------------------------------------------------------------------------------


def whole_lines(path: Path, most: int = 1 << 26) -> Iterator[bytes]:
    """Yield the lines of a file without their ends, except a half line of a killed writer.

    OSError for a pipe or device, and for a line of more than this many bytes.
    """
    refuse_pipe(path)
    with path.open("rb") as file:
        while (line := file.readline(most)).endswith(b"\n"):
            yield line[:-1]
    if len(line) == most:
        raise OSError(errno.EFBIG, f"a line has {most:,} bytes or more", str(path))


def append_lines(path: Path, lines: Iterable[bytes]) -> None:
    """Append lines, given without their ends; they are on the disk when this returns.

    The half line of a killed writer is removed. Processes append one at a time, except on Windows.
    OSError names the file, which is then unchanged.
    """
    added = b"".join(line + b"\n" for line in lines)
    with naming(path), path.open("a+b", buffering=0) as file:
        if sys.platform != "win32":
            with contextlib.suppress(OSError):  # file systems without locks
                fcntl.flock(file, fcntl.LOCK_EX)
        end = _end_of_lines(file)
        file.truncate(end)
        try:
            done = 0
            while done < len(added):
                done += file.write(added[done:]) or 0
            os.fsync(file.fileno())
        except OSError:
            file.truncate(end)
            raise


def _end_of_lines(file: io.FileIO) -> int:
    """Return where the last whole line ends."""
    start = file.seek(0, os.SEEK_END)
    while start:
        start = max(0, start - 4096)
        file.seek(start)
        if (place := file.read(4096).rfind(b"\n")) >= 0:
            return start + place + 1
    return 0
