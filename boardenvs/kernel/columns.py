"""Arrays of a batch in machine code: how the words of some rows at a time are read and written.

Arrays (B, n) are read and written as squares of as many rows as there are lanes, transposed. Large
arrays are written past the processor's cache, which takes half the time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]

from boardenvs.kernel.layout import words_of
from boardenvs.kernel.simd import WORD, Operand, SimdWord, cgutils, in_lanes, join, split, vector

_BYTE, _INDEX = ir.IntType(8), ir.IntType(32)
_WORDS = WORD.as_pointer()
_CACHED = 1 << 21  # bytes that an array may have to be written as any other, by way of the cache


class Group:
    """Rows that are computed at once, as many as there are lanes but at the end of the arrays."""

    def __init__(self, builder: Any, lanes: int, start: Any, all_rows: Any) -> None:
        self.builder, self.lanes, self.start = builder, lanes, start
        self.left = builder.sub(all_rows, start)
        self.whole = builder.icmp_signed(">=", self.left, WORD(lanes))
        self.count = builder.select(self.whole, WORD(lanes), self.left)
        last = builder.sub(self.count, WORD(1))
        self.rows = []  # of each lane; lanes beyond the last row repeat it
        for lane in range(lanes):
            inside = builder.icmp_signed("<", WORD(lane), last)
            self.rows.append(builder.add(start, builder.select(inside, WORD(lane), last)))

    def lane_by_lane(self, read: Callable[[Any], Any]) -> Any:
        """Return a vector of what is read of each row."""
        return join(self.builder, [read(row) for row in self.rows])


class RowWord(SimdWord):
    """A word of the rows of a group, which knows where in a column it lies."""

    __slots__ = ("column", "group", "place")

    def __init__(self, group: Group, value: Any, column: Column, place: int) -> None:
        super().__init__(group.builder, value)
        self.group, self.column, self.place = group, column, place


def row_of(words: Sequence[Any]) -> Column | None:
    """Return the column of words of 64 bits whose rows begin with these, if there is one."""
    columns = {x.column for x in words if isinstance(x, RowWord) and x.column.element == WORD}
    if len(columns) != 1 or [getattr(x, "place", -1) for x in words] != [*range(len(words))]:
        return None
    return columns.pop()


class Column:
    """One of Numba's arrays: where its elements lie and how they are read and written. See
    `each_row` for `width`.
    """

    def __init__(self, context: Any, builder: Any, kind: Any, value: Any, width: int = 1) -> None:
        array = context.make_array(kind)(context, builder, value)
        self.builder, self.width, self.words = builder, width, words_of(width)
        self.data, self.shape, self.strides = array.data, array.shape, array.strides
        self.element = context.get_data_type(kind.dtype)
        self._size = context.get_abi_sizeof(self.element)
        self._row_size = abs(width) * self._size
        self._signed = getattr(kind.dtype, "signed", False)
        self.ndim = kind.ndim
        self.together = kind.layout == "C" and kind.ndim == 1

    def at(self, row: Any, offset: int = 0) -> Any:
        """Return the address of an element, `offset` elements after the row's first."""
        builder = self.builder
        base = builder.bitcast(self.data, _BYTE.as_pointer())
        distance = builder.mul(row, builder.extract_value(self.strides, 0))
        return builder.gep(builder.gep(base, [distance]), [WORD(offset * self._size)])

    def load(self, group: Group) -> list[RowWord]:
        """Return its words of a group of rows."""
        loaded = [self._load_one(group)] if self.together else self._load_rows(group)
        return [RowWord(group, value, self, place) for place, value in enumerate(loaded)]

    def _load_one(self, group: Group) -> Any:
        """Return the word of each row of an array (B,)."""
        builder = self.builder
        with builder.if_else(group.whole, likely=True) as (then, otherwise):
            with then:
                kind = ir.VectorType(self.element, group.lanes)
                whole = self._widened(load(builder, self.at(group.start), kind))
                after_whole = builder.block
            with otherwise:
                part = group.lane_by_lane(self._read)
                after_part = builder.block
        words = builder.phi(whole.type)
        words.add_incoming(whole, after_whole)
        words.add_incoming(part, after_part)
        return words

    def _load_rows(self, group: Group) -> list[Any]:
        """Return the words of rows, of which squares are loaded and transposed."""
        if self.width < group.lanes:
            return [group.lane_by_lane(partial(self._read, offset=k)) for k in range(self.width)]
        kind = ir.VectorType(self.element, group.lanes)
        words: list[Any] = []
        for first in _squares(self.width, group.lanes):
            rows = [
                self._widened(load(self.builder, self.at(row, first), kind)) for row in group.rows
            ]
            words[first:] = transpose(self.builder, rows)
        return words

    def _read(self, row: Any, offset: int = 0) -> Any:
        """Return an element as a word."""
        return self._widened(load(self.builder, self.at(row, offset), self.element))

    def _widened(self, value: Any) -> Any:
        """Return an element, or a vector of them, as words."""
        kind = WORD if value.type == self.element else vector(value.type.count)
        if value.type == kind:
            return value
        return (self.builder.sext if self._signed else self.builder.zext)(value, kind)

    def store(self, group: Group, results: Sequence[Operand]) -> None:
        """Write the words of a group of rows."""
        builder = self.builder
        words = [in_lanes(x, vector(group.lanes)) for x in results]
        if self.width < 0:
            self._store_bits(group, words, row_of(results))
        elif self.ndim == 2:
            self._copy(group, self._in_rows(group, words))
        elif self.together:
            with builder.if_else(group.whole, likely=True) as (then, otherwise):
                with then:
                    self._write(words[0], self.at(group.start))
                with otherwise:
                    self._store_lanes(group, words[0])
        else:
            self._store_lanes(group, words[0])

    def _store_lanes(self, group: Group, word: Any) -> None:
        for row, value in zip(group.rows, split(self.builder, word), strict=True):
            self._write(value, self.at(row))

    def _write(self, value: Any, address: Any) -> None:
        """A word, or a vector of them, as elements."""
        kind = self.element
        if value.type != WORD:
            kind = ir.VectorType(kind, value.type.count)
        if value.type != kind:
            value = self.builder.trunc(value, kind)
        store(self.builder, value, address)

    def _store_bits(self, group: Group, words: Sequence[Any], source_column: Column | None) -> None:
        """The bits of the words as 0 and 1, as many as a row has elements.

        Each word becomes 64 bytes; those after the end of a row are overwritten by the next one.
        They go to a buffer first at the end of the array, where nothing may be written beyond it,
        and where `_copy` does more than copy; elsewhere the copy would cost a sixth of a step.
        """
        builder, size, count = self.builder, -self.width, len(words)
        room = group.lanes * size + 64
        kept = _reserved(builder, _BYTE, room)
        inside = builder.icmp_signed(">", builder.mul(group.left, WORD(size)), WORD(room))
        plain = builder.and_(self._has_no_gaps(), builder.not_(self._is_large()))
        at_once = builder.and_(inside, plain)
        base = builder.select(at_once, self.at(group.start), kept)
        rows = None if source_column else builder.bitcast(self._in_rows(group, words), _WORDS)
        with cgutils.for_range(builder, group.count) as lane:
            out = builder.gep(base, [builder.mul(lane.index, WORD(size))])
            if source_column:
                row = source_column.at(builder.add(group.start, lane.index))
                source = builder.bitcast(row, _WORDS)
            else:
                source = builder.gep(rows, [builder.mul(lane.index, WORD(count))])
            with cgutils.for_range(builder, WORD(count)) as place:
                word = builder.load(builder.gep(source, [place.index]), align=1)
                offset = builder.mul(place.index, WORD(64))
                store_bytes(builder, word, builder.gep(out, [offset]))
        with builder.if_then(builder.not_(at_once)):
            self._copy(group, kept)

    def _has_no_gaps(self) -> Any:
        """Return the flag 1 if the rows follow one after the other."""
        stride = self.builder.extract_value(self.strides, 0)
        return self.builder.icmp_signed("==", stride, WORD(self._row_size))

    def _is_large(self) -> Any:
        """Return the flag 1 if the array is too large for the cache."""
        rows = self.builder.extract_value(self.shape, 0)
        return self.builder.icmp_signed(">", rows, WORD(_CACHED // self._row_size))

    def _in_rows(self, group: Group, words: Sequence[Any]) -> Any:
        """Return the address of the words of a group, one row after the other, as they are written:
        as elements, or as words that are to become bytes.
        """
        builder, lanes, count = self.builder, group.lanes, len(words)
        size = self._size if self.width > 0 else 8
        write = self._write if self.width > 0 else partial(store, builder)
        kept = _reserved(builder, _BYTE, lanes * count * size)

        def write_row(lane: int, place: int, value: Any) -> None:
            write(value, builder.gep(kept, [WORD((lane * count + place) * size)]))

        if count < lanes:
            for place, word in enumerate(words):
                for lane, value in enumerate(split(builder, word)):
                    write_row(lane, place, value)
        else:
            for first in _squares(count, lanes):
                for lane, row in enumerate(transpose(builder, words[first : first + lanes])):
                    write_row(lane, first, row)
        return kept

    def _copy(self, group: Group, source: Any) -> None:
        """Copy the rows of a group to the array, all at once if there are no gaps between them."""
        builder, size = self.builder, WORD(self._row_size)
        close = self._has_no_gaps()
        runs = builder.select(close, WORD(1), group.count)
        count = builder.select(close, builder.mul(group.count, size), size)
        with cgutils.for_range(builder, runs) as run:
            part = builder.gep(source, [builder.mul(run.index, size)])
            target = self.at(builder.add(group.start, run.index))
            with builder.if_else(self._is_large()) as (then, otherwise):
                with then:
                    _stream(builder, target, part, count)
                with otherwise:
                    cgutils.raw_memcpy(builder, target, part, count, 1)


def _reserved(builder: Any, kind: Any, count: int) -> Any:
    """Return the address of memory for `count` elements, until the function returns."""
    with builder.goto_entry_block():
        return builder.alloca(kind, size=WORD(count))


def _squares(width: int, lanes: int) -> list[int]:
    """Return where squares of `lanes` words begin that cover a row; the last two may overlap."""
    return [*range(0, width - lanes, lanes), width - lanes]


def transpose(builder: Any, rows: Sequence[Any]) -> list[Any]:
    """As many vectors as they have lanes: the k-th of the elements k of all."""
    rows, lanes = list(rows), len(rows)
    for distance in (1 << bit for bit in range(lanes.bit_length() - 1)):
        for k in range(lanes):
            if not k & distance:
                pair = rows[k], rows[k + distance]
                places = [j - distance + lanes if j & distance else j for j in range(lanes)]
                for row, up in ((k, 0), (k + distance, distance)):
                    chosen = [_INDEX(place + up) for place in places]
                    mask = ir.Constant(ir.VectorType(_INDEX, lanes), chosen)
                    rows[row] = builder.shuffle_vector(*pair, mask)
    return rows


def _stream(builder: Any, target: Any, source: Any, count: Any) -> None:
    """Copy bytes past the cache: whole lines of it, which need not be read before."""
    address = builder.ptrtoint(target, WORD)
    head = builder.and_(builder.neg(address), WORD(63))
    head = builder.select(builder.icmp_unsigned("<", head, count), head, count)
    lines = builder.lshr(builder.sub(count, head), WORD(6))
    end = builder.add(head, builder.shl(lines, WORD(6)))
    cgutils.raw_memcpy(builder, target, source, head, 1)
    with cgutils.for_range_slice(builder, head, end, WORD(64)) as (place, _):
        line = load(builder, builder.gep(source, [place]), ir.VectorType(_BYTE, 64))
        to = builder.bitcast(builder.gep(target, [place]), line.type.as_pointer())
        written = builder.store(line, to, align=64)
        written.set_metadata("nontemporal", builder.module.add_metadata([_INDEX(1)]))
    rest = builder.sub(count, end)
    to, source = (builder.gep(x, [end]) for x in (target, source))
    cgutils.raw_memcpy(builder, to, source, rest, 1)


def store_bytes(builder: Any, word: Any, address: Any) -> None:
    """The 64 bits of a word as 64 bytes of 0 and 1, lowest first.

    Each byte of the word is repeated eight times, and each copy is asked for one bit. To convert
    64 bits to 64 bytes is as fast where vectors have 512 bits, and twenty times slower elsewhere.
    """
    whole = ir.VectorType(_BYTE, 64)
    parts = builder.bitcast(word, ir.VectorType(_BYTE, 8))
    chosen = ir.Constant(ir.VectorType(_INDEX, 64), [k // 8 for k in range(64)])
    copies = builder.shuffle_vector(parts, ir.Constant(parts.type, ir.Undefined), chosen)
    bits = ir.Constant(whole, [1 << k % 8 for k in range(64)])
    flags = builder.icmp_unsigned("==", builder.and_(copies, bits), bits)
    store(builder, builder.zext(flags, whole), address)


def load(builder: Any, address: Any, kind: Any) -> Any:
    """Return a value of this type, wherever its address is."""
    return builder.load(builder.bitcast(address, kind.as_pointer()), align=1)


def store(builder: Any, value: Any, address: Any) -> None:
    """Write a value, wherever its address is."""
    builder.store(value, builder.bitcast(address, value.type.as_pointer()), align=1)
