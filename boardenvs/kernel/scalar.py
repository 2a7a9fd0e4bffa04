"""Traced programs as Python functions on ints, for one board.

Python ints have no width, so the writer tracks which values may have left the range of a word
and cuts them only where that shows: before a right shift, a comparison, an index or an output.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from boardenvs.kernel.trace import OPERATORS, Node, Program
from boardenvs.kernel.words import ALL

_NEEDS_CUT = {"shr", "less", "popcount", "nonzero", "lookup", "when", "fill"}
_MAX_NESTING = 12  # CPython's parser refuses deeply nested parentheses


def compile_scalar(program: Program, name: str) -> Callable[..., tuple[int, ...]]:
    """A function of `program.num_inputs` ints in [0, 2**64) that returns the outputs as a tuple."""
    writer = _Writer()
    params = [f"a{i}" for i in range(program.num_inputs)]
    outputs = writer.body(program, params)
    lines = [f"def {name}({', '.join(params)}):", *writer.lines]
    lines.append(f"    return ({', '.join(outputs)},)")
    namespace: dict[str, Any] = dict(writer.tables)
    exec(compile("\n".join(lines), f"<boardenvs {name}>", "exec"), namespace)
    function: Callable[..., tuple[int, ...]] = namespace[name]
    return function


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
        alive = program.live()
        uses = [0] * len(program.nodes)
        for node, lives in zip(program.nodes, alive, strict=True):
            if lives:
                for arg in node.args:
                    # A branch may not run, and a loop runs often: their operands get a name.
                    uses[arg] += 2 if node.op in ("when", "fill") else 1
        text: list[str] = [""] * len(program.nodes)
        depth = [0] * len(program.nodes)
        clean = [True] * len(program.nodes)
        for i, node in enumerate(program.nodes):
            if not alive[i]:
                continue
            if node.op == "input":
                text[i] = params[node.extra]
            elif node.op == "const":
                text[i] = hex(node.extra) if node.extra > 9 else str(node.extra)
            else:
                args = [
                    text[a] if clean[a] or node.op not in _NEEDS_CUT else f"({text[a]} & {ALL})"
                    for a in node.args
                ]
                text[i] = self.expression(node, args)
                clean[i] = _is_clean(node, [clean[a] for a in node.args])
                depth[i] = 1 + max(depth[a] for a in node.args)
                if uses[i] > 1 or depth[i] > _MAX_NESTING:
                    text[i] = self.assign(text[i])
                    depth[i] = 0
        return [text[o] if clean[o] else f"{text[o]} & {ALL}" for o in program.outputs]

    def assign(self, expression: str) -> str:
        if expression.isidentifier():
            return expression
        name = self.fresh()
        self.emit(f"{name} = {expression}")
        return name

    def expression(self, node: Node, args: list[str]) -> str:
        match node.op:
            case "not":
                return f"(~{args[0]})"
            case "popcount":
                return f"{args[0]}.bit_count()"
            case "nonzero":
                return f"({args[0]} != 0)"
            case "lookup":
                table = f"table_{len(self.tables)}"
                self.tables[table] = node.extra.values
                return f"{table}[{args[0]}]"
            case "fill":
                return self.fill(args[0], args[1], node.extra)
            case "when":
                return self.branch(node.extra.program, args)
            case op:
                return f"({args[0]} {OPERATORS[op]} {args[1]})"

    def fill(self, start: str, through: str, shift: int) -> str:
        front, total = self.fresh(), self.fresh()
        move = f"<< {shift}" if shift > 0 else f">> {-shift}"
        self.emit(f"{front} = {total} = ({start} {move}) & {through}")
        self.emit(f"while {front}:")
        self.emit(f"    {front} = ({front} {move}) & {through}")
        self.emit(f"    {total} |= {front}")
        return total

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


def _is_clean(node: Node, args: list[bool]) -> bool:
    """Whether the value surely lies in [0, 2**64)."""
    match node.op:
        case "and":
            return any(args)
        case "or" | "xor":
            return all(args)
        case "not" | "sub" | "add" | "mul" | "shl":
            return False
        case _:
            return True
