"""NumPy archives (.npz) read without trust: no code of their maker runs, and no more memory is
taken than the reader has agreed to.
"""

from __future__ import annotations

import json
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal, TypeAlias

import numpy as np

from boardenvs.utils.checks import cut

Order: TypeAlias = Literal["C", "F"]

_MOST_TEXT = 1 << 20  # characters

# What NumPy, zipfile and json raise where a file is cut, changed or of another kind.
_DAMAGE = (ValueError, KeyError, TypeError, AttributeError, EOFError, NotImplementedError,
          RecursionError, MemoryError, RuntimeError, OverflowError, SyntaxError,
          tokenize.TokenError, zipfile.BadZipFile, zlib.error)  # fmt: skip


@dataclass(frozen=True)
class ArchiveKind:
    """What archives are to hold. Errors name the file, what is wrong and what would be right."""

    name: str  # "policy"
    written_by: str
    error: type[ValueError]

    @contextmanager
    def open(self, path: Path) -> Iterator[zipfile.ZipFile]:
        """The archive; `error` where it cannot be read, or where something raises within the block
        because what the archive holds is cut, changed or of another kind.
        """
        file, kind = shown(path), f"{self.name} file"
        try:
            with zipfile.ZipFile(path) as archive:
                yield archive
        except self.error:
            raise
        except FileNotFoundError:
            raise self.error(f"there is no {kind} {file}") from None
        except OSError as error:
            raise self.error(f"{kind} {file} cannot be read: {error.strerror}") from None
        except _DAMAGE as error:
            article = "an" if kind[0] in "aeiou" else "a"
            raise self.error(
                f"{file} is not {article} {kind}, or is damaged ({cut(str(error), 200)}): it must "
                f"be an .npz file as {self.written_by} writes it"
            ) from None

    @contextmanager
    def fitting(self, path: Path) -> Iterator[None]:
        """`error` where something raises within the block because the parts of the archive, each
        of them whole, do not fit together.
        """
        try:
            yield
        except (KeyError, TypeError, ValueError) as error:
            raise self.error(
                f"{shown(path)} does not fit this version of boardenvs: {cut(str(error), 300)}"
            ) from None


def shown(path: Path) -> str:
    """The path as errors name it."""
    return cut(str(path), 300)


def read_json(archive: zipfile.ZipFile, name: str) -> Any:
    """What the text in the array `name` says as JSON; where it is none, an error that stands for
    damage in `ArchiveKind.open`.
    """
    with archive.open(f"{name}.npy") as file:
        shape, dtype, order = read_header(file)
        if shape != () or dtype.kind != "U" or dtype.itemsize > 4 * _MOST_TEXT:
            raise ValueError(f"its {name} are {dtype} of shape {shape}: they must be one text")
        return json.loads(str(read_numbers(file, shape, dtype, order)))


def read_array(
    archive: zipfile.ZipFile, name: str, shape: tuple[int, ...], dtypes: tuple[str, ...]
) -> np.ndarray[Any, Any]:
    """The array of this name, of this shape and one of these types; where it is another, an error
    that stands for damage in `ArchiveKind.open`.
    """
    with archive.open(f"{name}.npy") as file:
        there, dtype, order = read_header(file)
        if there != shape or dtype.name not in dtypes:
            raise ValueError(
                f"{name} is {dtype} of shape {cut(str(there))}: it must be {' or '.join(dtypes)} "
                f"of shape {shape}"
            )
        return read_numbers(file, there, dtype, order)


def read_header(file: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any], Order]:
    """Shape, type and order of an array in NumPy's format, of which nothing else is read."""
    version = np.lib.format.read_magic(file)
    if version != (1, 0):
        raise ValueError(f"an array has version {version} of NumPy's format: it must be (1, 0)")
    shape, by_columns, dtype = np.lib.format.read_array_header_1_0(file)
    return shape, dtype, "F" if by_columns else "C"


def read_numbers(
    file: IO[bytes], shape: tuple[int, ...], dtype: np.dtype[Any], order: Order
) -> np.ndarray[Any, Any]:
    """The array that the header was of."""
    size = int(np.prod(shape)) * dtype.itemsize
    content = file.read(size)
    if len(content) != size or file.read(1):
        raise ValueError("an array is longer or shorter than it says")
    return np.frombuffer(content, dtype).reshape(shape, order=order)
