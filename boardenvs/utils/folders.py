"""Folders that a command fills: what it writes there, by name, is all that it ever removes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from boardenvs.utils.files import remove_unless_held

# What `boardenvs.utils.files.replacing` adds to a name while it writes.
_LEFT_OVER = ".[0-9]*.[0-9]*.tmp"


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
    if not folder.exists():
        return True
    left_overs = {folder / p.relative_to(folder) for p in left_over(folder, names)}
    return all(path in left_overs for path in folder.iterdir())


def left_over(folder: Path, names: Sequence[str]) -> list[Path]:
    """The temporary files that killed writers of these names left."""
    return [path for path in written(folder, names) if path.suffix == ".tmp"]


def remove_left_over(folder: Path, names: Sequence[str]) -> None:
    """Remove the temporary files that killed writers of these names left."""
    for path in left_over(folder, names):
        remove_unless_held(path)


def remove_written(folder: Path, names: Sequence[str]) -> None:
    """Remove the files that have one of these names, and folders in it that are empty then."""
    inside = set()
    for path in written(folder, names):
        path.unlink(missing_ok=True)
        inside.add(path.parent)
    for emptied in inside - {folder}:
        with contextlib.suppress(OSError):  # something else is in it
            emptied.rmdir()
