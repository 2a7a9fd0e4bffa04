"""Files of lines that grow: a line is whole, or is taken for not there."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable
from pathlib import Path

from boardenvs.utils.files import naming


def whole_lines(path: Path) -> list[bytes]:
    """The lines of a file without their ends, but for the half line that a killed writer left."""
    return path.read_bytes().split(b"\n")[:-1]


def append_lines(path: Path, lines: Iterable[bytes]) -> None:
    """Append lines, given without their ends, so that they are on the disk when this returns.

    A half line that a killed writer left goes. OSError names the file, which is then as it was.
    """
    added = b"".join(line + b"\n" for line in lines)
    with naming(path), path.open("r+b" if path.exists() else "xb", buffering=0) as file:
        end = _end_of_lines(file)
        file.truncate(end)
        file.seek(end)
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
