"""Products of matrices of float32 in machine code, whose sums stay in the processor's registers."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba.extending import intrinsic

from boardenvs.kernel.columns import load, store
from boardenvs.kernel.simd import WORD, cgutils, join, types

LANES = 16  # floats of a vector of 512 bits; LLVM splits it where the processor's are shorter

_VECTOR = ir.VectorType(ir.FloatType(), LANES)
_FUSED = ("contract",)  # a product and its sum are one instruction where the processor has it


def add_product(rows: int, columns: int) -> Any:
    """Return an intrinsic of Numba that adds a product of matrices to `sums`, (rows, columns).

    Its arguments are C-contiguous arrays of float32: `left` (at least `rows`, stride), `right`
    (depth, columns) and `sums`. Row i of the left matrix is the `depth` numbers from left[i, 0] on,
    which may run on into the next rows. `columns` is a multiple of `LANES`. Nothing checks shapes.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        left, right, sums = (
            context.make_array(kind)(context, builder, value)
            for kind, value in zip(signature.args, args, strict=True)
        )
        stride, depth = builder.extract_value(left.shape, 1), builder.extract_value(right.shape, 0)

        def at(data: Any, row: Any, width: Any, column: Any) -> Any:
            return builder.gep(data, [builder.add(builder.mul(row, width), column)])

        # Enough sums at once that none waits for the one before. Each takes one of 32 registers,
        # or two of 16.
        most = 12 if "+avx512f" in context.codegen().magic_tuple()[2].split(",") else 6
        for first in map(WORD, range(0, columns, LANES)):
            for part in np.array_split([*map(WORD, range(rows))], -(-rows // most)):
                places = [at(sums.data, row, WORD(columns), first) for row in part]
                totals = [
                    cgutils.alloca_once_value(builder, load(builder, place, _VECTOR))
                    for place in places
                ]
                with cgutils.for_range(builder, depth) as loop:
                    address = at(right.data, loop.index, WORD(columns), first)
                    factors = load(builder, address, _VECTOR)
                    for row, total in zip(part, totals, strict=True):
                        number = builder.load(at(left.data, row, stride, loop.index))
                        product = builder.fmul(
                            join(builder, LANES * [number]), factors, flags=_FUSED
                        )
                        sum_ = builder.fadd(builder.load(total), product, flags=_FUSED)
                        builder.store(sum_, total)
                for place, total in zip(places, totals, strict=True):
                    store(builder, builder.load(total), place)
        return context.get_dummy_value()

    @intrinsic
    def add(typing_context: Any, left: Any, right: Any, sums: Any) -> Any:
        return types.void(left, right, sums), generate

    return add
