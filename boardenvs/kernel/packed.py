"""Words of four numbers of 16 bits, as machine code: what `loops` says of them in Python.

A vector is written down for each group of words, which every processor has in one or two parts:
what a compiler makes of such a loop by itself is for arrays that are much longer.
"""

from __future__ import annotations

from typing import Any

import numba
from numba.core import cgutils as _cgutils
from numba.extending import intrinsic

from boardenvs.kernel.loops import GROUP
from boardenvs.kernel.simd import WORD, vector

cgutils: Any = _cgutils
types: Any = numba.types


@intrinsic
def add_words(
    typing_context: Any, array: Any, target: Any, first: Any, second: Any, count: Any
) -> Any:
    """See `loops.add_words`."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = _data(context, builder, signature, args, 0)
        to, one, other = (builder.gep(data, [start]) for start in args[1:4])
        kind = vector(GROUP).as_pointer()
        with cgutils.for_range_slice(builder, WORD(0), args[4], WORD(GROUP)) as (k, _):
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
    """The address of an array's first element."""
    return context.make_array(signature.args[place])(context, builder, args[place]).data
