"""NumPy archives (.npz) read without trust: no code of their maker runs, and no more memory is
taken than the reader has agreed to.
"""

from __future__ import annotations

import json
import tokenize
import zipfile
import zlib
from typing import IO, Any, Literal, TypeAlias

import numpy as np

from boardenvs.utils.checks import cut

Order: TypeAlias = Literal["C", "F"]

_MOST_TEXT = 1 << 20  # characters

# What NumPy, zipfile and json raise where a file is cut, changed or of another kind.
DAMAGE = (ValueError, KeyError, TypeError, AttributeError, EOFError, NotImplementedError,
          RecursionError, MemoryError, RuntimeError, OverflowError, SyntaxError,
          tokenize.TokenError, zipfile.BadZipFile, zlib.error)  # fmt: skip


def read_json(archive: zipfile.ZipFile, name: str) -> Any:
    """What the text in the array `name` says as JSON; an error of `DAMAGE` where it is none."""
    with archive.open(f"{name}.npy") as file:
        shape, dtype, order = read_header(file)
        if shape != () or dtype.kind != "U" or dtype.itemsize > 4 * _MOST_TEXT:
            raise ValueError(f"its {name} are {dtype} of shape {shape}: they must be one text")
        return json.loads(str(read_numbers(file, shape, dtype, order)))


def read_array(
    archive: zipfile.ZipFile, name: str, shape: tuple[int, ...], dtypes: tuple[str, ...]
) -> np.ndarray[Any, Any]:
    """The array of this name, of this shape and one of these types; an error of `DAMAGE` where it
    is another.
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
