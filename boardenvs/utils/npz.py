"""NumPy archives (.npz) read safely: no code of their maker runs, and their size is limited."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.npyio import NpzFile

from boardenvs.utils.checks import cut, quote
from boardenvs.utils.files import refuse_pipe, write_atomically

_MOST_TEXT = 1 << 20  # characters
_MOST_ITEM = 8  # bytes


@dataclass(frozen=True)
class ArchiveKind:
    """A kind of archive. Errors name the file, what is wrong and what would be right."""

    name: str  # "policy"
    written_by: str
    error: type[ValueError]

    @contextmanager
    def open(self, path: Path) -> Iterator[NpzFile]:
        """Open an archive; `error` if it cannot be read, or if the block finds damage.

        Damage is whatever the block raises.
        """
        file, kind = shown(path), f"{self.name} file"
        try:
            refuse_pipe(path)
            with np.load(path, allow_pickle=False) as archive:
                yield archive
        except self.error:
            raise
        except FileNotFoundError:
            raise self.error(f"there is no {kind} {file}") from None
        except OSError as error:
            raise self.error(f"{kind} {file} cannot be read: {error.strerror}") from None
        except Exception as error:
            article = "an" if kind[0] in "aeiou" else "a"
            raise self.error(
                f"{file} is not {article} {kind}, or is damaged ({cut(str(error), 200)}): it must "
                f"be an .npz file as {self.written_by} writes it"
            ) from None

    @contextmanager
    def fitting(self, path: Path) -> Iterator[None]:
        """Raise `error` if the block finds that the parts of an archive do not fit together."""
        try:
            yield
        except (KeyError, TypeError, ValueError) as error:
            raise self.error(f"{shown(path)} cannot be used: {cut(str(error), 300)}") from None


def write_archive(path: Path, arrays: Mapping[str, Any]) -> None:
    """Write arrays by name to a file, whole or not at all."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    write_atomically(path, buffer.getvalue())


def notes_in(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the notes; ValueError unless they are a JSON object."""
    notes = metadata["notes"]
    if not isinstance(notes, dict):
        raise ValueError(f"notes is {quote(notes)}: it must be a JSON object")
    return notes


def shown(path: Path) -> str:
    """Return the path as errors name it."""
    return cut(str(path), 300)


def read_json(archive: NpzFile, name: str) -> Any:
    """Return the JSON value of the text in the array `name`; ValueError if it is no text."""
    array = _read(archive, name, 4 * _MOST_TEXT)
    if array.shape != () or array.dtype.kind != "U":
        raise ValueError(f"its {name} are {array.dtype} of shape {array.shape}: no text")
    return json.loads(str(array))


def read_array(
    archive: NpzFile, name: str, shape: tuple[int, ...], dtypes: tuple[str, ...]
) -> np.ndarray[Any, Any]:
    """Return the array of this name; ValueError unless it has this shape and one of the dtypes."""
    array = _read(archive, name, _MOST_ITEM * math.prod(shape))
    if array.shape != shape or array.dtype.name not in dtypes:
        raise ValueError(
            f"{name} is {array.dtype} of shape {cut(str(array.shape))}: it must be "
            f"{' or '.join(dtypes)} of shape {shape}"
        )
    return array


def _read(archive: NpzFile, name: str, most: int) -> np.ndarray[Any, Any]:
    """Read an array of at most this many bytes, whatever its header says."""
    assert archive.zip, "it is open"
    with archive.zip.open(f"{name}.npy") as file:
        np.lib.format.read_magic(file)
        shape, by_columns, dtype = np.lib.format.read_array_header_1_0(file)
        if dtype.itemsize * math.prod(shape) > most:
            size = cut(str(shape))
            raise ValueError(f"{name} is {dtype} of shape {size}: it must be {most} bytes at most")
        content = file.read(most + 1)
    return np.frombuffer(content, dtype).reshape(shape, order="F" if by_columns else "C")
