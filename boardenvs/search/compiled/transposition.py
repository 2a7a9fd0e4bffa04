"""The transposition table (Zobrist 1970): values of positions that the search has met before.

A win is worth less the later it comes, so values depend on the ply, and so does the key. The exact
end of a game has a mark in place of the ply.
"""

from __future__ import annotations

from typing import NamedTuple

from boardenvs.kernel.loops import (
    ALTERNATES,
    KNOWN_WORDS,
    ZERO,
    Array,
    Word,
    inline,
    number,
    word,
    wrap,
)
from boardenvs.search.compiled.position import PackedPosition
from boardenvs.utils.splitmix import GOLDEN

EXACT, LOWER, UPPER = 0, 1, 2  # a value is exact, or a bound
NO_HORIZON = 255  # depth of a value that depends on no heuristic
TO_THE_END = 255  # in place of a ply: values of the exact end
NO_MOVE = 1023
BIAS = 1 << 23  # makes a value positive

# A slot: tag, data, the position's words. The tag is the generation and the ply (8 bits). The data
# are, from the lowest bit: biased value (24), depth (8), bound (2), move. They are never 0.
TAG, DATA, WORDS = 0, 1, 2

# Nodes whose moves are searched two plies deep or more are stored; one ply, if captures follow.
NODES_A_BUCKET, FEWEST_BUCKETS = 8, 1 << 10


class TranspositionTable(NamedTuple):
    """Values of positions, two slots a bucket."""

    # (buckets * 2 * slot_size() + 2,) words; the buckets are a power of two. The last two words are
    # the number of buckets in use, less 1, and the generation: slots of other searches are empty.
    slots: Array


class Key(NamedTuple):
    """Where a position is in the table."""

    tag: Word  # of its slots
    bucket: int  # where its two slots begin


def new_search(nodes: int, kept: int, table: TranspositionTable) -> None:
    """Forget all values unless they are `kept`, and use only what a search of this many nodes
    fills: a small table stays in the processor's cache.
    """
    slots = table.slots
    buckets = number(len(slots) // (2 * slot_size()))
    while buckets > FEWEST_BUCKETS and buckets // 2 * NODES_A_BUCKET >= nodes:
        buckets //= 2
    slots[len(slots) - 2] = word(buckets - 1)
    slots[len(slots) - 1] += word(1 - kept)


@inline
def slot_size() -> int:
    """Return the words of a slot."""
    return WORDS + KNOWN_WORDS


def key_of_board(position: PackedPosition, mark: int, table: TranspositionTable) -> Key:
    """Return `key_of` for games in plain Python, where a position's one word is an object."""
    return key_with(wrap(hash(position.words[0]) * word(GOLDEN)), position, mark, table)


def key_of(position: PackedPosition, mark: int, table: TranspositionTable) -> Key:
    """Return a position's key; the mark is its ply, as far as searches need it, or TO_THE_END."""
    key = wrap(position.words[0] * word(0x9E3779B97F4A7C15))
    key = key ^ wrap(position.words[1] * word(0xC2B2AE3D27D4EB4F))
    for k in range(2, KNOWN_WORDS):
        key = wrap((key ^ position.words[k]) * word(GOLDEN))
    key = wrap((key ^ (key >> word(29))) * word(0xBF58476D1CE4E5B9))
    return key_with(key, position, mark, table)


@inline
def key_with(mixed: Word, position: PackedPosition, mark: int, table: TranspositionTable) -> Key:
    """Return the key of a position whose words are mixed to this one."""
    slots, key = table.slots, mixed ^ word(mark)
    tag = (slots[len(slots) - 1] << word(8)) | word(mark)
    if not ALTERNATES:
        tag = tag | (position.to_move << word(63))
    highest: Word = slots[len(slots) - 2]
    return Key(tag, number((key ^ (key >> word(32))) & highest) * 2 * slot_size())


def slot_of(position: PackedPosition, key: Key, table: TranspositionTable) -> int:
    """Return the slot that holds the position, or -1."""
    for slot in range(key.bucket, key.bucket + 2 * slot_size(), slot_size()):
        if is_of(slot, position, key.tag, table):
            return slot
    return -1


def probe(position: PackedPosition, key: Key, table: TranspositionTable) -> Word:
    """Return the data of the position, or 0."""
    slot = slot_of(position, key, table)
    data: Word = table.slots[slot + DATA] if slot >= 0 else ZERO
    return data


@inline
def is_of(slot: int, position: PackedPosition, tag: Word, table: TranspositionTable) -> bool:
    """Return whether a slot holds the position."""
    slots = table.slots
    if slots[slot + TAG] != tag:
        return False
    for k in range(KNOWN_WORDS):  # noqa: SIM110 - Numba has no `all`
        if slots[slot + WORDS + k] != position.words[k]:
            return False
    return True


def store(position: PackedPosition, key: Key, data: Word, table: TranspositionTable) -> None:
    """Store data: in the first slot if it is of a deeper search, else in the second."""
    slots, slot = table.slots, key.bucket
    old = slots[slot + TAG]
    here = is_of(slot, position, key.tag, table)
    current = (old >> word(8)) == (key.tag >> word(8))
    if current and not here and depth_of(slots[slot + DATA]) > depth_of(data):
        slot = key.bucket + slot_size()
    write_slot(slot, position, key.tag, data, table)


@inline
def write_slot(
    slot: int, position: PackedPosition, tag: Word, data: Word, table: TranspositionTable
) -> None:
    """Overwrite a slot."""
    slots = table.slots
    slots[slot + TAG] = tag
    slots[slot + DATA] = data
    for k in range(KNOWN_WORDS):
        slots[slot + WORDS + k] = position.words[k]


def pack(value: int, depth: int, bound: int, move: int) -> Word:
    """Return the data of a slot."""
    return (
        word(value + BIAS)
        | (word(depth) << word(24))
        | (word(bound) << word(32))
        | (word(move) << word(34))
    )


def value_of(data: Word) -> int:
    return number(data & word(0xFFFFFF)) - BIAS


def depth_of(data: Word) -> int:
    return number((data >> word(24)) & word(255))


def move_of(data: Word) -> int:
    return number(data >> word(34))


def cuts_off(data: Word, alpha: int, beta: int) -> bool:
    """Return whether the value decides a search with this window."""
    bound = number((data >> word(32)) & word(3))
    return (
        bound == EXACT
        or (bound == LOWER and value_of(data) >= beta)
        or (bound == UPPER and value_of(data) <= alpha)
    )


# For the exact end a slot holds two bounds of the score margin, the best move and the work done.
# The data are, from the lowest bit: both biased bounds (20 bits each), move (10), bits of the
# number of nodes searched (8).
MOST_MARGIN = (1 << 19) - 1  # no score margin is greater
MARGIN_BIAS = 1 << 19


def pack_bounds(lower: int, upper: int, move: int, work: int) -> Word:
    """Return the data of a slot."""
    return (
        word(lower + MARGIN_BIAS)
        | (word(upper + MARGIN_BIAS) << word(20))
        | (word(move) << word(40))
        | (word(work) << word(50))
    )


def lower_of(data: Word) -> int:
    return number(data & word(0xFFFFF)) - MARGIN_BIAS


def upper_of(data: Word) -> int:
    return number((data >> word(20)) & word(0xFFFFF)) - MARGIN_BIAS


def end_move_of(data: Word) -> int:
    return number((data >> word(40)) & word(1023))


def work_for(nodes: int) -> int:
    """Return the bits of a number of nodes."""
    work = 0
    while nodes > 0:
        nodes >>= 1
        work += 1
    return work


def store_bound(
    position: PackedPosition, key: Key, bound: tuple[int, int, int, int], table: TranspositionTable
) -> None:
    """Store a result: a value, the alpha it was searched with, a move, and the nodes it took.

    It replaces the slot with less work, and is combined with what is known of the same position.
    """
    value, alpha, move, nodes = bound
    lower, upper = -MOST_MARGIN, MOST_MARGIN
    slot = slot_of(position, key, table)
    if slot >= 0:
        data = table.slots[slot + DATA]
        lower, upper = lower_of(data), upper_of(data)
        if value <= alpha and end_move_of(data) != NO_MOVE:
            move = end_move_of(data)
    else:
        slot = key.bucket
        if work_in(slot, key.tag, table) > work_in(slot + slot_size(), key.tag, table):
            slot += slot_size()
    if value > alpha:
        lower = value
    else:
        upper = value
    write_slot(slot, position, key.tag, pack_bounds(lower, upper, move, work_for(nodes)), table)


def work_in(slot: int, tag: Word, table: TranspositionTable) -> int:
    """Return the work in a slot; -1 for a slot of another search."""
    if table.slots[slot + TAG] != tag:
        return -1
    return number(table.slots[slot + DATA] >> word(50))
