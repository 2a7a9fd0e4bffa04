"""Writes traced programs as Python functions on ints, for one board.

Python ints have no width, so the writer tracks which values may have left the range of a word
and cuts them only where that shows: before a right shift, a comparison, an index or an output.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from boardenvs.kernel.generated import run_source
from boardenvs.kernel.operations import ALL, OPERATIONS, ROUNDS
from boardenvs.kernel.trace import Node, Program, write_constant

_MAX_NESTING = 12  # CPython's parser refuses deeply nested parentheses


def compile_python(program: Program, name: str) -> Callable[..., tuple[int, ...]]:
    """Return a function of `program.num_inputs` ints in [0, 2**64) that returns the outputs as a
    tuple.
    """
    source, names = write_python(program, name)
    run_source(source, f"{name} (python)", names)
    return names[name]


def write_python(program: Program, name: str) -> tuple[str, dict[str, Any]]:
    """Return the source of that function, and the tables that its names `table_...` stand for."""
    writer = _Writer()
    params = [f"a{i}" for i in range(program.num_inputs)]
    outputs = writer.body(program, params)
    lines = [f"def {name}({', '.join(params)}):", *writer.lines]
    lines.append(f"    return ({', '.join(outputs)},)")
    return "\n".join([*lines, ""]), dict(writer.tables)


class _Writer:
    def __init__(self) -> None:
        self.lines: list[str] = []
        self.tables: dict[str, tuple[int, ...]] = {}
        self.names = 0
        self.indent = "    "

    def fresh(self) -> str:
        self.names += 1
        return f"t{self.names}"

    def emit(self, line: str) -> None:
        self.lines.append(self.indent + line)

    def body(self, program: Program, params: list[str]) -> list[str]:
        """Write the statements of a program; return the expressions of its outputs."""
        text: list[str] = [""] * len(program.nodes)
        for i, node in enumerate(program.nodes):
            if node.op == "input":
                text[i] = params[node.extra]
            elif node.op == "const":
                text[i] = write_constant(node.extra)
        uses = _uses(program)
        depth = [0] * len(program.nodes)
        clean = [True] * len(program.nodes)  # surely in [0, 2**64)
        for i in program.steps():
            node = program.nodes[i]
            row = OPERATIONS.get(node.op)
            args = [
                text[a] if clean[a] or (row and k not in row.cut) else f"({text[a]} & {ALL:#x})"
                for k, a in enumerate(node.args)
            ]
            text[i] = self.expression(node, args)
            if row:
                clean[i] = row.clean(clean[a] for a in node.args)
            depth[i] = 1 + max(depth[a] for a in node.args)
            if node.op != "repeat" and (uses[i] > 1 or depth[i] > _MAX_NESTING):
                text[i] = self.assign(text[i])
                depth[i] = 0
        return [
            # What has one bit Python may have computed as True or False.
            f"+{text[o]}"
            if program.possible[o] == 1
            else text[o]
            if clean[o]
            else f"{text[o]} & {ALL:#x}"
            for o in program.outputs
        ]

    def assign(self, expression: str) -> str:
        return expression if expression.isidentifier() else self.assign_anew(expression)

    def expression(self, node: Node, args: list[str]) -> str:
        if node.op in OPERATIONS:
            return OPERATIONS[node.op].python.format(*args)
        match node.op:
            case "lookup":
                table = f"table_{len(self.tables)}"
                self.tables[table] = node.extra.values
                return f"{table}[{args[0]}]"
            case "fill":
                return self.fill(args[0], args[1], node.extra)
            case "when":
                return self.branch(node.extra, args)
            case "repeat":
                return self.loop(node.extra, args)
            case "part":
                return args[0].split(", ")[int(node.extra)]
            case op:
                raise NotImplementedError(op)

    def fill(self, start: str, through: str, shift: int) -> str:
        front, total = self.fresh(), self.fresh()
        move = f"<< {shift}" if shift > 0 else f">> {-shift}"
        self.emit(f"{front} = {total} = ({start} {move}) & {through}")
        self.emit(f"while {front}:")
        self.emit(f"    {front} = ({front} {move}) & {through}")
        self.emit(f"    {total} |= {front}")
        return total

    def loop(self, program: Program, args: list[str]) -> str:
        """Write the loop; return the names of the words that change, with commas."""
        count = len(program.outputs)
        names = [self.assign_anew(arg) for arg in args[:count]]
        self.emit(f"for _ in range({ROUNDS}):")
        outer, self.indent = self.indent, self.indent + "    "
        outputs = self.body(program, [*names, *args[count:]])
        new = [self.assign_anew(output) for output in outputs]
        same = " and ".join(f"{a} == {b}" for a, b in zip(names, new, strict=True))
        self.emit(f"if {same}:")
        self.emit("    break")
        for name, value in zip(names, new, strict=True):
            self.emit(f"{name} = {value}")
        self.indent = outer
        return ", ".join(names)

    def assign_anew(self, expression: str) -> str:
        """Return a name of its own for a value."""
        name = self.fresh()
        self.emit(f"{name} = {expression}")
        return name

    def branch(self, program: Program, args: list[str]) -> str:
        result = self.fresh()
        condition, *params = args
        self.emit(f"if {condition}:")
        outer, self.indent = self.indent, self.indent + "    "
        (output,) = self.body(program, params)
        self.emit(f"{result} = {output}")
        self.indent = outer
        self.emit("else:")
        self.emit(f"    {result} = 0")
        return result


def _uses(program: Program) -> list[int]:
    """Return how often each node is read, as an operand or an output. An operand of a branch, which
    may not run, or of a loop, which runs often, counts twice, so that it gets a name before.
    """
    uses = [0] * len(program.nodes)
    for i in program.steps():
        node = program.nodes[i]
        for arg in node.args:
            uses[arg] += 2 if node.op in ("when", "fill", "repeat") else 1
    for output in program.outputs:
        uses[output] += 1
    return uses
