"""Writes traced programs in the Python that Numba compiles (extra `fast`), for one board and for a
batch: what every row needs in a loop of vector instructions, and what is rare in one with branches.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from boardenvs.kernel.generated import load_source
from boardenvs.kernel.operations import OPERATIONS
from boardenvs.kernel.trace import Node, Program

Array = np.ndarray[Any, np.dtype[Any]]

# Rows between the two loops of a program: their values stay in a first-level cache.
_BLOCK = 256

_PRELUDE = '''"""Written by boardenvs.kernel."""
import numpy as np
from numba import types, uint64
from numba.extending import intrinsic

from boardenvs.kernel.compile_cache import njit


@intrinsic
def popcount(typing_context, word):
    def generate(context, builder, signature, args):
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), generate


@intrinsic
def trailing_zeros(typing_context, word):
    def generate(context, builder, signature, args):
        return builder.cttz(args[0], context.get_constant(types.boolean, 0))

    return types.uint64(types.uint64), generate

'''


class NumbaProgram:
    """A program traced with target "batch". Call it as a `NumpyProgram`: with input arrays (B,)
    and output arrays (B,), which are written.
    """

    def __init__(self, program: Program, name: str) -> None:
        self._run: Callable[..., None] = getattr(load_source(write_batch(program, name)), name)

    def __call__(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        self._run(*inputs, *(x.view(np.uint8) if x.dtype == np.bool_ else x for x in outputs))


def compile_numba(program: Program, name: str) -> Callable[..., tuple[int, ...]]:
    """A function of `program.num_inputs` ints in [0, 2**64) that returns the outputs as a tuple."""
    source = write_functions({name: program})
    function: Callable[..., tuple[int, ...]] = getattr(load_source(source), name)
    return function


def write_batch(program: Program, name: str) -> str:
    """The source of a module with the program as a function of arrays, which writes the outputs."""
    writer = _Writer()
    writer.batch(program, name)
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
        self._globals: list[str] = []
        self._constants: dict[int, str] = {}

    def one(self, program: Program, name: str) -> None:
        """Add a function of words that returns the outputs."""
        words = ", ".join(["uint64"] * program.num_inputs)
        signature = f"types.UniTuple(uint64, {len(program.outputs)})({words})"
        self._function(program, name, f"{signature}, ")

    def batch(self, program: Program, name: str) -> None:
        """Add a function of arrays, with two loops for each block of rows: all that every row
        needs, which the compiler turns into vector instructions, and then what depends on a `when`,
        which branches row by row.
        """
        text = self._texts(program)
        late = _depends_on_when(program)
        nodes = program.steps()
        first = [i for i in nodes if not late[i]]
        second = [i for i in nodes if late[i]]
        needed = {a for i in second for a in program.nodes[i].args}
        needed |= {o for o in program.outputs if late[o]}
        kept = [i for i in first if i in needed]  # handed from the first loop to the second
        arrays = [f"i{k}" for k in range(program.num_inputs)]
        arrays += [f"o{k}" for k in range(len(program.outputs))]
        loop = "        for r in range(start, stop):"
        lines = [
            "@njit(cache=True, nogil=True, error_model='numpy')",
            f"def {name}({', '.join(arrays)}):",
            *(f"    k{i} = np.empty({_BLOCK}, np.uint64)" for i in kept),
            f"    for start in range(0, len(o0), {_BLOCK}):",
            f"        stop = min(start + {_BLOCK}, len(o0))",
            loop,
        ]
        body = [*_loads(program, text, first), *self._statements(program, first, text)]
        body += [f"k{i}[r - start] = {text[i]}" for i in kept]
        body += [f"o{k}[r] = {text[o]}" for k, o in enumerate(program.outputs) if not late[o]]
        lines += [f"            {line}" for line in body or ["pass"]]
        if second:
            body = [*_loads(program, text, second)]
            body += [f"{text[i]} = k{i}[r - start]" for i in kept]
            body += self._statements(program, second, text)
            body += [f"o{k}[r] = {text[o]}" for k, o in enumerate(program.outputs) if late[o]]
            lines += [loop, *(f"            {line}" for line in body)]
        self._globals += lines

    def source(self) -> str:
        return "\n".join([_PRELUDE, *self._globals, ""])

    def _function(self, program: Program, name: str, signature: str = "") -> None:
        text = self._texts(program)
        body = self._statements(program, program.steps(), text)
        inputs = [i for i, node in enumerate(program.nodes) if node.op == "input"]
        self._globals += [
            f"@njit({signature}cache=True, error_model='numpy')",
            f"def {name}({', '.join(text[i] for i in inputs)}):",
            *(f"    {line}" for line in body),
            f"    return ({', '.join(text[o] for o in program.outputs)},)",
            "",
        ]

    def _texts(self, program: Program) -> list[str]:
        return [
            self._constant(node.extra) if node.op == "const" else f"t{i}"
            for i, node in enumerate(program.nodes)
        ]

    def _constant(self, value: int) -> str:
        if value not in self._constants:
            self._constants[value] = f"c{len(self._constants)}"
            self._globals.append(f"{self._constants[value]} = np.uint64({value:#x})")
        return self._constants[value]

    def _statements(self, program: Program, nodes: list[int], text: list[str]) -> list[str]:
        lines: list[str] = []
        for i in nodes:
            node = program.nodes[i]
            args = [text[a] for a in node.args]
            if node.op == "when":
                name = f"when_{len(self._globals)}"
                self._function(node.extra, name)
                lines += [
                    f"{text[i]} = uint64(0)",
                    f"if {args[0]} != uint64(0):",
                    f"    {text[i]} = {name}({', '.join(args[1:])})[0]",
                ]
            else:
                lines.append(f"{text[i]} = {self._expression(node, args)}")
        return lines

    def _expression(self, node: Node, args: list[str]) -> str:
        if node.op in OPERATIONS:
            return OPERATIONS[node.op].numba.format(*args)
        match node.op:
            case "lookup":
                table = f"table_{len(self._globals)}"
                self._globals.append(f"{table} = np.array({list(node.extra.values)}, np.uint64)")
                return f"{table}[{args[0]}]"
            case op:
                raise NotImplementedError(op)


def _depends_on_when(program: Program) -> list[bool]:
    late: list[bool] = []
    for node in program.nodes:
        late.append(node.op == "when" or any(late[a] for a in node.args))
    return late


def _loads(program: Program, text: list[str], nodes: list[int]) -> list[str]:
    """Statements that read the inputs which these nodes or the outputs use."""
    used = {a for i in nodes for a in program.nodes[i].args} | set(program.outputs)
    return [
        f"{text[i]} = uint64(i{program.nodes[i].extra}[r])"
        for i in sorted(used)
        if program.nodes[i].op == "input"
    ]
