"""Writes traced programs for Numba (extra `fast`), for one board and for a batch.

A program is written as a function of Python that is run while Numba compiles, on symbols that write
it down as LLVM's instructions; see `lanes`.
"""

from __future__ import annotations

import hashlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from boardenvs.kernel.generated import load_source
from boardenvs.kernel.layout import Layout, one_by_one
from boardenvs.kernel.operations import OPERATIONS
from boardenvs.kernel.threads import FEWEST_ROWS, get_num_threads, run_in_parts
from boardenvs.kernel.trace import Node, Program, write_constant

Array = np.ndarray[Any, np.dtype[Any]]

_PRELUDE = '''"""Written by boardenvs.kernel."""
from numba import types, uint64

from boardenvs.kernel.compile_cache import njit
from boardenvs.kernel.lanes import when
from boardenvs.kernel.rows import each_row, one_row, one_row_and_octets, popcount, trailing_zeros
from boardenvs.kernel.words import Table

'''
# What machine code depends on beside the generated source that it is made of.
_MADE_BY = ("lanes.py", "rows.py")

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
    of the others as octets of 0 and 1, lowest first, (64 * others,) int8.
    """
    writer = _Writer()
    writer.parts(program, name, words)
    run: Callable[..., tuple[int, ...]] = getattr(load_source(writer.source()), name)
    size, empty, int8 = 64 * (len(program.outputs) - words), np.empty, np.int8

    def function(*inputs: int) -> tuple[tuple[int, ...], Array]:
        octets = empty(size, int8)
        return run(*inputs, octets), octets

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


class _Writer:
    """Writes the source of programs."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._tables: dict[tuple[int, ...], str] = {}
        self._branches = 0

    def one(self, program: Program, name: str) -> None:
        """Add a function of words that returns the outputs."""
        self._function(program, f"{name}_of_words")
        words, outputs = _numbered("i", program.num_inputs), len(program.outputs)
        signature = f"types.UniTuple(uint64, {outputs})({', '.join(['uint64'] * len(words))})"
        self._lines += [
            f"{name}_one = one_row({name}_of_words, {outputs})",
            f"@njit({signature}, cache=True, error_model='numpy')",
            f"def {name}({', '.join(words)}):",
            f"    return {name}_one({_tuple(words)})",
        ]

    def parts(self, program: Program, name: str, outputs: int) -> None:
        """Add a function of words and of an array, which gets the bits of the later outputs."""
        self._function(program, f"{name}_of_words")
        words = _numbered("i", program.num_inputs)
        kinds = ", ".join([*["uint64"] * len(words), "types.int8[::1]"])
        signature = f"types.UniTuple(uint64, {outputs})({kinds})"
        self._lines += [
            f"{name}_one = one_row_and_octets({name}_of_words, {outputs})",
            f"@njit({signature}, cache=True, error_model='numpy', _nrt=False)",
            f"def {name}({', '.join([*words, 'octets'])}):",
            f"    return {name}_one({_tuple(words)}, octets)",
        ]

    def batch(self, program: Program, name: str, layout: Layout) -> None:
        """Add a function of arrays."""
        self._function(program, f"{name}_of_words")
        inputs, outputs = map(tuple, layout)
        arrays = _numbered("i", len(inputs)) + _numbered("o", len(outputs))
        self._lines += [
            f"{name}_rows = each_row({name}_of_words, {inputs}, {outputs})",
            _ON_ARRAYS,
            f"def {name}({', '.join(arrays)}):",
            f"    {name}_rows({_tuple(arrays)})",
        ]

    def source(self) -> str:
        return "\n".join([_PRELUDE + _made_by() + "\n", *self._lines, ""])

    def _function(self, program: Program, name: str) -> None:
        """Add the program as a function of `Lanes`, after what it needs."""
        text = [_text(node, i) for i, node in enumerate(program.nodes)]
        body = [f"    {text[i]} = {self._expression(program, i, text)}" for i in program.steps()]
        self._lines += [
            f"def {name}({', '.join(_numbered('i', program.num_inputs))}):",
            *body,
            f"    return {_tuple([text[o] for o in program.outputs])}",
        ]

    def _expression(self, program: Program, index: int, text: Sequence[str]) -> str:
        node = program.nodes[index]
        args = [text[a] for a in node.args]
        if node.op in OPERATIONS:
            return OPERATIONS[node.op].python.format(*args)
        match node.op:
            case "lookup":
                return f"{self._table(node.extra.values)}[{args[0]}]"
            case "when":
                self._branches += 1
                name = f"where_{self._branches}"
                self._function(node.extra, name)
                return f"when({args[0]}, {name}, {', '.join(args[1:])})"
            case op:
                raise NotImplementedError(op)

    def _table(self, values: tuple[int, ...]) -> str:
        if values not in self._tables:
            self._tables[values] = f"table_{len(self._tables)}"
            self._lines.append(f"{self._tables[values]} = Table({list(values)})")
        return self._tables[values]


def _text(node: Node, index: int) -> str:
    match node.op:
        case "const":
            return write_constant(node.extra)
        case "input":
            return f"i{node.extra}"
        case _:
            return f"t{index}"


def _numbered(prefix: str, count: int) -> list[str]:
    return [f"{prefix}{k}" for k in range(count)]


def _tuple(names: Sequence[str]) -> str:
    return f"({', '.join(names)},)"


def _made_by() -> str:
    """A line that changes with what turns generated sources into instructions."""
    digest = hashlib.sha256()
    for file in _MADE_BY:
        digest.update(pkgutil.get_data(__package__, file) or b"")
    return f"# by {' and '.join(_MADE_BY)}, {digest.hexdigest()[:16]}"
