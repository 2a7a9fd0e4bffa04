"""Words of four numbers of 16 bits, as machine code: what `loops` says of them in Python.

A vector is written down for four words, which processors of all kinds have in one or two parts:
what a compiler makes of such a loop by itself is for arrays that are much longer.
"""

from __future__ import annotations

from typing import Any

import numba
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils as _cgutils
from numba.extending import intrinsic

from boardenvs.kernel.lanes import WORD, vector

cgutils: Any = _cgutils
types: Any = numba.types

NUMBER = ir.IntType(16)
TOGETHER = 4  # words


@intrinsic
def add_words(
    typing_context: Any, array: Any, target: Any, first: Any, second: Any, count: Any
) -> Any:
    """See `loops.add_words`."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = _data(context, builder, signature, args, 0)
        to, one, other = (builder.gep(data, [start]) for start in args[1:4])
        kind = vector(TOGETHER).as_pointer()
        with cgutils.for_range_slice(builder, WORD(0), args[4], WORD(TOGETHER)) as (k, _):
            at = [builder.bitcast(builder.gep(start, [k]), kind) for start in (to, one, other)]
            total = builder.add(builder.load(at[1], align=8), builder.load(at[2], align=8))
            builder.store(total, at[0], align=8)
        return context.get_dummy_value()

    word = types.uint64
    return types.void(array, word, word, word, word), generate


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
        # So many at once that no compiler makes a vector of them, which takes longer.
        with cgutils.for_range_slice(builder, WORD(0), args[5], WORD(TOGETHER)) as (k, _):
            indices = builder.bitcast(builder.gep(packed, [k]), NUMBER.as_pointer())
            table = builder.gep(offset, [builder.mul(k, WORD(4))])
            sum_ = builder.load(total)
            for place in range(4 * TOGETHER):
                index = builder.zext(builder.load(builder.gep(indices, [WORD(place)])), WORD)
                at = builder.load(builder.gep(table, [WORD(place)]))
                weight = builder.load(builder.gep(row, [builder.add(at, index)]))
                sum_ = builder.add(sum_, builder.sext(weight, WORD))
            builder.store(sum_, total)
        return builder.load(total)

    word = types.uint64
    return types.int64(weights, word, array, word, word, word), generate


def _data(context: Any, builder: Any, signature: Any, args: Any, place: int) -> Any:
    """The address of an array's first element."""
    return context.make_array(signature.args[place])(context, builder, args[place]).data
