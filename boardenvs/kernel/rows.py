"""Rules on arrays as machine code: a loop over rows, some of them at a time as one vector.

Each group of rows is loaded as a whole, computed and stored as a whole: however arrays lie in
memory, the machine code is the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numba
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils as _cgutils
from numba.extending import intrinsic

from boardenvs.kernel.simd import WORD, Function, call, join, simd_width, vector

cgutils: Any = _cgutils
types: Any = numba.types

_BYTE = ir.IntType(8)


def each_row(function: Function, inputs: Sequence[int], outputs: Sequence[int]) -> Any:
    """An intrinsic of Numba that takes a tuple of arrays, inputs first, and writes the outputs.

    The numbers say how many words of the function an array holds: 1 of an array (B,), n of an array
    (B, n). An output of -n is an array of bytes (B, m): the lowest m bits of n words, as 0 and 1.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        (kind,) = signature.args
        values = cgutils.unpack_tuple(builder, args[0])
        columns = [
            _Column(context, builder, each, value)
            for each, value in zip(kind.types, values, strict=True)
        ]
        sources, targets = columns[: len(inputs)], columns[len(inputs) :]
        lanes = simd_width(context.codegen().magic_tuple()[2])
        loop = _Loop(builder, lanes, sum(inputs), sum(map(abs, outputs)))
        rows = builder.extract_value(targets[0].shape, 0)
        with loop.groups(rows) as group:
            words = loop.load(group, sources, inputs)
            results = call(function, builder, words, vector(lanes))
            loop.store(group, targets, outputs, results)
        return context.get_dummy_value()

    @intrinsic
    def run(typing_context: Any, arrays: Any) -> Any:
        return types.void(arrays), generate

    return run


def one_row(function: Function, outputs: int) -> Any:
    """An intrinsic of Numba that takes a tuple of words and returns the results as one."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        words = cgutils.unpack_tuple(builder, args[0])
        results = call(function, builder, words, WORD)
        return context.make_tuple(builder, signature.return_type, results)

    @intrinsic
    def run(typing_context: Any, words: Any) -> Any:
        return types.UniTuple(types.uint64, outputs)(words), generate

    return run


def one_row_and_bytes(function: Function, outputs: int) -> Any:
    """An intrinsic of Numba that takes a tuple of words and an array of bytes. It returns so many
    of the results as a tuple; the bits of the others it writes to the array.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        words = cgutils.unpack_tuple(builder, args[0])
        array = _Column(context, builder, signature.args[1], args[1])
        results = call(function, builder, words, WORD)
        for k, word in enumerate(results[outputs:]):
            store_bytes(builder, word, array.at(builder, WORD(0), 64 * k))
        return context.make_tuple(builder, signature.return_type, results[:outputs])

    @intrinsic
    def run(typing_context: Any, words: Any, seen: Any) -> Any:
        return types.UniTuple(types.uint64, outputs)(words, seen), generate

    return run


@intrinsic
def popcount(typing_context: Any, word: Any) -> Any:
    """The number of set bits."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), generate


@intrinsic
def trailing_zeros(typing_context: Any, word: Any) -> Any:
    """The index of the lowest set bit; the word must not be 0."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], context.get_constant(types.boolean, 0))

    return types.uint64(types.uint64), generate


class _Column:
    """An array of Numba's: where its elements lie and how they are to be read."""

    def __init__(self, context: Any, builder: Any, kind: Any, value: Any) -> None:
        array = context.make_array(kind)(context, builder, value)
        self.data, self.shape, self.strides = array.data, array.shape, array.strides
        self.dtype = kind.dtype
        self.element = context.get_data_type(kind.dtype)
        self.size = context.get_abi_sizeof(self.element)
        self.together = kind.layout == "C" and kind.ndim == 1

    def at(self, builder: Any, row: Any, offset: int = 0) -> Any:
        """The address of an element, `offset` elements after the row's first."""
        base = builder.bitcast(self.data, _BYTE.as_pointer())
        distance = builder.mul(row, builder.extract_value(self.strides, 0))
        place = builder.add(distance, WORD(offset * self.size))
        return builder.gep(base, [place])

    def read(self, builder: Any, row: Any, offset: int) -> Any:
        """An element as a word."""
        return self.widened(builder, _load(builder, self.at(builder, row, offset), self.element))

    def widened(self, builder: Any, value: Any) -> Any:
        """An element, or a vector of them, as words."""
        kind = WORD if value.type == self.element else vector(value.type.count)
        if value.type == kind:
            return value
        signed = getattr(self.dtype, "signed", False)
        return (builder.sext if signed else builder.zext)(value, kind)

    def narrowed(self, builder: Any, value: Any) -> Any:
        """A word, or a vector of them, as elements; floats take it as a signed number."""
        kind = self.element
        if value.type != WORD:
            kind = ir.VectorType(kind, value.type.count)
        if value.type == kind:
            return value
        floats = isinstance(self.element, (ir.FloatType, ir.DoubleType))
        return (builder.sitofp if floats else builder.trunc)(value, kind)


class _Group(NamedTuple):
    """Rows that are computed at once."""

    start: Any
    count: Any
    whole: Any  # whether there are as many as lanes


class _Loop:
    """A loop over groups of rows."""

    def __init__(self, builder: Any, lanes: int, loaded: int, stored: int) -> None:
        self.builder = builder
        self.lanes = lanes
        self._kind = vector(lanes)
        # Words on their way between vectors and what does not lie side by side.
        self._loaded = self._scratch(loaded)
        self._stored = self._scratch(stored)

    def _scratch(self, words: int) -> Any:
        return cgutils.alloca_once(self.builder, WORD, size=WORD(max(words, 1) * self.lanes))

    def _scratch_at(self, scratch: Any, word: int, lane: Any) -> Any:
        place = self.builder.add(WORD(word * self.lanes), lane)
        return self.builder.gep(scratch, [place], inbounds=True)

    @contextmanager
    def groups(self, rows: Any) -> Iterator[_Group]:
        builder = self.builder
        step = WORD(self.lanes)
        with cgutils.for_range_slice(builder, WORD(0), rows, step) as (start, _):
            left = builder.sub(rows, start)
            whole = builder.icmp_signed(">=", left, step)
            yield _Group(start, builder.select(whole, step, left), whole)

    def load(self, group: _Group, columns: Sequence[_Column], widths: Sequence[int]) -> list[Any]:
        """The words of all columns, as vectors; lanes beyond the last row repeat it."""
        builder = self.builder
        with builder.if_else(group.whole, likely=True) as (then, otherwise):
            with then:
                whole = [
                    x
                    for column, width in zip(columns, widths, strict=True)
                    for x in self._load_whole(group, column, width)
                ]
                after_whole = builder.block
            with otherwise:
                part = self._load_part(group, columns, widths)
                after_part = builder.block
        words = []
        for one, other in zip(whole, part, strict=True):
            word = builder.phi(self._kind)
            word.add_incoming(one, after_whole)
            word.add_incoming(other, after_part)
            words.append(word)
        return words

    def _load_whole(self, group: _Group, column: _Column, width: int) -> list[Any]:
        builder = self.builder
        if column.together:
            kind = ir.VectorType(column.element, self.lanes)
            return [column.widened(builder, _load(builder, column.at(builder, group.start), kind))]
        rows = [builder.add(group.start, WORD(lane)) for lane in range(self.lanes)]
        return [
            join(builder, [column.read(builder, row, word) for row in rows])
            for word in range(width)
        ]

    def _load_part(
        self, group: _Group, columns: Sequence[_Column], widths: Sequence[int]
    ) -> list[Any]:
        builder = self.builder
        last = builder.sub(group.count, WORD(1))
        with cgutils.for_range(builder, WORD(self.lanes)) as lane:
            inside = builder.icmp_signed("<", lane.index, last)
            row = builder.add(group.start, builder.select(inside, lane.index, last))
            number = 0
            for column, width in zip(columns, widths, strict=True):
                for word in range(width):
                    value = column.read(builder, row, word)
                    builder.store(value, self._scratch_at(self._loaded, number, lane.index))
                    number += 1
        return [
            _load(builder, self._scratch_at(self._loaded, number, WORD(0)), self._kind)
            for number in range(sum(widths))
        ]

    def store(
        self,
        group: _Group,
        columns: Sequence[_Column],
        widths: Sequence[int],
        results: Sequence[Any],
    ) -> None:
        """Write the results, and of them only the rows that there are."""
        builder = self.builder
        parts, number = [], 0
        for column, width in zip(columns, widths, strict=True):
            parts.append((column, width, number))
            number += abs(width)
        scattered = [part for part in parts if not part[0].together]
        self._spill(results, scattered)
        with builder.if_else(group.whole, likely=True) as (then, otherwise):
            with then:
                for column, _, number in parts:
                    if column.together:
                        value = column.narrowed(builder, results[number])
                        _store(builder, value, column.at(builder, group.start))
                self._store_lanes(group, scattered, WORD(self.lanes))
            with otherwise:
                self._spill(results, [part for part in parts if part[0].together])
                self._store_lanes(group, parts, group.count)

    def _spill(self, results: Sequence[Any], parts: Sequence[tuple[_Column, int, int]]) -> None:
        for _, width, first in parts:
            for number in range(first, first + abs(width)):
                _store(
                    self.builder,
                    results[number],
                    self._scratch_at(self._stored, number, WORD(0)),
                )

    def _store_lanes(
        self, group: _Group, parts: Sequence[tuple[_Column, int, int]], count: Any
    ) -> None:
        builder = self.builder
        if not parts:
            return
        with cgutils.for_range(builder, count) as lane:
            row = builder.add(group.start, lane.index)
            for column, width, first in parts:
                words = [
                    builder.load(self._scratch_at(self._stored, first + k, lane.index))
                    for k in range(abs(width))
                ]
                if width < 0:
                    self._store_bytes(column, row, words)
                    continue
                for k, word in enumerate(words):
                    value = column.narrowed(builder, word)
                    _store(builder, value, column.at(builder, row, k))

    def _store_bytes(self, column: _Column, row: Any, words: Sequence[Any]) -> None:
        """The bits of the words as 0 and 1, as many as the row has elements."""
        builder = self.builder
        for k, word in enumerate(words[:-1]):
            store_bytes(builder, word, column.at(builder, row, 64 * k))
        # The last word may have less than 64 bits to give: nothing is written beyond the row.
        start = 64 * (len(words) - 1)
        left = builder.sub(builder.extract_value(column.shape, 1), WORD(start))
        full = builder.icmp_signed(">=", left, WORD(64))
        with builder.if_else(full) as (then, otherwise):
            with then:
                store_bytes(builder, words[-1], column.at(builder, row, start))
            with otherwise, cgutils.for_range(builder, left) as bit:
                value = builder.and_(builder.lshr(words[-1], bit.index), WORD(1))
                address = builder.gep(column.at(builder, row, start), [bit.index])
                _store(builder, builder.trunc(value, _BYTE), address)


def store_bytes(builder: Any, word: Any, address: Any) -> None:
    """The 64 bits of a word as 64 bytes of 0 and 1, lowest first.

    Each byte of the word is repeated eight times, and each copy is asked for one bit. To convert
    64 bits to 64 bytes is as fast where vectors have 512 bits, and twenty times slower elsewhere.
    """
    whole = ir.VectorType(_BYTE, 64)
    parts = builder.bitcast(word, ir.VectorType(_BYTE, 8))
    chosen = ir.Constant(ir.VectorType(ir.IntType(32), 64), [k // 8 for k in range(64)])
    copies = builder.shuffle_vector(parts, ir.Constant(parts.type, ir.Undefined), chosen)
    bits = ir.Constant(whole, [1 << k % 8 for k in range(64)])
    flags = builder.icmp_unsigned("==", builder.and_(copies, bits), bits)
    _store(builder, builder.zext(flags, whole), address)


def _load(builder: Any, address: Any, kind: Any) -> Any:
    return builder.load(builder.bitcast(address, kind.as_pointer()), align=1)


def _store(builder: Any, value: Any, address: Any) -> None:
    builder.store(value, builder.bitcast(address, value.type.as_pointer()), align=1)
