"""Rules on arrays as machine code: a loop over rows, some of them at a time as one vector.

Each group of rows is loaded as a whole, computed and stored as a whole: however arrays lie in
memory, the machine code is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from itertools import islice
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.extending import intrinsic

from boardenvs.kernel.layout import words_of
from boardenvs.kernel.simd import (
    WORD,
    Function,
    call,
    cgutils,
    join,
    simd_width,
    types,
    vector,
)

_BYTE = ir.IntType(8)


def each_row(function: Function, inputs: Sequence[int], outputs: Sequence[int]) -> Any:
    """An intrinsic of Numba that takes a tuple of arrays, inputs first, and writes the outputs.

    The numbers say how many words of the function an array holds: 1 of an array (B,), n of an array
    (B, n). An output of -n is an array of bytes (B, n): the lowest n bits of its words, as 0 and 1.
    It returns whether the arrays fit (see `Layout.check`); if not, nothing is read or written.
    """
    widths = (*inputs, *outputs)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        columns = [
            _Column(context, builder, kind, value, width)
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
        fit = reduce(builder.and_, [column.fits(rows) for column in columns])
        some = builder.select(fit, rows, WORD(0))
        with cgutils.for_range_slice(builder, WORD(0), some, WORD(lanes)) as (start, _):
            group = _Group(builder, lanes, start, builder.sub(rows, start))
            words = [word for column in sources for word in column.load(group)]
            results = iter(call(function, builder, words, vector(lanes)))
            _store_group(
                group, [(column, list(islice(results, column.words))) for column in targets]
            )
        return fit

    @intrinsic
    def run(typing_context: Any, arrays: Any) -> Any:
        for place, (kind, width) in enumerate(zip(arrays, widths, strict=True)):
            if not _is_fit(kind, width, written=place >= len(inputs)):
                raise TypeError(f"array {place} is a {kind}")
        return types.boolean(arrays), generate

    return run


def _is_fit(kind: Any, width: int, *, written: bool) -> bool:
    """Whether arrays of this type can be read or written; their sizes are checked in each call."""
    if not isinstance(kind, types.Array) or kind.ndim not in ((1, 2) if width == 1 else (2,)):
        return False
    if not isinstance(kind.dtype, types.Integer | types.Boolean) or (written and not kind.mutable):
        return False
    return width > 0 or getattr(kind.dtype, "bitwidth", 8) == 8


def one_row(function: Function, outputs: int) -> Any:
    """An intrinsic of Numba that takes a tuple of words and returns the results as one.

    Where there are more results than `outputs`, an array of bytes ends the tuple that is given: it
    gets the bits of the later ones.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        last = signature.args[0][-1]
        given = cgutils.unpack_tuple(builder, args[0])
        array = given.pop() if isinstance(last, types.Array) else None
        results = call(function, builder, given, WORD)
        for k, word in enumerate(results[outputs:]):
            column = _Column(context, builder, last, array)
            store_bytes(builder, word, column.at(WORD(0), 64 * k))
        return context.make_tuple(builder, signature.return_type, results[:outputs])

    @intrinsic
    def run(typing_context: Any, given: Any) -> Any:
        return types.UniTuple(types.uint64, outputs)(given), generate

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


class _Group:
    """Rows that are computed at once, as many as there are lanes but at the end of the arrays."""

    def __init__(self, builder: Any, lanes: int, start: Any, left: Any) -> None:
        self.builder, self.lanes, self.start = builder, lanes, start
        self.whole = builder.icmp_signed(">=", left, WORD(lanes))
        self.count = builder.select(self.whole, WORD(lanes), left)

    def lane_by_lane(self, read: Callable[[Any], Any]) -> Any:
        """A vector of what is read of each row; lanes beyond the last row repeat it."""
        last = self.builder.sub(self.count, WORD(1))
        words = []
        for lane in range(self.lanes):
            inside = self.builder.icmp_signed("<", WORD(lane), last)
            row = self.builder.select(inside, WORD(lane), last)
            words.append(read(self.builder.add(self.start, row)))
        return join(self.builder, words)


class _Column:
    """One of Numba's arrays: where its elements lie and how they are read. See `each_row` for
    `width`.
    """

    def __init__(self, context: Any, builder: Any, kind: Any, value: Any, width: int = 1) -> None:
        array = context.make_array(kind)(context, builder, value)
        self.builder, self.width, self.words = builder, width, words_of(width)
        self.data, self.shape, self.strides = array.data, array.shape, array.strides
        self.element = context.get_data_type(kind.dtype)
        self._size = context.get_abi_sizeof(self.element)
        self._signed = getattr(kind.dtype, "signed", False)
        self.ndim = kind.ndim
        self.together = kind.layout == "C" and kind.ndim == 1

    def fits(self, rows: Any) -> Any:
        """The flag 1 if this array has these rows, each of the right width and contiguous."""
        builder = self.builder
        equal = partial(builder.icmp_signed, "==")
        fit = equal(builder.extract_value(self.shape, 0), rows)
        if self.ndim == 2:
            width = builder.extract_value(self.shape, 1)
            fit = builder.and_(fit, equal(width, WORD(abs(self.width))))
        if abs(self.width) > 1:
            close = equal(builder.extract_value(self.strides, 1), WORD(self._size))
            fit = builder.and_(fit, builder.or_(close, equal(rows, WORD(0))))
        return fit

    def at(self, row: Any, offset: int = 0) -> Any:
        """The address of an element, `offset` elements after the row's first."""
        builder = self.builder
        base = builder.bitcast(self.data, _BYTE.as_pointer())
        distance = builder.mul(row, builder.extract_value(self.strides, 0))
        return builder.gep(base, [builder.add(distance, WORD(offset * self._size))])

    def load(self, group: _Group) -> list[Any]:
        """Its words of a group of rows, as vectors."""
        builder = self.builder
        if not self.together:
            return [group.lane_by_lane(partial(self._read, offset=k)) for k in range(self.width)]
        with builder.if_else(group.whole, likely=True) as (then, otherwise):
            with then:
                kind = ir.VectorType(self.element, group.lanes)
                whole = self._widened(_load(builder, self.at(group.start), kind))
                after_whole = builder.block
            with otherwise:
                part = group.lane_by_lane(self._read)
                after_part = builder.block
        words = builder.phi(whole.type)
        words.add_incoming(whole, after_whole)
        words.add_incoming(part, after_part)
        return [words]

    def _read(self, row: Any, offset: int = 0) -> Any:
        """An element as a word."""
        return self._widened(_load(self.builder, self.at(row, offset), self.element))

    def _widened(self, value: Any) -> Any:
        """An element, or a vector of them, as words."""
        kind = WORD if value.type == self.element else vector(value.type.count)
        if value.type == kind:
            return value
        return (self.builder.sext if self._signed else self.builder.zext)(value, kind)

    def write_row(self, row: Any, words: Sequence[Any]) -> None:
        """Write the words of a row."""
        if self.width < 0:
            self._write_bits(row, words)
        else:
            for k, word in enumerate(words):
                self.write(word, self.at(row, k))

    def write(self, value: Any, address: Any) -> None:
        """A word, or a vector of them, as elements."""
        kind = self.element
        if value.type != WORD:
            kind = ir.VectorType(kind, value.type.count)
        if value.type != kind:
            value = self.builder.trunc(value, kind)
        _store(self.builder, value, address)

    def _write_bits(self, row: Any, words: Sequence[Any]) -> None:
        """The bits of the words as 0 and 1, as many as the row has elements."""
        builder = self.builder
        for k, word in enumerate(words[:-1]):
            store_bytes(builder, word, self.at(row, 64 * k))
        # The last word may have less than 64 bits to give: nothing is written beyond the row.
        last, start = words[-1], 64 * (len(words) - 1)
        left = -self.width - start
        if left == 64:
            store_bytes(builder, last, self.at(row, start))
            return
        with cgutils.for_range(builder, WORD(left)) as bit:
            value = builder.and_(builder.lshr(last, bit.index), WORD(1))
            address = builder.gep(self.at(row, start), [bit.index])
            _store(builder, builder.trunc(value, _BYTE), address)


def _store_group(group: _Group, results: Sequence[tuple[_Column, list[Any]]]) -> None:
    """Write vectors of each column's words, and of them only the rows that there are."""
    builder = group.builder
    scattered = [(column, words) for column, words in results if not column.together]
    with builder.if_else(group.whole, likely=True) as (then, otherwise):
        with then:
            for column, words in results:
                if column.together:
                    column.write(words[0], column.at(group.start))
            _store_rows(group, scattered)
        with otherwise:
            _store_rows(group, results)


def _store_rows(group: _Group, results: Sequence[tuple[_Column, list[Any]]]) -> None:
    builder = group.builder
    kept = [
        (
            column,
            [
                builder.bitcast(cgutils.alloca_once_value(builder, x), WORD.as_pointer())
                for x in words
            ],
        )
        for column, words in results
    ]
    with cgutils.for_range(builder, group.count) as lane:
        row = builder.add(group.start, lane.index)
        for column, places in kept:
            words = [builder.load(builder.gep(place, [lane.index])) for place in places]
            column.write_row(row, words)


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
