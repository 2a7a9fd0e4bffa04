"""Writes traced programs for Numba (extra `fast`), for one board and for a batch.

A program is written as a function of Python that is run while Numba compiles, on symbols that write
it down as LLVM's instructions; see `simd`.
"""

from __future__ import annotations

import hashlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from boardenvs.kernel.generated import load_source
from boardenvs.kernel.layout import Layout, one_by_one
from boardenvs.kernel.threads import FEWEST_ROWS, get_num_threads, run_in_parts
from boardenvs.kernel.trace import Program
from boardenvs.kernel.word_functions import WordFunctions, in_tuple, numbered

Array = np.ndarray[Any, np.dtype[Any]]

_PRELUDE = '''"""Written by boardenvs.kernel."""
from numba import types, uint64

from boardenvs.kernel.compile_cache import njit
from boardenvs.kernel.simd import when
from boardenvs.kernel.rows import each_row, one_row, one_row_and_bytes, popcount, trailing_zeros
from boardenvs.kernel.words import Table

'''
# What machine code depends on beside the generated source that it is made of.
_MADE_BY = ("simd.py", "packed.py", "rows.py")

# The loops over rows make no arrays: Numba need not count references to those that they are given.
_ON_ARRAYS = "@njit(cache=True, nogil=True, error_model='numpy', _nrt=False)"


class NumbaProgram:
    """A program traced with target "batch". Call it as a `NumpyProgram`: with input arrays and
    output arrays, which are written.
    """

    def __init__(self, program: Program, name: str, layout: Layout) -> None:
        source = write_batch(program, name, layout)
        self._run: Callable[..., None] = getattr(load_source(source), name)

    def __call__(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        rows = len(outputs[0])
        if rows >= FEWEST_ROWS and get_num_threads() > 1:
            run_in_parts(self._run, [*inputs, *outputs], rows)
        else:
            self._run(*inputs, *outputs)


def compile_numba(program: Program, name: str) -> Callable[..., tuple[int, ...]]:
    """A function of `program.num_inputs` ints in [0, 2**64) that returns the outputs as a tuple."""
    source = write_functions({name: program})
    function: Callable[..., tuple[int, ...]] = getattr(load_source(source), name)
    return function


def compile_parts(
    program: Program, name: str, words: int
) -> Callable[..., tuple[tuple[int, ...], Array]]:
    """A function of `program.num_inputs` ints that returns a tuple of so many outputs, and the bits
    of the others as bytes of 0 and 1, lowest first, (64 * others,) int8.
    """
    writer = _Writer()
    writer.parts(program, name, words)
    run: Callable[..., tuple[int, ...]] = getattr(load_source(writer.source()), name)
    size, empty, int8 = 64 * (len(program.outputs) - words), np.empty, np.int8

    def function(*inputs: int) -> tuple[tuple[int, ...], Array]:
        seen = empty(size, int8)
        return run(*inputs, seen), seen

    return function


def write_batch(program: Program, name: str, layout: Layout | None = None) -> str:
    """The source of a module with the program as a function of arrays, which writes the outputs.

    Without a layout, an array (B,) for each word.
    """
    layout = layout or one_by_one(program.num_inputs, len(program.outputs))
    writer = _Writer()
    writer.batch(program, name, layout)
    return writer.source()


def write_functions(programs: Mapping[str, Program]) -> str:
    """The source of a module with each program as a function of words that returns a tuple."""
    writer = _Writer()
    for name, program in programs.items():
        writer.one(program, name)
    return writer.source()


class _Writer(WordFunctions):
    """Writes the source of programs."""

    def one(self, program: Program, name: str) -> None:
        """Add a function of words that returns the outputs."""
        self.add(program, f"{name}_of_words")
        words, outputs = numbered("i", program.num_inputs), len(program.outputs)
        signature = f"types.UniTuple(uint64, {outputs})({', '.join(['uint64'] * len(words))})"
        self.lines += [
            f"{name}_one = one_row({name}_of_words, {outputs})",
            f"@njit({signature}, cache=True, error_model='numpy')",
            f"def {name}({', '.join(words)}):",
            f"    return {name}_one({in_tuple(words)})",
        ]

    def parts(self, program: Program, name: str, outputs: int) -> None:
        """Add a function of words and of an array, which gets the bits of the later outputs."""
        self.add(program, f"{name}_of_words")
        words = numbered("i", program.num_inputs)
        kinds = ", ".join([*["uint64"] * len(words), "types.int8[::1]"])
        signature = f"types.UniTuple(uint64, {outputs})({kinds})"
        self.lines += [
            f"{name}_one = one_row_and_bytes({name}_of_words, {outputs})",
            f"@njit({signature}, cache=True, error_model='numpy', _nrt=False)",
            f"def {name}({', '.join([*words, 'seen'])}):",
            f"    return {name}_one({in_tuple(words)}, seen)",
        ]

    def batch(self, program: Program, name: str, layout: Layout) -> None:
        """Add a function of arrays."""
        self.add(program, f"{name}_of_words")
        inputs, outputs = map(tuple, layout)
        arrays = numbered("i", len(inputs)) + numbered("o", len(outputs))
        self.lines += [
            f"{name}_rows = each_row({name}_of_words, {inputs}, {outputs})",
            _ON_ARRAYS,
            f"def {name}({', '.join(arrays)}):",
            f"    {name}_rows({in_tuple(arrays)})",
        ]

    def source(self) -> str:
        return "\n".join([_PRELUDE + _made_by() + "\n", *self.lines, ""])


def _made_by() -> str:
    """A line that changes with what turns generated sources into instructions."""
    digest = hashlib.sha256()
    for file in _MADE_BY:
        digest.update(pkgutil.get_data(__package__, file) or b"")
    return f"# by {' and '.join(_MADE_BY)}, {digest.hexdigest()[:16]}"
