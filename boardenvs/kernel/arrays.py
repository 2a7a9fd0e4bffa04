"""Traced programs as NumPy calls, for a batch.

A batch is worked through in chunks that stay in the processor's cache, and every intermediate
result lives in one of a few preallocated buffers, reused as soon as its last reader has run.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from boardenvs.kernel.trace import Node, Program

# Rows a chunk: large enough to hide the cost of a NumPy call, small enough that the buffers stay in
# the processor's caches; measured, 8192 to 65536 differ little.
CHUNK = 16384

Array = np.ndarray[Any, np.dtype[Any]]

_UFUNCS: dict[str, np.ufunc] = {
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "shl": np.left_shift,
    "shr": np.right_shift,
    "less": np.less,
    "not": np.bitwise_not,
    "popcount": np.bitwise_count,
}
# Their results depend on the width of their operands.
_WRAPPING = ("not", "add", "sub", "mul", "shl")


class ArrayProgram:
    """A program traced with target "batch". Call it with inputs (B,) and outputs (B,), to write.

    Inputs are unsigned, of any width. Outputs may be strided and may be of any integer or boolean
    dtype, but must not overlap the inputs.
    """

    def __init__(self, program: Program, name: str) -> None:
        writer = _Writer(program)
        self.num_buffers = writer.num_buffers
        source = "\n".join([f"def {name}(inputs, outputs, buffers):", *writer.lines])
        exec(compile(source, f"<boardenvs {name} (batch)>", "exec"), writer.namespace)
        self._run: Callable[..., None] = writer.namespace[name]
        self._local = threading.local()

    def __call__(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        rows = len(outputs[0])
        if rows <= CHUNK:
            self._run(inputs, outputs, self._buffers(rows))
            return
        for start in range(0, rows, CHUNK):
            part = slice(start, min(start + CHUNK, rows))
            self._run(
                [x[part] for x in inputs],
                [x[part] for x in outputs],
                self._buffers(part.stop - start),
            )

    def _buffers(self, rows: int) -> list[Array]:
        """Work space of this thread for so many rows; the last two sizes are kept."""
        kept: dict[int, list[Array]] | None = getattr(self._local, "kept", None)
        if kept is None:
            kept = self._local.kept = {}
        buffers = kept.get(rows)
        if buffers is None:
            if len(kept) > 1:
                kept.pop(next(iter(kept)))
            buffers = kept[rows] = list(np.empty((self.num_buffers, rows), np.uint64))
        return buffers


def _compute_rows(
    program: ArrayProgram, condition: Array, out: Array, args: Sequence[Array]
) -> None:
    """`kernel.when` for a batch: gather the rows that need the work, do it, scatter."""
    out.fill(0)
    rows = np.flatnonzero(condition)
    if rows.size:
        result = np.empty(rows.size, np.uint64)
        program([a[rows] if a.ndim else a for a in args], [result])
        out[rows] = result


class _Writer:
    """Writes the calls and assigns each intermediate value a buffer."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.namespace: dict[str, Any] = {}
        self.lines: list[str] = []
        self.num_buffers = 0
        self._free: list[int] = []
        self._text: dict[int, str] = {}
        self._constants: dict[int, str] = {}
        self._write()

    def _write(self) -> None:
        program = self.program
        alive = program.live()
        last_use = list(range(len(program.nodes)))
        for i, node in enumerate(program.nodes):
            if alive[i]:
                for arg in node.args:
                    last_use[arg] = i
        for output in program.outputs:
            last_use[output] = len(program.nodes)
        buffer_of: dict[int, int] = {}
        body: list[str] = []
        for i, node in enumerate(program.nodes):
            if not alive[i]:
                continue
            if node.op == "input":
                self._text[i] = f"i{node.extra}"
            elif node.op == "const":
                self._text[i] = self._constant(node.extra)
            else:
                # `when` clears its result before it reads its operands, so it may not share.
                dying = {a for a in node.args if last_use[a] == i and a in buffer_of}
                if node.op != "when":
                    self._free += [buffer_of[a] for a in sorted(dying)]
                buffer_of[i] = self._take_buffer()
                if node.op == "when":
                    self._free += [buffer_of[a] for a in sorted(dying)]
                self._text[i] = f"b{buffer_of[i]}"
                body.append("    " + self._call(node, self._text[i]))
        for k, output in enumerate(program.outputs):
            body.append(f"    copyto(outputs[{k}], {self._text[output]}, 'unsafe')")
        self.namespace["copyto"] = np.copyto
        for i in sorted(self._to_widen(alive)):
            body.insert(0, f"    {self._text[i]} = {self._text[i]}.astype('Q', copy=False)")
        for prefix, count, source in (
            ("i", program.num_inputs, "inputs"),
            ("b", self.num_buffers, "buffers"),
        ):
            if count:
                names = ", ".join(f"{prefix}{k}" for k in range(count))
                self.lines.append(f"    ({names},) = {source}")
        self.lines += body

    def _to_widen(self, alive: Sequence[bool]) -> set[int]:
        """The inputs that must have 64 bits: those that index a Table, and those of an operation
        that has no wider operand and whose result depends on its width.
        """
        nodes = self.program.nodes
        found: set[int] = set()
        for i, node in enumerate(nodes):
            inputs = [a for a in node.args if nodes[a].op == "input"]
            alone = node.op in _WRAPPING and len(inputs) == len(node.args)
            if alive[i] and (node.op == "lookup" or alone):
                found.update(inputs)
        return found

    def _take_buffer(self) -> int:
        if self._free:
            return self._free.pop()
        self.num_buffers += 1
        return self.num_buffers - 1

    def _constant(self, value: int) -> str:
        """A 0-d array: a Python int would be converted anew in every call."""
        if value not in self._constants:
            self._constants[value] = f"c{len(self._constants)}"
            self.namespace[self._constants[value]] = np.array(value, np.uint64)
        return self._constants[value]

    def _object(self, prefix: str, value: Any) -> str:
        name = f"{prefix}_{len(self.namespace)}"
        self.namespace[name] = value
        return name

    def _call(self, node: Node, out: str) -> str:
        args = [self._text[a] for a in node.args]
        match node.op:
            case "nonzero":
                # Unlike a comparison, min(x, 1) needs no cast from bool.
                self.namespace["minimum"] = np.minimum
                return f"minimum({args[0]}, {self._constant(1)}, out={out})"
            case "lookup":
                take = self._object("take", node.extra.array.take)
                return f"{take}({args[0]}.view('p'), None, {out}, 'clip')"
            case "when":
                self.namespace["compute_rows"] = _compute_rows
                sub = self._object("sub", ArrayProgram(node.extra.program, "when"))
                return f"compute_rows({sub}, {args[0]}, {out}, ({', '.join(args[1:])},))"
            case op:
                self.namespace[f"{op}_"] = _UFUNCS[op]
                return f"{op}_({', '.join(args)}, {out})"
