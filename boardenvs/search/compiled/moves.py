"""The moves of the positions that alpha-beta search is in, and the order to try them in."""

from __future__ import annotations

from boardenvs.kernel.loops import (
    ONE,
    ZERO,
    Word,
    inline,
    legal_words,
    number,
    trailing_zeros,
    word,
)
from boardenvs.search.compiled.memory import MoveStack, SearchMemory
from boardenvs.search.compiled.position import (
    PackedPosition,
    load_position,
    mobility,
    play,
    save_position,
    sign_of,
)
from boardenvs.search.compiled.values import INFINITE, final_value, judge_near, static_value


def generate_moves(
    position: PackedPosition, distance: int, table_move: int, memory: SearchMemory
) -> int:
    """List the moves of a position at this distance, with their scores; returns how many.

    The table's move comes first.
    """
    moves = memory.moves
    first = place = distance * moves.max_moves
    judge_near(position, memory)
    for k in range(legal_words()):
        bits = position.legal_bits[k]
        while bits != ZERO:
            action = word(64 * k) + trailing_zeros(bits)
            bits = bits & (bits - ONE)
            child = play(position, action)
            put_move(place, action, child, moves)
            if number(action) == table_move:
                moves.scores[place] = 4 * INFINITE
            else:
                moves.scores[place] = score(position.to_move, child, distance + 1, memory)
            place += 1
    return place - first


@inline
def put_move(place: int, action: Word, child: PackedPosition, moves: MoveStack) -> None:
    """Write a move, and the position after it, to this place of the lists."""
    size = moves.record_size
    save_position(moves.records, place * size, child)
    moves.records[place * size + size - 1] = action
    moves.order[place] = place


@inline
def score(to_move: Word, child: PackedPosition, distance: int, memory: SearchMemory) -> int:
    """How good a move of this side seems: by the value of the position it leads to, and by how few
    replies the opponent has there.
    """
    if child.terminated:  # there are no replies
        value = final_value(child.words, child.to_move, distance)
    else:
        value = static_value(child.words, child.to_move, child.ply, memory) + 2 * mobility(child)
    return sign_of(to_move, child.to_move) * value


@inline
def pick_best(place: int, end: int, moves: MoveStack) -> int:
    """Bring the move of the highest score to this place, from those up to `end`; its record."""
    order, scores = moves.order, moves.scores
    best = place
    for k in range(place + 1, end):
        if scores[k] > scores[best]:
            best = k
    if best != place:
        scores[place], scores[best] = scores[best], scores[place]
        order[place], order[best] = order[best], order[place]
    return number(order[place])


def order_moves(place: int, count: int, moves: MoveStack) -> None:
    """Put a whole list, from this place on, in the order of its scores."""
    for k in range(place, place + count):
        pick_best(k, place + count, moves)


@inline
def child_of(record: int, moves: MoveStack) -> PackedPosition:
    """The position after a move."""
    return load_position(moves.records, record * moves.record_size)


@inline
def move_at(record: int, moves: MoveStack) -> int:
    """The move of a record."""
    return number(moves.records[(record + 1) * moves.record_size - 1])
