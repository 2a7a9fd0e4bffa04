"""Words as LLVM has them: `SimdWord` write down what is done with a word, or with a vector of them.

What `numba_writer` writes of a rule is run on SimdWord while Numba compiles it. Each operator adds
LLVM's instruction, on the type i64 for one board or on <N x i64> for N boards at a time. So it does
not depend on a compiler's judgement whether boards are computed side by side.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from llvmlite import ir  # type: ignore[import-untyped]

from boardenvs.kernel.words import ALL, Table

WORD = ir.IntType(64)

# Processors whose vectors of 512 bits are as fast as two of 256, and these (Ice Lake's and Zen 4's
# generation on; the ones before slow down for them); those with 256 bits. All others have 128.
_WIDTHS = (("+avx512vpopcntdq", 8), ("+avx2", 4))


def simd_width(features: str) -> int:
    """How many words a vector of the processor holds, by the features that LLVM sees."""
    return next((lanes for name, lanes in _WIDTHS if name in features.split(",")), 2)


class SimdWord:
    """One word, or a vector of words, at the point where `builder` stands."""

    __slots__ = ("builder", "value")

    def __init__(self, builder: Any, value: Any) -> None:
        self.builder = builder
        self.value = value

    def _with(self, value: Any) -> SimdWord:
        return SimdWord(self.builder, value)

    def constant(self, number: int) -> Any:
        """The number in every lane, as LLVM's value."""
        return splat(self.value.type, number)

    def _value(self, other: SimdWord | int) -> Any:
        return other.value if isinstance(other, SimdWord) else self.constant(other)

    def __and__(self, other: Operand) -> SimdWord:
        return self._with(self.builder.and_(self.value, self._value(other)))

    def __or__(self, other: Operand) -> SimdWord:
        return self._with(self.builder.or_(self.value, self._value(other)))

    def __xor__(self, other: Operand) -> SimdWord:
        return self._with(self.builder.xor(self.value, self._value(other)))

    def __add__(self, other: Operand) -> SimdWord:
        return self._with(self.builder.add(self.value, self._value(other)))

    def __mul__(self, other: Operand) -> SimdWord:
        return self._with(self.builder.mul(self.value, self._value(other)))

    __rand__, __ror__, __rxor__, __radd__, __rmul__ = __and__, __or__, __xor__, __add__, __mul__

    def __sub__(self, other: Operand) -> SimdWord:
        return self._with(self.builder.sub(self.value, self._value(other)))

    def __rsub__(self, other: int) -> SimdWord:
        return self._with(self.builder.sub(self.constant(other), self.value))

    def __lshift__(self, other: Operand) -> SimdWord:
        return self._with(self.builder.shl(self.value, self._value(other)))

    def __rlshift__(self, other: int) -> SimdWord:
        return self._with(self.builder.shl(self.constant(other), self.value))

    def __rshift__(self, other: Operand) -> SimdWord:
        return self._with(self.builder.lshr(self.value, self._value(other)))

    def __rrshift__(self, other: int) -> SimdWord:
        return self._with(self.builder.lshr(self.constant(other), self.value))

    def __invert__(self) -> SimdWord:
        return self._with(self.builder.not_(self.value))

    def _flag(self, comparison: str, other: Operand) -> SimdWord:
        bits = self.builder.icmp_unsigned(comparison, self.value, self._value(other))
        return self._with(self.builder.zext(bits, self.value.type))

    def __lt__(self, other: Operand) -> SimdWord:
        return self._flag("<", other)

    def __gt__(self, other: Operand) -> SimdWord:
        return self._flag(">", other)

    def __ne__(self, other: object) -> SimdWord:  # type: ignore[override]
        assert isinstance(other, (SimdWord, int))
        return self._flag("!=", other)

    __hash__ = None  # type: ignore[assignment]

    def bit_count(self) -> SimdWord:
        """The number of set bits."""
        kind = self.value.type
        name = "llvm.ctpop.i64" if kind == WORD else f"llvm.ctpop.v{kind.count}i64"
        function = self.builder.module.globals.get(name)
        if function is None:
            function = ir.Function(self.builder.module, ir.FunctionType(kind, [kind]), name)
        return self._with(self.builder.call(function, [self.value]))

    def lookup(self, table: Table) -> SimdWord:
        """The element of a `Table` in each lane."""
        builder, array = self.builder, _constant_array(self.builder.module, table)
        if self.value.type == WORD:
            return self._with(builder.load(_element(builder, array, self.value)))
        return self._with(
            join(
                builder,
                [builder.load(_element(builder, array, x)) for x in split(builder, self.value)],
            )
        )


Operand: TypeAlias = SimdWord | int
Function: TypeAlias = Callable[..., Sequence[Operand]]


def when(condition: SimdWord, function: Function, *args: Operand) -> SimdWord:
    """The function's one result where the condition is not 0, else 0. Nothing is computed where it
    is 0 in all lanes.
    """
    builder, kind = condition.builder, condition.value.type
    flags = builder.icmp_unsigned("!=", condition.value, condition.constant(0))
    some = flags
    if kind != WORD:
        mask = builder.bitcast(flags, ir.IntType(kind.count))
        some = builder.icmp_unsigned("!=", mask, mask.type(0))
    before = builder.block
    with builder.if_then(some):
        (result,) = call(function, builder, [_in_lanes(condition, x, flags) for x in args], kind)
        value = result
        if kind != WORD:
            value = builder.select(flags, result, splat(kind, 0))
        inside = builder.block
    found = builder.phi(kind)
    found.add_incoming(splat(kind, 0), before)
    found.add_incoming(value, inside)
    return SimdWord(builder, found)


def _in_lanes(like: SimdWord, x: Operand, flags: Any) -> Any:
    """The operand where the flags are set, else 0: what is no position could lie outside of the
    function's tables.
    """
    if not isinstance(x, SimdWord):
        return like.constant(x)
    if x.value.type == WORD:
        return x.value
    return x.builder.select(flags, x.value, x.constant(0))


def call(function: Function, builder: Any, values: Sequence[Any], kind: Any) -> list[Any]:
    """What the function makes of LLVM's values, which have the type `kind`."""
    results = function(*(SimdWord(builder, value) for value in values))
    return [x.value if isinstance(x, SimdWord) else splat(kind, x) for x in results]


def splat(kind: Any, number: int) -> Any:
    """The number, modulo 2**64, as a word or in every lane."""
    number &= ALL
    return ir.Constant(kind, number if kind == WORD else [number] * kind.count)


def vector(lanes: int) -> Any:
    """LLVM's type of so many words."""
    return ir.VectorType(WORD, lanes)


def split(builder: Any, value: Any) -> list[Any]:
    """The words of a vector."""
    return [builder.extract_element(value, ir.IntType(32)(k)) for k in range(value.type.count)]


def join(builder: Any, words: Sequence[Any]) -> Any:
    """A vector of these words."""
    value = ir.Constant(vector(len(words)), ir.Undefined)
    for k, x in enumerate(words):
        value = builder.insert_element(value, x, ir.IntType(32)(k))
    return value


def _constant_array(module: Any, table: Table) -> Any:
    """The table as a constant of the module, once."""
    name = f"table_{hashlib.sha256(repr(table.values).encode()).hexdigest()[:16]}"
    array = module.globals.get(name)
    if array is None:
        kind = ir.ArrayType(WORD, len(table.values))
        array = ir.GlobalVariable(module, kind, name)
        array.linkage, array.global_constant = "internal", True
        array.initializer = ir.Constant(kind, list(table.values))
    return array


def _element(builder: Any, array: Any, index: Any) -> Any:
    return builder.gep(array, [ir.IntType(64)(0), index], inbounds=True)
