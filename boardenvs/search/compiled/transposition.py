"""The transposition table (Zobrist 1970): what search knows of positions that it has met before.

Values depend on the distance from the root, since a win is worth less the later it comes. So a
position is known by its distance too, but for the exact end of a game, which has a mark of its own.
"""

from __future__ import annotations

from typing import NamedTuple

from boardenvs.kernel.loops import (
    ONE,
    Array,
    Word,
    alternates,
    inline,
    known_words,
    number,
    word,
    wrap,
)
from boardenvs.search.compiled.position import PackedPosition
from boardenvs.utils.splitmix import GOLDEN

EXACT, LOWER, UPPER = 0, 1, 2  # what a value is: itself, or a bound
NO_HORIZON = 255  # the depth of a value in which no heuristic had a say
TO_THE_END = 255  # in place of a distance, which is less: a value of the search of the exact end
NO_MOVE = 1023
BIAS = 1 << 23  # makes a value positive

# A slot: tag, data, and the position's words. The tag is the generation and the distance, of eight
# bits. The data are, from the lowest bit, the biased value (24 bits), depth (8), bound (2) and
# move.
TAG, DATA, WORDS = 0, 1, 2

# Only those of the nodes whose moves are searched two plies deep or more are in the table.
NODES_A_BUCKET, FEWEST_BUCKETS = 8, 1 << 10


class TranspositionTable(NamedTuple):
    """Values of positions, two slots a bucket."""

    # (buckets * 2 * slot_size() + 2,) words; the buckets are a power of two. The last words are how
    # many buckets are in use, less 1, and the number of the search: slots of others count as empty.
    slots: Array


def new_search(nodes: int, table: TranspositionTable) -> None:
    """Forget all values. So many nodes are searched at most: what they do not fill is left out,
    since a small table stays in the processor's cache.
    """
    slots = table.slots
    buckets = number(len(slots) // (2 * slot_size()))
    while buckets > FEWEST_BUCKETS and buckets // 2 * NODES_A_BUCKET >= nodes:
        buckets //= 2
    slots[len(slots) - 2] = word(buckets - 1)
    slots[len(slots) - 1] += ONE


@inline
def slot_size() -> int:
    """The words of a slot."""
    return WORDS + known_words()


def tag_of(position: PackedPosition, distance: int, table: TranspositionTable) -> Word:
    """What marks slots of this search and distance, and of the side to move where it is not known
    by these.
    """
    generation: Word = table.slots[len(table.slots) - 1]
    tag = (generation << word(8)) | word(distance)
    return tag if alternates() else tag | (position.to_move << word(63))


def bucket_of(position: PackedPosition, distance: int, table: TranspositionTable) -> int:
    """Where the two slots of a position begin."""
    key = wrap(position.words[0] * word(0x9E3779B97F4A7C15))
    key = key ^ wrap(position.words[1] * word(0xC2B2AE3D27D4EB4F))
    for k in range(2, known_words()):
        key = wrap((key ^ position.words[k]) * word(GOLDEN))
    key = wrap((key ^ (key >> word(29))) * word(0xBF58476D1CE4E5B9)) ^ word(distance)
    highest: Word = table.slots[len(table.slots) - 2]
    return number((key ^ (key >> word(32))) & highest) * 2 * slot_size()


def probe(position: PackedPosition, tag: Word, bucket: int, table: TranspositionTable) -> int:
    """The slot that holds the position, or -1."""
    for slot in range(bucket, bucket + 2 * slot_size(), slot_size()):
        if is_of(slot, position, tag, table):
            return slot
    return -1


@inline
def is_of(slot: int, position: PackedPosition, tag: Word, table: TranspositionTable) -> bool:
    """Whether a slot holds the position."""
    slots = table.slots
    if slots[slot + TAG] != tag:
        return False
    for k in range(known_words()):  # noqa: SIM110 - Numba has no `all`
        if slots[slot + WORDS + k] != position.words[k]:
            return False
    return True


def store(
    position: PackedPosition, tag: Word, bucket: int, data: Word, table: TranspositionTable
) -> None:
    """Keep data: in the first slot if they are of a deeper search, else in the second."""
    slots, slot = table.slots, bucket
    old = slots[slot + TAG]
    here = is_of(slot, position, tag, table)
    current = (old >> word(8)) == (tag >> word(8))
    if current and not here and depth_of(slots[slot + DATA]) > depth_of(data):
        slot = bucket + slot_size()
    write_slot(slot, position, tag, data, table)


@inline
def write_slot(
    slot: int, position: PackedPosition, tag: Word, data: Word, table: TranspositionTable
) -> None:
    """Overwrite a slot."""
    slots = table.slots
    slots[slot + TAG] = tag
    slots[slot + DATA] = data
    for k in range(known_words()):
        slots[slot + WORDS + k] = position.words[k]


def pack(value: int, depth: int, bound: int, move: int) -> Word:
    """As data of a slot."""
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


def bound_of(data: Word) -> int:
    return number((data >> word(32)) & word(3))


def move_of(data: Word) -> int:
    return number(data >> word(34))


def cuts_off(data: Word, alpha: int, beta: int) -> bool:
    """Whether the value can stand for that of a search with this window."""
    bound = bound_of(data)
    return (
        bound == EXACT
        or (bound == LOWER and value_of(data) >= beta)
        or (bound == UPPER and value_of(data) <= alpha)
    )


# Of the end of a game a slot holds two bounds of the score margin, the best move and the work that
# they took. The data are, from the lowest bit, both biased bounds (20 bits each), the move (10) and
# the number of bits of the nodes searched (8).
MOST_MARGIN = (1 << 19) - 1  # no score margin is greater
MARGIN_BIAS = 1 << 19


def pack_bounds(lower: int, upper: int, move: int, work: int) -> Word:
    """As data of a slot."""
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


def work_of(data: Word) -> int:
    return number(data >> word(50))


def work_for(nodes: int) -> int:
    """The bits of a number of nodes."""
    work = 0
    while nodes > 0:
        nodes >>= 1
        work += 1
    return work


def store_bound(
    position: PackedPosition,
    tag: Word,
    bucket: int,
    found: tuple[int, int, int, int],
    table: TranspositionTable,
) -> None:
    """Keep what was `found`: a value, the alpha it was asked for, a move and the nodes it took.

    It takes the place of what took less work; what is known of the same position is kept with it.
    """
    value, alpha, move, nodes = found
    slots = table.slots
    lower, upper = -MOST_MARGIN, MOST_MARGIN
    slot = probe(position, tag, bucket, table)
    if slot >= 0:
        data = slots[slot + DATA]
        lower, upper = lower_of(data), upper_of(data)
        if value <= alpha and end_move_of(data) != NO_MOVE:
            move = end_move_of(data)
    else:
        slot = bucket
        if work_in(bucket, tag, table) > work_in(bucket + slot_size(), tag, table):
            slot = bucket + slot_size()
    if value > alpha:
        lower = value
    else:
        upper = value
    data = pack_bounds(lower, upper, move, work_for(nodes))
    write_slot(slot, position, tag, data, table)


def work_in(slot: int, tag: Word, table: TranspositionTable) -> int:
    """The work in a slot; less than none in one of another search."""
    if table.slots[slot + TAG] != tag:
        return -1
    return work_of(table.slots[slot + DATA])
