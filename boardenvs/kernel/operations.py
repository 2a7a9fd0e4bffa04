"""The operations on words: one row for each, with what every writer needs to know of it.

To add an operation, add a row to `_ROWS`. Rules call the row itself, as `popcount(x)`, or use the
Python operator that it stands for. A writer for another language is a file that walks a `Program`
and a column of this table with what it writes for each row. What Numba has no expression for is an
intrinsic at the head of `numba_writer`. What is no plain function of words (`input`, `const`,
`lookup`, `when`, `fill`, `repeat`, `part`) stands in `trace`; each writer says how it is written.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

# An int, a uint64 array of shape (B,), a `trace.Word` or a `wide.Wide`. Operators on such a union
# say nothing to a type checker, hence Any; the name is for the reader.
Bits: TypeAlias = Any

ALL = (1 << 64) - 1
ROUNDS = 256  # of a loop of a rule: no board has more squares that could be added one by one


class Operand(NamedTuple):
    """An operand while a rule is traced."""

    bits: int  # those that may be set; of a constant, those that are
    value: int | None = None  # of a constant


def _any_bits(*operands: Operand) -> int:
    return ALL


def _always(operands: Iterable[bool]) -> bool:
    return True


def _never(operands: Iterable[bool]) -> bool:
    return False


@dataclass(frozen=True, kw_only=True)
class Operation:
    """A row: one operation on words, modulo 2**64. Texts have {0} and {1} for the operands.

    Writers of arrays may give `numpy` an `out` that is one of its operands.
    """

    name: str
    operands: int = 2
    # On Python ints in [0, 2**64), exact modulo 2**64; if it is Python's own operator `method`,
    # `jax_words` calls it on arrays too.
    ints: Callable[..., int]
    numpy: Callable[..., Any]  # on uint64 arrays, which may be given an array to write as last one
    python: str  # as a Python expression, on ints and `word_functions.OperatorWord`
    method: str = ""  # the Python operator for it: "and" for `__and__` and `__rand__`
    commutes: bool = False
    cut: tuple[int, ...] = ()  # operands of `python` that must lie in [0, 2**64)
    clean: Callable[[Iterable[bool]], bool] = _always  # `python` lies there, if which operands do
    bound: Callable[..., int] = _any_bits  # the bits that may be set, by the operands
    is_first: Callable[..., bool] | None = None  # whether the result is the first operand

    def __call__(self, *words: Bits) -> Bits:
        """On ints, on arrays, or written down in the program that is being traced."""
        if all(isinstance(word, int) for word in words):
            return self.ints(*words)
        if any(isinstance(word, np.ndarray) for word in words):
            return np.asarray(self.numpy(*words)).astype(np.uint64, copy=False)
        symbol = next(word for word in words if not isinstance(word, int))
        return symbol.apply(self.name, *words)


def _shifted_left(word: Operand, distance: Operand) -> int:
    return ALL if distance.value is None else word.bits << distance.value & ALL


def _shifted_right(word: Operand, distance: Operand) -> int:
    return ALL if distance.value is None else word.bits >> distance.value


_ROWS = (
    Operation(
        name="and",
        ints=operator.and_,
        numpy=np.bitwise_and,
        python="({0} & {1})",
        method="and",
        commutes=True,
        clean=any,
        bound=lambda a, b: a.bits & b.bits,
        is_first=lambda a, b: b.value is not None and not a.bits & ~b.value,
    ),
    Operation(
        name="or",
        ints=operator.or_,
        numpy=np.bitwise_or,
        python="({0} | {1})",
        method="or",
        commutes=True,
        clean=all,
        bound=lambda a, b: a.bits | b.bits,
        is_first=lambda a, b: b.value == 0,
    ),
    Operation(
        name="xor",
        ints=operator.xor,
        numpy=np.bitwise_xor,
        python="({0} ^ {1})",
        method="xor",
        commutes=True,
        clean=all,
        bound=lambda a, b: a.bits | b.bits,
    ),
    Operation(
        name="not",
        operands=1,
        ints=operator.invert,
        numpy=np.bitwise_not,
        python="(~{0})",
        method="invert",
        clean=_never,
    ),
    Operation(
        name="add",
        ints=operator.add,
        numpy=np.add,
        python="({0} + {1})",
        method="add",
        commutes=True,
        clean=_never,
    ),
    Operation(
        name="sub",
        ints=operator.sub,
        numpy=np.subtract,
        python="({0} - {1})",
        method="sub",
        clean=_never,
    ),
    Operation(
        name="mul",
        ints=operator.mul,
        numpy=np.multiply,
        python="({0} * {1})",
        method="mul",
        commutes=True,
        clean=_never,
    ),
    # Distances of shifts must be less than 64: machines disagree on what lies beyond.
    Operation(
        name="shl",
        ints=operator.lshift,
        numpy=np.left_shift,
        python="({0} << {1})",
        method="lshift",
        cut=(1,),
        clean=_never,
        bound=_shifted_left,
        is_first=lambda a, b: b.value == 0,
    ),
    Operation(
        name="shr",
        ints=operator.rshift,
        numpy=np.right_shift,
        python="({0} >> {1})",
        method="rshift",
        cut=(0, 1),
        bound=_shifted_right,
        is_first=lambda a, b: b.value == 0,
    ),
    # The flag 1 where a < b, both unsigned, else 0.
    Operation(
        name="less",
        ints=lambda a, b: int(a < b),
        numpy=np.less,
        python="({0} < {1})",
        cut=(0, 1),
        bound=lambda a, b: 1,
    ),
    # The flag 1 where any bit is set, else 0.
    Operation(
        name="nonzero",
        operands=1,
        ints=lambda a: int(a != 0),
        numpy=np.sign,  # a comparison would need a cast from bool
        python="({0} != 0)",
        cut=(0,),
        bound=lambda a: 1,
    ),
    # The number of set bits.
    Operation(
        name="popcount",
        operands=1,
        ints=int.bit_count,
        numpy=np.bitwise_count,
        python="{0}.bit_count()",
        cut=(0,),
        bound=lambda a: 127,
    ),
)

OPERATIONS = {row.name: row for row in _ROWS}

less, nonzero, popcount = (OPERATIONS[name] for name in ("less", "nonzero", "popcount"))


def add_operators(kind: Any) -> None:
    """Give a kind of word, which has `apply`, the Python operators that operations stand for, with
    the word on either side.
    """
    for row in OPERATIONS.values():
        if row.method:
            _add_operator(kind, row)


def _add_operator(kind: Any, row: Operation) -> None:
    def method(self: Any, *other: Any) -> Any:
        return self.apply(row.name, self, *other)

    def reflected(self: Any, other: int) -> Any:
        return self.apply(row.name, other, self)

    setattr(kind, f"__{row.method}__", method)
    if row.operands == 2:
        setattr(kind, f"__r{row.method}__", method if row.commutes else reflected)


# Why words lack Python's other operators, and what to write in their place.
_WORDS = "words are not {}, which would be decided once for all boards: {}"
_COMPARED = _WORDS.format(
    "compared by <, >, max or min",
    "less(a, b) is the flag 1 where a < b, and b ^ ((a ^ b) & spread(less(a, b))) the smaller",
)
_EQUAL = _WORDS.format(
    "compared by == or !=",
    "nonzero(a ^ b) is the flag 1 where they differ, nonzero(a ^ b) ^ 1 where they do not",
)
_DIVIDED = _WORDS.format(
    "divided by //, / or %, or raised by **",
    "look results up in a Table, TABLE[a], or shift by a power of two",
)
_VALUE = _WORDS.format(
    "made ints or floats, or indices of lists", "use the word itself, and a Table for a list"
)
_EACH = _WORDS.format(
    "iterated", "loop over all squares, `for square in range(self.board.size)`, and use masks"
)
_REFUSED = {
    **dict.fromkeys(("lt", "le", "gt", "ge"), _COMPARED),
    **dict.fromkeys(("eq", "ne"), _EQUAL),
    **dict.fromkeys(("floordiv", "mod", "divmod", "truediv", "pow"), _DIVIDED),
    **dict.fromkeys(("rfloordiv", "rmod", "rdivmod", "rtruediv", "rpow"), _DIVIDED),
    **dict.fromkeys(("int", "float", "index"), _VALUE),
    **dict.fromkeys(("iter", "len", "contains"), _EACH),
    "bool": "a rule must not branch on data; use kernel.when or kernel.guard, and `&`, `|` and "
    "`^ 1` of flags for and, or and not",
}


def refuse_operators(kind: Any) -> None:
    """Let the operators that a kind of word cannot have say what to write in their place."""
    for name, message in _REFUSED.items():
        setattr(kind, f"__{name}__", _refusing(message))
    kind.__hash__ = None


def _refusing(message: str) -> Callable[..., Any]:
    def method(self: Any, *other: Any) -> Any:
        raise TypeError(message)

    return method
