"""Alpha-beta search below the root: one principal variation search.

Fail-soft negamax with a null window after the first move (Marsland 1983), and ProbCut if asked.
"""

from __future__ import annotations

from boardenvs.kernel.loops import (
    ONE,
    ZERO,
    arrive,
    inline,
    legal_words,
    number,
    trailing_zeros,
    word,
)
from boardenvs.search.compiled.counters import ABORTED, HORIZON, LIMIT, NODES
from boardenvs.search.compiled.judging import judge_near, static_value, static_value_of
from boardenvs.search.compiled.memory import SearchMemory
from boardenvs.search.compiled.moves import (
    child_of,
    generate_moves,
    move_at,
    pick_best,
)
from boardenvs.search.compiled.position import Position, is_final
from boardenvs.search.compiled.probcut import half_depth, margin_of, may_be_cut
from boardenvs.search.compiled.transposition import (
    DATA,
    EXACT,
    LOWER,
    NO_HORIZON,
    NO_MOVE,
    UPPER,
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
from boardenvs.search.compiled.values import INFINITE, final_value


def search(
    position: Position,
    depth: int,
    alpha: int,
    beta: int,
    distance: int,
    memory: SearchMemory,
) -> int:
    """The value to the side to move; a bound of it outside of (alpha, beta), 0 once aborted.

    `distance` is that from the root.
    """
    if is_final(position.terminated, position.ply):
        return final_value(position.own, position.opp, position.to_move, distance)
    counters = memory.counters
    if depth == 0:
        counters[HORIZON] += 1
        return static_value_of(position, memory)
    if depth == 1:
        return search_last_ply(position, beta, distance, memory)
    if counters[NODES] >= counters[LIMIT]:
        counters[ABORTED] = 1
        return 0
    table, moves = memory.table, memory.moves
    tag, bucket = tag_of(distance, table), bucket_of(position, distance, table)
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
    if memory.probcut > 0 and beta == alpha + 1 and may_be_cut(position, depth, beta):
        counters[NODES] += 1  # so that a limit ends what is cut again and again
        seems_high = static_value_of(position, memory) >= beta
        bound = beta + margin_of(memory) if seems_high else beta - margin_of(memory)
        value = search(position, half_depth(depth), bound - 1, bound, distance, memory)
        if (value >= bound) == seems_high:
            counters[HORIZON] += 1
            return beta if seems_high else alpha
    count = generate_moves(position, distance, best_move, memory)
    counters[NODES] += count
    first = distance * moves.max_moves
    best, lower = -INFINITE, alpha
    for place in range(first, first + count):
        record = pick_best(place, first + count, moves)
        child, move = child_of(record, moves), move_at(record, moves)
        value = INFINITE
        if place > first:  # is it better than the best at all?
            value = -search(child, depth - 1, -lower - 1, -lower, distance + 1, memory)
        if place == first or lower < value < beta:
            value = -search(child, depth - 1, -beta, -lower, distance + 1, memory)
        if counters[ABORTED] != 0:
            return 0
        if value > best:
            best, best_move = value, move
            lower = max(lower, best)
            if best >= beta:
                break
    bound = LOWER if best >= beta else (EXACT if best > alpha else UPPER)
    reach = NO_HORIZON if counters[HORIZON] == horizon else depth
    store(position, tag, bucket, pack(best, reach, bound, best_move), table)
    return best


@inline
def search_last_ply(position: Position, beta: int, distance: int, memory: SearchMemory) -> int:
    """The value one ply deep."""
    counters = memory.counters
    best = -INFINITE
    other, ply = position.to_move ^ ONE, position.ply + ONE
    judge_near(position, memory)
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
                value = -static_value(own, opp, other, ply, memory)
                counters[HORIZON] += 1
            if value > best:
                best = value
                if best >= beta:
                    return best
    return best


def principal_variation_move(
    position: Position, depth: int, value: int, distance: int, memory: SearchMemory
) -> int:
    """A move whose value is `value`, the value that a search found for this position of
    its principal variation; the others are as in `search`. NO_MOVE once aborted.
    """
    table, moves, counters = memory.table, memory.moves, memory.counters
    slot = probe(position, tag_of(distance, table), bucket_of(position, distance, table), table)
    known = move_of(table.slots[slot + DATA]) if slot >= 0 else NO_MOVE
    count = generate_moves(position, distance, known, memory)
    counters[NODES] += count
    first = distance * moves.max_moves
    best, best_move = -INFINITE, NO_MOVE
    for place in range(first, first + count):
        record = pick_best(place, first + count, moves)
        child, move = child_of(record, moves), move_at(record, moves)
        reached = -search(child, depth - 1, -value, -value + 1, distance + 1, memory)
        if counters[ABORTED] != 0:
            return NO_MOVE
        if reached > best:
            best, best_move = reached, move
        if best >= value:
            break
    return number(best_move)
