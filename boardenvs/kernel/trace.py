"""Symbolic execution of a rule function into a straight-line program of word operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from boardenvs.kernel.words import ALL, Table

Target = Literal["scalar", "batch"]

# How the operations that are Python operators are written.
OPERATORS = {
    "and": "&",
    "or": "|",
    "xor": "^",
    "add": "+",
    "sub": "-",
    "mul": "*",
    "shl": "<<",
    "shr": ">>",
    "less": "<",
}


@dataclass(frozen=True)
class Node:
    """One operation. `args` are node indices; `extra` is a constant, a Table or a sub-program."""

    op: str
    args: tuple[int, ...] = ()
    extra: Any = None


@dataclass
class Program:
    """A traced function: nodes in order of evaluation, the first `num_inputs` being the inputs."""

    target: Target
    num_inputs: int
    nodes: list[Node] = field(default_factory=list)
    outputs: tuple[int, ...] = ()
    possible: list[int] = field(default_factory=list)  # the bits that each node may set
    _known: dict[Node, int] = field(default_factory=dict, repr=False)

    def add(self, op: str, *args: int, extra: Any = None) -> Word:
        """The word of this operation; an operation that is already there is not repeated."""
        node = Node(op, args, extra)
        index = self._known.get(node)
        if index is None:
            index = len(self.nodes)
            self.nodes.append(node)
            self.possible.append(self._possible_bits(node))
            self._known[node] = index
        return Word(self, index)

    def index(self, value: Word | int) -> int:
        if isinstance(value, Word):
            if value.program is not self:
                raise ValueError("a word of another program: pass it to the function as argument")
            return value.index
        return self.add("const", extra=int(value) & ALL).index

    def _possible_bits(self, node: Node) -> int:
        """An upper bound of the bits set in the result, by which masks prove superfluous."""
        bits = [self.possible[a] for a in node.args]
        match node.op:
            case "const":
                return int(node.extra)
            case "and":
                return bits[0] & bits[1]
            case "or" | "xor":
                return bits[0] | bits[1]
            case "shl" | "shr" if self.nodes[node.args[1]].op == "const":
                distance: int = self.nodes[node.args[1]].extra
                return (bits[0] << distance) & ALL if node.op == "shl" else bits[0] >> distance
            case "nonzero" | "less":
                return 1
            case "popcount":
                return 127
            case "fill":
                return bits[1]
            case _:
                return ALL

    def live(self) -> list[bool]:
        """Which nodes an output depends on."""
        alive = [False] * len(self.nodes)
        for i in self.outputs:
            alive[i] = True
        for i in range(len(self.nodes) - 1, -1, -1):
            if alive[i]:
                for arg in self.nodes[i].args:
                    alive[arg] = True
        return alive


def trace(function: Callable[..., Any], num_inputs: int, target: Target) -> Program:
    """Record `function` of `num_inputs` words, which returns a word or a sequence of words.

    `target` is "scalar" for one board, where branches are cheap and `guard` and `fill` use
    them, or "batch", where every row does the same work.
    """
    program = Program(target, num_inputs)
    inputs = [program.add("input", extra=i) for i in range(num_inputs)]
    result = function(*inputs)
    words: Sequence[Word | int] = result if isinstance(result, (tuple, list)) else (result,)
    program.outputs = tuple(program.index(w) for w in words)
    return program


class Word:
    """A symbol for an unsigned 64-bit value of the program being traced."""

    __slots__ = ("index", "program")

    def __init__(self, program: Program, index: int) -> None:
        self.program = program
        self.index = index

    def _binary(self, op: str, other: Word | int, swap: bool = False) -> Word:
        a, b = self.index, self.program.index(other)
        if swap:
            a, b = b, a
        return self.program.add(op, a, b)

    def __and__(self, other: Word | int) -> Word:
        if isinstance(other, int) and not self.program.possible[self.index] & ~other:
            return self
        return self._binary("and", other)

    def __or__(self, other: Word | int) -> Word:
        return self if isinstance(other, int) and other == 0 else self._binary("or", other)

    def __xor__(self, other: Word | int) -> Word:
        return self._binary("xor", other)

    def __add__(self, other: Word | int) -> Word:
        return self._binary("add", other)

    def __sub__(self, other: Word | int) -> Word:
        return self._binary("sub", other)

    def __rsub__(self, other: int) -> Word:
        return self._binary("sub", other, swap=True)

    def __mul__(self, other: Word | int) -> Word:
        return self._binary("mul", other)

    def __lshift__(self, other: Word | int) -> Word:
        return self._binary("shl", other)

    def __rlshift__(self, other: int) -> Word:
        return self._binary("shl", other, swap=True)

    def __rshift__(self, other: Word | int) -> Word:
        return self._binary("shr", other)

    __rand__ = __and__
    __ror__ = __or__
    __rxor__ = __xor__
    __radd__ = __add__
    __rmul__ = __mul__

    def __invert__(self) -> Word:
        return self.program.add("not", self.index)

    def __bool__(self) -> bool:
        raise TypeError("a rule must not branch on data; use kernel.when or kernel.guard")

    def popcount(self) -> Word:
        return self.program.add("popcount", self.index)

    def nonzero(self) -> Word:
        return self.program.add("nonzero", self.index)

    def less(self, other: Word | int) -> Word:
        return self._binary("less", other)

    def greater(self, other: Word | int) -> Word:
        return self._binary("less", other, swap=True)

    def lookup(self, table: Table) -> Word:
        return self.program.add("lookup", self.index, extra=table)

    def when(self, function: Callable[..., Any], args: Sequence[Word | int]) -> Word:
        sub = trace(function, len(args), self.program.target)
        indices = [self.program.index(a) for a in args]
        return self.program.add("when", self.index, *indices, extra=_Sub(sub))

    def guard(self, function: Callable[..., Any], args: Sequence[Word | int]) -> Word:
        if self.program.target == "scalar":
            return self.when(function, (self, *args))
        result: Word = function(self, *args)
        return result

    def fill(self, through: Word, shift: int) -> Word:
        """See `bitboard.fill`, which calls this only in a scalar program."""
        return self.program.add("fill", self.index, through.index, extra=shift)


class _Sub:
    """A sub-program as a node's `extra`: equal only to itself, so that Node stays hashable."""

    __slots__ = ("program",)

    def __init__(self, program: Program) -> None:
        self.program = program
