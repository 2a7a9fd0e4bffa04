"""What the transposition table holds of the end of a game: two bounds of the lead, the best move
and the work that they took.

The data of a slot are, from the lowest bit: both biased bounds (20 bits each), the move (10) and
the number of bits of the nodes searched (8).
"""

from __future__ import annotations

from boardenvs.kernel.loops import Word, number, word
from boardenvs.search.compiled.position import Position
from boardenvs.search.compiled.transposition import (
    DATA,
    NO_MOVE,
    SLOT,
    TAG,
    TranspositionTable,
    probe,
)

MOST = (1 << 19) - 1  # no lead is greater
_BIAS = 1 << 19


def pack_bounds(lower: int, upper: int, move: int, work: int) -> Word:
    """As data of a slot."""
    return (
        word(lower + _BIAS)
        | (word(upper + _BIAS) << word(20))
        | (word(move) << word(40))
        | (word(work) << word(50))
    )


def lower_of(data: Word) -> int:
    return number(data & word(0xFFFFF)) - _BIAS


def upper_of(data: Word) -> int:
    return number((data >> word(20)) & word(0xFFFFF)) - _BIAS


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
    position: Position,
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
    lower, upper = -MOST, MOST
    slot = probe(position, tag, bucket, table)
    if slot >= 0:
        data = slots[slot + DATA]
        lower, upper = lower_of(data), upper_of(data)
        if value <= alpha and end_move_of(data) != NO_MOVE:
            move = end_move_of(data)
    else:
        slot = bucket
        if worth_keeping(bucket, tag, table) > worth_keeping(bucket + SLOT, tag, table):
            slot = bucket + SLOT
    if value > alpha:
        lower = value
    else:
        upper = value
    slots[slot] = position.own
    slots[slot + 1] = position.opp
    slots[slot + TAG] = tag
    slots[slot + DATA] = pack_bounds(lower, upper, move, work_for(nodes))


def worth_keeping(slot: int, tag: Word, table: TranspositionTable) -> int:
    """The work in a slot; less than none in one of another search."""
    if table.slots[slot + TAG] != tag:
        return -1
    return work_of(table.slots[slot + DATA])
