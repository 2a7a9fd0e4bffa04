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
from boardenvs.kernel.layout import Layout
from boardenvs.kernel.threads import FEWEST_ROWS, get_num_threads, run_in_parts
from boardenvs.kernel.trace import Program
from boardenvs.kernel.word_functions import WordFunctions, in_tuple, numbered

Array = np.ndarray[Any, np.dtype[Any]]

_PRELUDE = '''"""Written by boardenvs.kernel."""
from numba import types, uint64

from boardenvs.kernel.compile_cache import njit
from boardenvs.kernel.simd import repeat, union, when
from boardenvs.kernel.rows import each_row, one_row, popcount, trailing_zeros
from boardenvs.kernel.flow import Table

'''
# The machine code depends on these too, not only on the generated source.
_MADE_BY = (
    "simd.py",
    "rows.py",
    "columns.py",
    "layout.py",  # the words of an array's rows
    "word_functions.py",
    "trace.py",
    "operations.py",  # the operators of SIMD words
)


class NumbaBatch:
    """A program traced with target "batch", called with input arrays and output arrays to fill."""

    def __init__(self, program: Program, name: str, layout: Layout) -> None:
        self._run = _compiled(name, write_batch(program, name, layout))

    def __call__(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        rows = len(outputs[0])
        if rows >= FEWEST_ROWS and get_num_threads() > 1:
            run_in_parts(self._run, [*inputs, *outputs], rows)
        else:
            self._run(*inputs, *outputs)


def compile_numba(program: Program, name: str) -> Callable[..., tuple[int, ...]]:
    """Return a function of `program.num_inputs` ints in [0, 2**64) that returns the outputs as a
    tuple.
    """
    return _compiled(name, write_functions({name: program}))


def compile_parts(
    program: Program, name: str, words: int
) -> Callable[..., tuple[tuple[int, ...], Array]]:
    """Return a function of `program.num_inputs` ints that returns a tuple of the first outputs, and
    the bits of the other ones as bytes of 0 and 1, lowest first, (64 * others,) int8.
    """
    writer = _Writer()
    writer.one(program, name, words, ["bits"])
    run = _compiled(name, writer.source())
    size, empty, int8 = 64 * (len(program.outputs) - words), np.empty, np.int8

    def function(*inputs: int) -> tuple[tuple[int, ...], Array]:
        bits = empty(size, int8)
        return run(*inputs, bits), bits

    return function


def _compiled(name: str, source: str) -> Callable[..., Any]:
    return getattr(load_source(source), name)


def write_batch(program: Program, name: str, layout: Layout) -> str:
    """Return the source of a module with the program as a function of arrays, which writes the
    outputs.
    """
    writer = _Writer()
    writer.batch(program, name, layout)
    return writer.source()


def write_functions(programs: Mapping[str, Program]) -> str:
    """Return the source of a module with the programs as functions of words that return tuples."""
    writer = _Writer()
    for name, program in programs.items():
        writer.one(program, name, len(program.outputs))
    return writer.source()


class _Writer(WordFunctions):
    """Writes the source of programs."""

    def one(self, program: Program, name: str, outputs: int, arrays: Sequence[str] = ()) -> None:
        """Add a function of words that returns the first outputs; an array after the words gets
        the bits of the others.
        """
        words = numbered("i", program.num_inputs)
        kinds = ", ".join([*["uint64"] * len(words), *["types.int8[::1]"] * len(arrays)])
        signature = f"types.UniTuple(uint64, {outputs})({kinds})"
        made = f"one_row({name}_of_words, {outputs})"
        self._add_compiled(program, name, made, signature, [*words, *arrays])

    def batch(self, program: Program, name: str, layout: Layout) -> None:
        """Add a function of arrays."""
        inputs, outputs = map(tuple, layout)
        arrays = numbered("i", len(inputs)) + numbered("o", len(outputs))
        made = f"each_row({name}_of_words, {inputs}, {outputs})"
        self._add_compiled(program, name, made, "nogil=True", arrays)

    def _add_compiled(
        self, program: Program, name: str, made: str, options: str, parameters: Sequence[str]
    ) -> None:
        """The words' function, the intrinsic that is made of it, and what Python calls."""
        self.add(program, f"{name}_of_words")
        # Nothing here makes arrays: Numba need not count references to those that it reads.
        self.lines += [
            f"{name}_intrinsic = {made}",
            f"@njit({options}, cache=True, error_model='numpy', _nrt=False)",
            f"def {name}({', '.join(parameters)}):",
            f"    return {name}_intrinsic({in_tuple(parameters)})",
        ]

    def source(self) -> str:
        return "\n".join([_PRELUDE + made_by(*_MADE_BY) + "\n", *self.lines, ""])


def made_by(*files: str) -> str:
    """Return a line that changes with the files of this package that turn generated sources into
    instructions.
    """
    digest = hashlib.sha256()
    for file in files:
        digest.update(pkgutil.get_data(__package__, file) or b"")
    return f"# by {' and '.join(files)}, {digest.hexdigest()[:16]}"
