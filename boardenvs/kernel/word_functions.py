"""Writes traced programs as Python functions on any kind of words that has Python's operators.

The kind of word decides what a function does: words of `simd` write machine code for Numba, and
`jax_words` record a program of JAX; both are an `OperatorWord`. The source uses the names `Table`,
`when` and `repeat`, which each kind defines, and for Numba `union`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from boardenvs.kernel.operations import OPERATIONS, add_operators
from boardenvs.kernel.trace import Node, Program, write_constant


class OperatorWord(ABC):
    """A word that such source can be run on: its operators are operations of the table."""

    __slots__ = ()

    @abstractmethod
    def apply(self, name: str, *operands: Any) -> Any:
        """Return the word of an operation; the operands are ints and words, this one among them."""

    def __lt__(self, other: Any) -> Any:
        return self.apply("less", self, other)

    def __gt__(self, other: Any) -> Any:
        return self.apply("less", other, self)

    def __ne__(self, other: object) -> Any:
        return self.apply("nonzero", self if other == 0 else self ^ other)  # type: ignore[operator]

    __hash__ = None  # type: ignore[assignment]

    def bit_count(self) -> Any:
        """Return the number of set bits."""
        return self.apply("popcount", self)


add_operators(OperatorWord)


class WordFunctions:
    """The lines of a source to which functions are added."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._tables: dict[tuple[int, ...], str] = {}
        self._inner = 0

    def add(self, program: Program, name: str) -> None:
        """Add the program as a function of words that returns a tuple, after what it needs."""
        text = [_text(node, i) for i, node in enumerate(program.nodes)]
        body = [f"    {text[i]} = {self._expression(program, i, text)}" for i in program.steps()]
        self.lines += [
            f"def {name}({', '.join(numbered('i', program.num_inputs))}):",
            *body,
            f"    return {in_tuple([text[o] for o in program.outputs])}",
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
                name = self._add_inner(node.extra)
                return f"when({args[0]}, {name}, {', '.join(args[1:])})"
            case "repeat":
                name = self._add_inner(node.extra)
                return f"repeat({name}, {in_tuple(args)}, {len(node.extra.outputs)})"
            case "part":
                return f"{args[0]}[{node.extra}]"
            case "union":
                inner, columns = node.extra
                return f"union({self._add_inner(inner)}, {columns}, {in_tuple(args)})"
            case op:
                raise NotImplementedError(op)

    def _add_inner(self, program: Program) -> str:
        self._inner += 1
        name = f"inner_{self._inner}"
        self.add(program, name)
        return name

    def _table(self, values: tuple[int, ...]) -> str:
        if values not in self._tables:
            self._tables[values] = f"table_{len(self._tables)}"
            self.lines.append(f"{self._tables[values]} = Table({list(values)})")
        return self._tables[values]


def _text(node: Node, index: int) -> str:
    match node.op:
        case "const":
            return write_constant(node.extra)
        case "input":
            return f"i{node.extra}"
        case _:
            return f"t{index}"


def numbered(prefix: str, count: int) -> list[str]:
    """Return the names prefix0, prefix1 and so on."""
    return [f"{prefix}{k}" for k in range(count)]


def in_tuple(names: Sequence[str]) -> str:
    """Return the names as a tuple."""
    return f"({', '.join(names)},)"
