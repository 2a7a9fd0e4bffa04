"""Rules on arrays as machine code: a loop over rows, some of them at a time as one vector.

Each group of rows is loaded as a whole, computed and stored as a whole: however arrays lie in
memory, the machine code is the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

from numba.extending import intrinsic

from boardenvs.kernel.columns import Column, Group, store_bytes
from boardenvs.kernel.simd import WORD, Function, call, cgutils, simd_width, types


def each_row(function: Function, inputs: Sequence[int], outputs: Sequence[int]) -> Any:
    """Return an intrinsic of Numba that takes a tuple of arrays, inputs first, and writes the
    outputs.

    The numbers say how many words of the function an array holds: 1 of an array (B,), n of an array
    (B, n). An output of -n is an array of bytes (B, n): the lowest n bits of its words, as 0 and 1.
    Nothing checks whether the arrays fit: see `Kernel.batch`.
    """
    widths = (*inputs, *outputs)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        columns = [
            Column(context, builder, kind, value, width)
            for kind, value, width in zip(
                signature.args[0],
                cgutils.unpack_tuple(builder, args[0]),
                widths,
                strict=True,
            )
        ]
        sources, targets = columns[: len(inputs)], columns[len(inputs) :]
        lanes = simd_width(context.codegen().magic_tuple()[2])
        rows = builder.extract_value(targets[0].shape, 0)
        with cgutils.for_range_slice(builder, WORD(0), rows, WORD(lanes)) as (start, _):
            group = Group(builder, lanes, start, rows)
            words = [word for column in sources for word in column.load(group)]
            results = iter(function(*words))
            for column in targets:
                column.store(group, list(islice(results, column.words)))
        return context.get_dummy_value()

    @intrinsic
    def run(typing_context: Any, arrays: Any) -> Any:
        return types.none(arrays), generate

    return run


def one_row(function: Function, outputs: int) -> Any:
    """Return an intrinsic of Numba that takes a tuple of words and returns the results as one.

    Where there are more results than `outputs`, an array of bytes ends the tuple that is given: it
    gets the bits of the later ones.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        last = signature.args[0][-1]
        values = cgutils.unpack_tuple(builder, args[0])
        array = values.pop() if isinstance(last, types.Array) else None
        results = call(function, builder, values, WORD)
        for k, word in enumerate(results[outputs:]):
            column = Column(context, builder, last, array)
            store_bytes(builder, word, column.at(WORD(0), 64 * k))
        return context.make_tuple(builder, signature.return_type, results[:outputs])

    @intrinsic
    def run(typing_context: Any, values: Any) -> Any:
        return types.UniTuple(types.uint64, outputs)(values), generate

    return run


@intrinsic
def popcount(typing_context: Any, word: Any) -> Any:
    """Return the number of set bits."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), generate


@intrinsic
def trailing_zeros(typing_context: Any, word: Any) -> Any:
    """Return the index of the lowest set bit; the word must not be 0."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], context.get_constant(types.boolean, 0))

    return types.uint64(types.uint64), generate
