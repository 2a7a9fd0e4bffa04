"""Words as LLVM has them: `SimdWord` write down what is done with a word, or with a vector of them.

What `numba_writer` writes of a rule is run on SimdWord while Numba compiles it. Each operator adds
LLVM's instruction, on the type i64 for one board or on <N x i64> for N boards at a time. So it does
not depend on what a compiler decides whether boards are computed side by side.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, TypeAlias

import numba
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils as _cgutils
from numba.extending import intrinsic

from boardenvs.kernel.flow import Table
from boardenvs.kernel.loops import GROUP
from boardenvs.kernel.operations import ALL, ROUNDS
from boardenvs.kernel.word_functions import OperatorWord

cgutils: Any = _cgutils
types: Any = numba.types

WORD = ir.IntType(64)

# Processors whose vectors of 512 bits are as fast as two of 256, and these (Ice Lake's and Zen 4's
# generation on; the ones before slow down for them); those with 256 bits. All others have 128.
_WIDTHS = (("+avx512vpopcntdq", 8), ("+avx2", 4))


def simd_width(features: str) -> int:
    """Return how many words a vector of the processor holds, by the features that LLVM sees."""
    return next((lanes for name, lanes in _WIDTHS if name in features.split(",")), 2)


# Where LLVM's instruction for an operation has another name.
_NAMES = {"and": "and_", "or": "or_", "not": "not_", "shr": "lshr"}


class SimdWord(OperatorWord):
    """One word, or a vector of words, at the point where `builder` stands."""

    __slots__ = ("builder", "value")

    def __init__(self, builder: Any, value: Any) -> None:
        self.builder = builder
        self.value = value

    def apply(self, name: str, *operands: Operand) -> SimdWord:
        """Return the instruction of an operation, written down."""
        builder, kind = self.builder, self.value.type
        values = [in_lanes(x, kind) for x in operands]
        match name:
            case "less":
                value = builder.zext(builder.icmp_unsigned("<", *values), kind)
            case "nonzero":
                value = builder.zext(builder.icmp_unsigned("!=", *values, splat(kind, 0)), kind)
            case "popcount":
                value = _call_llvm(builder, "ctpop", values[0], kind)
            case _:
                value = getattr(builder, _NAMES.get(name, name))(*values)
        return SimdWord(builder, value)

    def lookup(self, table: Table) -> SimdWord:
        """Return the element of a `Table` in each lane; the last one for an index beyond it."""
        builder, array = self.builder, _constant_array(self.builder.module, table)
        one_word = self.value.type == WORD
        last = splat(self.value.type, len(table.values) - 1)
        inside = builder.icmp_unsigned("<", self.value, last)
        place = builder.select(inside, self.value, last)
        elements = [
            builder.load(builder.gep(array, [WORD(0), index], inbounds=True))
            for index in ([place] if one_word else split(builder, place))
        ]
        return SimdWord(builder, elements[0] if one_word else join(builder, elements))


Operand: TypeAlias = SimdWord | int
Function: TypeAlias = Callable[..., Sequence[Operand]]


def when(condition: SimdWord, function: Function, *args: Operand) -> SimdWord:
    """Return the function's one result where the condition is not 0, else 0.

    Nothing is computed if the condition is 0 in all lanes.
    """
    builder, kind = condition.builder, condition.value.type
    nothing = splat(kind, 0)
    flags = builder.icmp_unsigned("!=", condition.value, nothing)

    def where_set(value: Any) -> Any:
        return value if kind == WORD else builder.select(flags, value, nothing)

    before = builder.block
    with builder.if_then(_in_some_lane(builder, flags)):
        # Operands of the other lanes, which are no positions, could make its loops long.
        operands = [where_set(x.value) if isinstance(x, SimdWord) else splat(kind, x) for x in args]
        (result,) = call(function, builder, operands, kind)
        value = where_set(result)
        inside = builder.block
    merged = builder.phi(kind)
    merged.add_incoming(nothing, before)
    merged.add_incoming(value, inside)
    return SimdWord(builder, merged)


def repeat(function: Function, words: Sequence[Operand], count: int) -> list[SimdWord]:
    """Replace the first `count` words by the function of all, until none changes in any lane.

    A lane that has ended no longer changes while others go on.
    """
    first = next(x for x in words if isinstance(x, SimdWord))
    builder, kind = first.builder, first.value.type
    values = [in_lanes(x, kind) for x in words]
    before = builder.block
    loop, end = builder.append_basic_block("repeat"), builder.append_basic_block("repeat.end")
    builder.branch(loop)
    builder.position_at_end(loop)
    rounds, current = builder.phi(WORD), [builder.phi(kind) for _ in range(count)]
    results = call(function, builder, [*current, *values[count:]], kind)
    changes = [builder.xor(new, old) for new, old in zip(results, current, strict=True)]
    flags = builder.icmp_unsigned("!=", reduce(builder.or_, changes), splat(kind, 0))
    changed = _in_some_lane(builder, flags)
    next_round = builder.add(rounds, WORD(1))
    changed = builder.and_(changed, builder.icmp_unsigned("<", next_round, WORD(ROUNDS)))
    rounds.add_incoming(WORD(0), before)
    rounds.add_incoming(next_round, builder.block)
    for phi, start, result in zip(current, values, results, strict=False):
        phi.add_incoming(start, before)
        phi.add_incoming(result, builder.block)
    builder.cbranch(changed, loop, end)
    builder.position_at_end(end)
    return [SimdWord(builder, result) for result in results]


def union(
    function: Function, columns: Sequence[Sequence[int]], words: Sequence[Operand]
) -> SimdWord:
    """Return the OR of the function on constants, a lane for each element of the columns, and one
    word.
    """
    first = next(x for x in words if isinstance(x, SimdWord))
    builder, kind = first.builder, vector(len(columns[0]))
    constants = [ir.Constant(kind, list(column)) for column in columns]
    operands = [join(builder, kind.count * [in_lanes(x, WORD)]) for x in words]
    (result,) = call(function, builder, [*constants, *operands], kind)
    return SimdWord(builder, _call_llvm(builder, "vector.reduce.or", result, WORD))


def _in_some_lane(builder: Any, flags: Any) -> Any:
    """Return whether a comparison of words holds in one of the lanes."""
    if not isinstance(flags.type, ir.VectorType):
        return flags
    mask = builder.bitcast(flags, ir.IntType(flags.type.count))
    return builder.icmp_unsigned("!=", mask, mask.type(0))


def call(function: Function, builder: Any, values: Sequence[Any], kind: Any) -> list[Any]:
    """Apply the function to values of LLVM of the type `kind`."""
    return [in_lanes(x, kind) for x in function(*(SimdWord(builder, value) for value in values))]


def in_lanes(operand: Operand, kind: Any) -> Any:
    """LLVM's value of an operand."""
    return operand.value if isinstance(operand, SimdWord) else splat(kind, operand)


def splat(kind: Any, number: int) -> Any:
    """Return the number, modulo 2**64, as a word or in every lane."""
    number &= ALL
    return ir.Constant(kind, number if kind == WORD else [number] * kind.count)


def vector(lanes: int) -> Any:
    """LLVM's type for `lanes` words."""
    return ir.VectorType(WORD, lanes)


def split(builder: Any, value: Any) -> list[Any]:
    """Return the words of a vector."""
    return [builder.extract_element(value, ir.IntType(32)(k)) for k in range(value.type.count)]


def join(builder: Any, words: Sequence[Any]) -> Any:
    """Return a vector of these words, or of numbers of another type."""
    value = ir.Constant(ir.VectorType(words[0].type, len(words)), ir.Undefined)
    for k, x in enumerate(words):
        value = builder.insert_element(value, x, ir.IntType(32)(k))
    return value


def _call_llvm(builder: Any, name: str, value: Any, result: Any) -> Any:
    """Call LLVM's function of this name for the value's type; it returns the type `result`."""
    kind = value.type
    name = f"llvm.{name}.{'i64' if kind == WORD else f'v{kind.count}i64'}"
    function = builder.module.declare_intrinsic(name, (), ir.FunctionType(result, [kind]))
    return builder.call(function, [value])


def _constant_array(module: Any, table: Table) -> Any:
    """Return the table as a constant of the module, once."""
    name = f"table_{hashlib.sha256(repr(table.values).encode()).hexdigest()[:16]}"
    kind = ir.ArrayType(WORD, len(table.values))
    values = ir.Constant(kind, list(table.values))
    return module.globals.get(name) or cgutils.global_constant(module, name, values)


# ---- words of four numbers of 16 bits ------------------------------------------------------------

_LANES = 4

# A vector is written down for each group of words, which every processor has in one or two parts:
# what a compiler makes of such a loop by itself is for arrays that are much longer. `loops` says
# the same in Python.


@intrinsic
def add_words(
    typing_context: Any, array: Any, target: Any, first: Any, second: Any, count: Any
) -> Any:
    """See `loops.add_words`."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = _data(context, builder, signature, args, 0)
        to, one, other = (builder.gep(data, [start]) for start in args[1:4])
        kind = vector(_LANES).as_pointer()
        with cgutils.for_range_slice(builder, WORD(0), args[4], WORD(GROUP)) as (k, _):
            for lane in range(0, GROUP, _LANES):
                place = builder.add(k, WORD(lane))
                at = [
                    builder.bitcast(builder.gep(start, [place]), kind) for start in (to, one, other)
                ]
                total = builder.add(builder.load(at[1], align=8), builder.load(at[2], align=8))
                builder.store(total, at[0], align=8)
        return context.get_dummy_value()

    word = types.uint64
    return types.void(array, word, word, word, word), generate


@intrinsic
def prefetch(typing_context: Any, array: Any, index: Any) -> Any:
    """See `loops.prefetch`."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = builder.gep(_data(context, builder, signature, args, 0), [args[1]])
        address, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [address, flag, flag, flag])
        fetch = builder.module.declare_intrinsic("llvm.prefetch.p0i8", (), kind)
        to_read, kept, of_data = flag(0), flag(3), flag(1)
        builder.call(fetch, [builder.bitcast(data, address), to_read, kept, of_data])
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


@intrinsic
def sum_weights(
    typing_context: Any,
    weights: Any,
    start: Any,
    array: Any,
    numbers: Any,
    offsets: Any,
    count: Any,
) -> Any:
    """See `loops.sum_weights`."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        row = builder.gep(_data(context, builder, signature, args, 0), [args[1]])
        words = _data(context, builder, signature, args, 2)
        packed, offset = builder.gep(words, [args[3]]), builder.gep(words, [args[4]])
        total = cgutils.alloca_once_value(builder, WORD(0))
        # So many at once that no compiler makes a vector of them, which would take longer.
        with cgutils.for_range_slice(builder, WORD(0), args[5], WORD(GROUP)) as (k, _):
            sum_ = builder.load(total)
            for place in range(GROUP):
                word = builder.add(k, WORD(place))
                four = builder.load(builder.gep(packed, [word]))
                table = builder.gep(offset, [builder.mul(word, WORD(4))])
                for number in range(4):
                    index = builder.and_(builder.lshr(four, WORD(16 * number)), WORD(0xFFFF))
                    start = builder.load(builder.gep(table, [WORD(number)]))
                    weight = builder.load(builder.gep(row, [builder.add(start, index)]))
                    sum_ = builder.add(sum_, builder.sext(weight, WORD))
            builder.store(sum_, total)
        return builder.load(total)

    word = types.uint64
    return types.int64(weights, word, array, word, word, word), generate


def _data(context: Any, builder: Any, signature: Any, args: Any, place: int) -> Any:
    """Return the address of an array's first element."""
    return context.make_array(signature.args[place])(context, builder, args[place]).data
