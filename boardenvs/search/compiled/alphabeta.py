"""Alpha-beta search below the root: one principal variation search for midgame and endgame.

Fail-soft negamax with a null window after the first move (Marsland 1983). Towards the exact end of
a game that fills up no heuristic is asked, and moves that leave the fewest replies come first,
which makes the tree small (Buro, "How machines have learned to play Othello", 1999).
"""

from __future__ import annotations

from typing import NamedTuple

from boardenvs.game.state import Position
from boardenvs.kernel.loops import (
    ONE,
    ZERO,
    Array,
    arrive,
    has_exact_end,
    legal_words,
    number,
    trailing_zeros,
    word,
)
from boardenvs.search.compiled.counters import ABORTED, HORIZON, LIMIT, NODES
from boardenvs.search.compiled.endgame import FEW_SQUARES, search_last_squares
from boardenvs.search.compiled.moves import (
    MoveStack,
    child_of,
    generate_moves,
    move_at,
    noop,
    pick_best,
)
from boardenvs.search.compiled.position import is_final
from boardenvs.search.compiled.transposition import (
    DATA,
    EXACT,
    LOWER,
    NO_HORIZON,
    NO_MOVE,
    TO_THE_END,
    UPPER,
    TranspositionTable,
    bucket_of,
    cuts_off,
    depth_of,
    move_of,
    pack,
    probe,
    store,
    tag_of,
    value_of,
)
from boardenvs.search.compiled.values import INFINITE, final_value, static_value


class SearchMemory(NamedTuple):
    """What a search works in."""

    table: TranspositionTable
    moves: MoveStack
    counters: Array  # (COUNTERS,) numbers


def search(
    position: Position,
    depth: int,
    alpha: int,
    beta: int,
    distance: int,
    to_the_end: int,
    memory: SearchMemory,
) -> int:
    """The value to the side to move; a bound of it outside of (alpha, beta), 0 once aborted.

    `distance` is that from the root. Where `to_the_end` is 1 the value is exact, and `depth` is
    the number of empty squares.
    """
    if is_final(position.terminated, position.ply):
        return final_value(position.own, position.opp, position.to_move, distance)
    counters = memory.counters
    if has_exact_end() and to_the_end == 1:
        if depth < FEW_SQUARES:
            return search_last_squares(position, alpha, beta, distance, counters)
    elif depth == 0:
        counters[HORIZON] += 1
        return static_value(position.own, position.opp, position.to_move, position.ply)
    elif depth == 1:
        return search_last_ply(position, beta, distance, counters)
    if counters[NODES] >= counters[LIMIT]:
        counters[ABORTED] = 1
        return 0
    table, moves = memory.table, memory.moves
    key = TO_THE_END if to_the_end == 1 else distance
    tag, bucket = tag_of(key, table), bucket_of(position, key, table)
    slot = probe(position, tag, bucket, table)
    best_move = NO_MOVE
    if slot >= 0:
        data = table.slots[slot + DATA]
        best_move = move_of(data)
        if depth_of(data) >= depth and cuts_off(data, alpha, beta):
            if depth_of(data) < NO_HORIZON:
                counters[HORIZON] += 1
            return value_of(data)
    horizon = counters[HORIZON]
    count = generate_moves(position, distance, best_move, to_the_end, moves)
    counters[NODES] += count
    first = distance * moves.max_moves
    best, lower = -INFINITE, alpha
    for place in range(first, first + count):
        record = pick_best(place, first + count, moves)
        child, move = child_of(record, moves), move_at(record, moves)
        below = depth if to_the_end == 1 and move == noop() else depth - 1
        value = INFINITE
        if place > first:  # is it better than the best at all?
            value = -search(child, below, -lower - 1, -lower, distance + 1, to_the_end, memory)
        if place == first or lower < value < beta:
            value = -search(child, below, -beta, -lower, distance + 1, to_the_end, memory)
        if counters[ABORTED] != 0:
            return 0
        if value > best:
            best, best_move = value, move
            lower = max(lower, best)
            if best >= beta:
                break
    bound = LOWER if best >= beta else (EXACT if best > alpha else UPPER)
    seen_all = to_the_end == 0 and counters[HORIZON] == horizon
    reach = NO_HORIZON if seen_all else depth
    store(position, tag, bucket, pack(best, reach, bound, best_move), table)
    return best


def search_last_ply(position: Position, beta: int, distance: int, counters: Array) -> int:
    """The value one ply deep."""
    best = -INFINITE
    other, ply = position.to_move ^ ONE, position.ply + ONE
    for k in range(legal_words()):
        bits = position.legal_bits[k]
        while bits != ZERO:
            action = word(64 * k) + trailing_zeros(bits)
            bits = bits & (bits - ONE)
            own, opp, over = arrive(
                position.own, position.opp, position.to_move, position.ply, action
            )
            counters[NODES] += 1
            if is_final(over != ZERO, ply):
                value = -final_value(own, opp, other, distance + 1)
            else:
                value = -static_value(own, opp, other, ply)
                counters[HORIZON] += 1
            if value > best:
                best = value
                if best >= beta:
                    return best
    return best


def principal_variation_move(
    position: Position, depth: int, value: int, distance: int, to_the_end: int, memory: SearchMemory
) -> int:
    """A move whose value is `value`, the value that a search found for this position of its
    principal variation; the
    others are as in `search`. NO_MOVE once aborted.
    """
    table, moves, counters = memory.table, memory.moves, memory.counters
    slot = probe(position, tag_of(distance, table), bucket_of(position, distance, table), table)
    # To the end the move of the fewest replies is taken, whatever the table has kept.
    known = move_of(table.slots[slot + DATA]) if slot >= 0 and to_the_end == 0 else NO_MOVE
    count = generate_moves(position, distance, known, to_the_end, moves)
    counters[NODES] += count
    first = distance * moves.max_moves
    best, best_move = -INFINITE, NO_MOVE
    for place in range(first, first + count):
        record = pick_best(place, first + count, moves)
        child, move = child_of(record, moves), move_at(record, moves)
        below = depth if to_the_end == 1 and move == noop() else depth - 1
        reached = -search(child, below, -value, -value + 1, distance + 1, to_the_end, memory)
        if counters[ABORTED] != 0:
            return NO_MOVE
        if reached > best:
            best, best_move = reached, move
        if best >= value:
            break
    return number(best_move)
