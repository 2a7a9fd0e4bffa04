"""Writes traced programs as NumPy calls, for a batch.

A batch is worked through in chunks that stay in the processor's cache, and every intermediate
result lives in one of a few preallocated buffers, reused as soon as its last reader has run.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import accumulate
from typing import Any

import numpy as np

from boardenvs.kernel.generated import run_source
from boardenvs.kernel.layout import Layout, unpack, words_of
from boardenvs.kernel.operations import OPERATIONS, ROUNDS
from boardenvs.kernel.trace import Node, Program

# Rows a chunk: large enough to hide the cost of a NumPy call, small enough that the buffers stay in
# the processor's caches; measured, 8192 to 65536 differ little.
CHUNK = 16384

Array = np.ndarray[Any, np.dtype[Any]]


class NumpyProgram:
    """A program traced with target "batch", called with input arrays and output arrays to fill.

    There is one array (B,) per word. Inputs are unsigned, of any width. Outputs may have any
    integer or boolean dtype and must not overlap the inputs; arrays may be strided. `source` is the
    code, sub-programs first.
    """

    def __init__(self, program: Program, name: str) -> None:
        writer = _Writer(program, name)
        self.source: str = "\n".join([*(sub.source + "\n" for sub in writer.subs), writer.source])
        run_source(writer.source, f"{name} (numpy)", writer.names)
        self._run: Callable[..., None] = writer.names[name]
        self._buffers = _Buffers(writer.num_buffers)

    def __call__(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        rows = len(outputs[0]) if outputs else 0
        if rows <= CHUNK:
            self._run([np.asarray(x, np.uint64) for x in inputs], outputs, self._buffers.of(rows))
            return
        for start in range(0, rows, CHUNK):
            part = slice(start, start + CHUNK)
            self([x[part] for x in inputs], [x[part] for x in outputs])


class _Buffers(threading.local):
    """The buffers of each thread: `of` a number of rows; the last two sizes are kept."""

    def __init__(self, count: int) -> None:
        self.of = lru_cache(2)(lambda rows: list(np.empty((count, rows), np.uint64)))


class NumpyBatch:
    """A program whose arrays hold words as a layout says: (B, n) as columns, bytes as words."""

    def __init__(self, program: Program, name: str, layout: Layout) -> None:
        ends = zip(layout.inputs, accumulate(layout.inputs), strict=True)
        places = {tuple(range(end - width, end)): k for k, (width, end) in enumerate(ends)}
        # Of each output how many words become bytes, and the input that has them already.
        self._outputs: list[tuple[int, int | None]] = []
        computed, start = list[int](), 0
        for width in layout.outputs:
            words = program.outputs[start : start + words_of(width)]
            source = places.get(words) if width < 0 else None
            self._outputs.append((len(words) if width < 0 else 0, source))
            computed += words if source is None else ()
            start += len(words)
        self._program = NumpyProgram(replace(program, outputs=tuple(computed)), name)

    def __call__(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        columns, unpacked = list[Array](), []
        for array, (count, source) in zip(outputs, self._outputs, strict=True):
            words = array
            if count:
                words = (
                    np.empty((len(array), count), np.uint64) if source is None else inputs[source]
                )
                unpacked.append((words, array))
            if source is None:
                columns.extend(words.T if words.ndim > 1 else [words])
        self._program([x for a in inputs for x in (a.T if a.ndim > 1 else [a])], columns)
        for words, array in unpacked:
            unpack(words, array.shape[1], array.view(np.uint8))


def _repeat_rows(program: NumpyProgram, args: Sequence[Array], count: int) -> list[Array]:
    """`flow.repeat` for a batch, until nothing changes in any row."""
    rows = max(a.size for a in args if a.ndim)
    words = [np.broadcast_to(a, rows).astype(np.uint64) for a in args]
    after = [np.empty(rows, np.uint64) for _ in range(count)]
    for _ in range(ROUNDS):
        program(words, after)
        if all(np.array_equal(a, b) for a, b in zip(after, words, strict=False)):
            break
        words[:count], after = after, words[:count]
    return words[:count]


def _compute_rows(
    program: NumpyProgram, condition: Array, out: Array, args: Sequence[Array]
) -> None:
    """`words.when` for a batch: gather the rows that need the work, do it, scatter."""
    out.fill(0)
    rows = np.flatnonzero(condition)
    if rows.size:
        result = np.empty(rows.size, np.uint64)
        program([a[rows] if a.ndim else a for a in args], [result])
        out[rows] = result


_NAMES: dict[str, Any] = {
    "array": np.array,
    "compute_rows": _compute_rows,
    "copyto": np.copyto,
    "minimum": np.minimum,
    "repeat_rows": _repeat_rows,
    "uint64": np.uint64,
}


class _Writer:
    """Writes the calls and assigns each intermediate value a buffer.

    `names` are what the source needs: functions, tables, sub-programs.
    """

    def __init__(self, program: Program, name: str) -> None:
        self.program = program
        self.name = name
        self.names = _NAMES | {f"{row.name}_": row.numpy for row in OPERATIONS.values()}
        self.subs: list[NumpyProgram] = []
        self.num_buffers = 0
        self._free: list[int] = []
        self._buffer_of: dict[int, int] = {}
        self._constants: dict[int, str] = {}
        body = self._calls()
        for k, output in enumerate(program.outputs):
            body.append(f"copyto(outputs[{k}], {self._operand(output)}, 'unsafe')")
        lines = [
            *(f"{c} = array({value:#x}, uint64)" for value, c in self._constants.items()),
            f"def {name}(inputs, outputs, buffers):",
            *_unpacked("i", program.num_inputs, "inputs"),
            *_unpacked("b", self.num_buffers, "buffers"),
            *(f"    {line}" for line in body),
        ]
        self.source = "\n".join([*lines, ""])

    def _calls(self) -> list[str]:
        last_use = _last_uses(self.program)
        lines: list[str] = []
        for i in self.program.steps():
            node = self.program.nodes[i]
            args = [self._operand(a) for a in node.args]
            dying = sorted({a for a in node.args if last_use[a] == i and a in self._buffer_of})
            if node.op == "when":  # clears its result before it reads its operands
                self._buffer_of[i] = self._take_buffer()
            self._free += [self._buffer_of[a] for a in dying]
            if node.op not in ("when", "repeat"):  # which makes arrays of its own
                self._buffer_of[i] = self._take_buffer()
            lines.append(self._call(node, args, self._operand(i)))
        return lines

    def _sub(self, program: Program) -> str:
        name = f"{self.name}_inner_{len(self.subs)}"
        self.subs.append(NumpyProgram(program, name))
        self.names[name] = self.subs[-1]
        return name

    def _operand(self, index: int) -> str:
        node = self.program.nodes[index]
        match node.op:
            case "input":
                return f"i{node.extra}"
            case "repeat":
                return f"r{index}"
            case "const":  # a 0-d array: a Python int would be converted in every call
                return self._constants.setdefault(node.extra, f"c{len(self._constants)}")
            case _:
                return f"b{self._buffer_of[index]}"

    def _take_buffer(self) -> int:
        if self._free:
            return self._free.pop()
        self.num_buffers += 1
        return self.num_buffers - 1

    def _call(self, node: Node, args: list[str], out: str) -> str:
        if node.op in OPERATIONS:
            return f"{node.op}_({', '.join(args)}, {out})"
        match node.op:
            case "lookup":
                take = f"take_{len(self.names)}"
                self.names[take] = node.extra.array.take
                index = f"minimum({args[0]}, uint64({len(node.extra.values) - 1}), out={out})"
                return f"{take}({index}.view('p'), None, {out}, 'clip')"
            case "when":
                sub = self._sub(node.extra)
                return f"compute_rows({sub}, {args[0]}, {out}, ({', '.join(args[1:])},))"
            case "repeat":
                sub = self._sub(node.extra)
                count = len(node.extra.outputs)
                return f"{out} = repeat_rows({sub}, ({', '.join(args)},), {count})"
            case "part":
                return f"copyto({out}, {args[0]}[{node.extra}])"
            case op:
                raise NotImplementedError(op)


def _unpacked(prefix: str, count: int, source: str) -> list[str]:
    names = ", ".join(f"{prefix}{k}" for k in range(count))
    return [f"    ({names},) = {source}"] if count else []


def _last_uses(program: Program) -> list[int]:
    """Return the last node that reads each node; one past all nodes for an output."""
    last_use = list(range(len(program.nodes)))
    for i in program.steps():
        for arg in program.nodes[i].args:
            last_use[arg] = i
    for output in program.outputs:
        last_use[output] = len(program.nodes)
    return last_use
