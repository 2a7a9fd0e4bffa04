"""Tracing: a rule is run once on symbols, which record the operations.

The result is a straight-line program of word operations: the table in `operations`, and eight more
that are not plain functions of words:

    input          an input of the program; `extra` is its number
    const          `extra`
    lookup i       element i of the Table `extra`
    when c, a...   the program `extra` on a..., where c is not 0, else 0
    fill s, t      the squares of t in line with s, by steps of `extra`; see `bitboard.fill`
    repeat v, a    the words v, replaced by the program `extra` on v and a until they do not change
    part r         word `extra` of a `repeat`
    union a...     the OR of a program on rows of constants and a...; `extra` is both
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from boardenvs.kernel.flow import Table
from boardenvs.kernel.operations import ALL, OPERATIONS, Operand, add_operators, refuse_operators
from boardenvs.kernel.wide import Wide

Target = Literal["scalar", "lanes", "batch"]


@dataclass(frozen=True)
class Node:
    """One operation. `args` are node indices; `extra` is a constant, a Table or a sub-program."""

    op: str
    args: tuple[int, ...] = ()
    extra: Any = None


@dataclass(eq=False)
class Program:
    """A traced function: nodes in order of evaluation, the first `num_inputs` being the inputs."""

    target: Target
    num_inputs: int
    nodes: list[Node] = field(default_factory=list)
    outputs: tuple[int, ...] = ()
    possible: list[int] = field(default_factory=list)  # the bits that each node may set
    _known: dict[Node, int] = field(default_factory=dict, repr=False)

    def apply(self, name: str, *operands: Word | int) -> Word:
        """Record an operation of the table; returns its word, or an operand equal to it."""
        row, first = OPERATIONS[name], operands[0]
        if row.is_first is not None and isinstance(first, Word):
            bounds = [
                self._operand(self.index(x)) if isinstance(x, Word) else Operand(x, x)
                for x in (x if isinstance(x, Word) else _constant(x) for x in operands)
            ]
            if row.is_first(*bounds):
                return first
        return self.add(name, *(self.index(x) for x in operands))

    def add(self, op: str, *args: int, extra: Any = None) -> Word:
        """Return the word of this node; one that is already there is not repeated."""
        node = Node(op, args, extra)
        index = self._known.get(node)
        if index is None:
            index = len(self.nodes)
            self.nodes.append(node)
            self.possible.append(self._possible_bits(node))
            self._known[node] = index
        return Word(self, index)

    def index(self, value: Word | int) -> int:
        """Return the node of a word of this program, or of a constant. ValueError for a foreign
        word.
        """
        if isinstance(value, Word):
            if value.program is not self:
                raise ValueError("a word of another program: pass it to the function as argument")
            return value.index
        return self.add("const", extra=_constant(value)).index

    def _operand(self, index: int) -> Operand:
        node = self.nodes[index]
        return Operand(self.possible[index], node.extra if node.op == "const" else None)

    def _possible_bits(self, node: Node) -> int:
        """Return an upper bound of the bits set in the result, by which masks prove superfluous."""
        if node.op in OPERATIONS:
            return OPERATIONS[node.op].bound(*map(self._operand, node.args))
        match node.op:
            case "const":
                return int(node.extra)
            case "fill":
                return self.possible[node.args[1]]
            case _:
                return ALL

    def steps(self) -> list[int]:
        """Return the nodes to compute, in order: those that an output depends on and that are
        neither inputs nor constants.
        """
        alive = [False] * len(self.nodes)
        for i in self.outputs:
            alive[i] = True
        for i in range(len(self.nodes) - 1, -1, -1):
            if alive[i]:
                for arg in self.nodes[i].args:
                    alive[arg] = True
        return [i for i, n in enumerate(self.nodes) if alive[i] and n.op not in ("input", "const")]


def _constant(value: int) -> int:
    """Return a number as a word, modulo 2**64; ValueError if it has more than 64 bits."""
    number = operator.index(value)
    if not -(1 << 64) <= number <= ALL:
        raise ValueError(
            f"the constant {number:#x} has {number.bit_length()} bits: words have 64, one a square "
            "of a board of 8x8; AND it with boardenvs.kernel.ALL if its lowest 64 bits are meant"
        )
    return number & ALL


def write_constant(value: int) -> str:
    """In hexadecimal, unless both notations are the same."""
    return hex(value) if value > 9 else str(value)


def trace(function: Callable[..., Any], num_inputs: int, target: Target) -> Program:
    """Record `function` of `num_inputs` words, which returns a word or a sequence of words.

    `target` is "scalar" for one board, where branches are cheap and `guard` and `fill` use
    them, "lanes" for one board with vectors (see `bitboard.union`), or "batch", where every row
    does the same work.
    """
    program = Program(target, num_inputs)
    inputs = [program.add("input", extra=i) for i in range(num_inputs)]
    result = function(*inputs)
    words: Sequence[Word | int] = result if isinstance(result, (tuple, list)) else (result,)
    program.outputs = tuple(program.index(w) for w in words)
    return program


class Word:
    """A symbol for an unsigned 64-bit value of the program being traced.

    It has the Python operators of the table of operations; see `add_operators`.
    """

    __slots__ = ("index", "program")

    def __init__(self, program: Program, index: int) -> None:
        self.program = program
        self.index = index

    def apply(self, name: str, *operands: Any) -> Word:
        """Return the word of an operation of the table; this word is one of the operands.
        ValueError for a shift that is no distance within a word.
        """
        for operand in operands:
            if isinstance(operand, Wide):
                return operand.apply(name, *operands)
        distance = operands[-1]
        if name in ("shl", "shr") and isinstance(distance, int) and not 0 <= distance < 64:
            raise ValueError(f"a word is shifted by {distance}: shifts are by 0 to 63")
        return self.program.apply(name, *operands)

    def lookup(self, table: Table) -> Word:
        """See `flow.Table`."""
        return self.program.add("lookup", self.index, extra=table)

    def when(self, function: Callable[..., Any], args: Sequence[Word | int]) -> Word:
        """See `flow.when`."""
        sub = trace(function, len(args), self.program.target)
        indices = [self.program.index(a) for a in args]
        return self.program.add("when", self.index, *indices, extra=sub)

    def repeat(
        self, function: Callable[..., Any], args: Sequence[Word | int], count: int
    ) -> list[Word]:
        """See `flow.repeat`; the first `count` words are those that change."""
        sub = trace(function, len(args), self.program.target)
        indices = [self.program.index(a) for a in args]
        node = self.program.add("repeat", *indices, extra=sub)
        return [self.program.add("part", node.index, extra=k) for k in range(count)]

    def guard(self, function: Callable[..., Any], args: Sequence[Word | int]) -> Word:
        """See `flow.guard`."""
        if self.program.target == "scalar":
            return self.when(function, (self, *args))
        return function(self, *args)

    def union(
        self,
        function: Callable[..., Any],
        rows: Sequence[Sequence[int]],
        args: Sequence[Word | int],
    ) -> Word:
        """See `bitboard.union`, which calls this only in a program with lanes."""
        sub = trace(function, len(rows[0]) + len(args), "lanes")
        columns = tuple(zip(*rows, strict=True))
        return self.program.add("union", *map(self.program.index, args), extra=(sub, columns))

    def fill(self, through: Word | int, shift: int) -> Word:
        """See `bitboard.fill`, which calls this only in a scalar program."""
        return self.program.add("fill", self.index, self.program.index(through), extra=shift)


add_operators(Word)
refuse_operators(Word)
