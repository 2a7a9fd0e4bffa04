"""The exact end of a game that fills up and is won by points.

Principal variation search over searches with a null window, which only tell whether a lead can be
had. They use what the field of Othello programs does: moves that leave few replies first, the
transposition table of the position and of those after its moves (enhanced transposition cut-offs,
Schaeffer and Plaat 1996), and stable squares, which put a lead out of reach.
"""

from __future__ import annotations

from boardenvs.kernel.loops import (
    board,
    has_stable,
    inline,
    number,
    stable,
)
from boardenvs.search.compiled.bounds import (
    MOST,
    end_move_of,
    lower_of,
    store_bound,
    upper_of,
)
from boardenvs.search.compiled.counters import ABORTED, LIMIT, NODES
from boardenvs.search.compiled.end_moves import list_end_moves
from boardenvs.search.compiled.last_squares import FEW_SQUARES, search_last_squares
from boardenvs.search.compiled.memory import SearchMemory
from boardenvs.search.compiled.moves import child_of, move_at, noop, pick_best
from boardenvs.search.compiled.position import Position, is_final
from boardenvs.search.compiled.transposition import (
    DATA,
    NO_MOVE,
    TO_THE_END,
    bucket_of,
    probe,
    tag_of,
)
from boardenvs.search.compiled.values import INFINITE, final_lead

# From so many empty squares on the table is used, and asked about the positions after the moves.
TABLE_SQUARES, AHEAD_SQUARES = 7, 9


@inline
def can_reach(position: Position, alpha: int) -> int:
    """The greatest lead that stable squares leave possible; not worked out where it is greater than
    `alpha` by the number of the opponent's squares alone.
    """
    own, opp, to_move = position.own, position.opp, position.to_move
    best = final_lead(board() ^ opp, opp, to_move)
    if best > alpha:
        return best
    kept = stable(own, opp)[0]
    return final_lead(board() ^ kept, kept, to_move)


def search_end(
    position: Position, squares: int, alpha: int, distance: int, memory: SearchMemory
) -> int:
    """Whether the lead with best play is more than `alpha`: a bound of it on the side where it is;
    0 once aborted. `squares` are empty; `distance` is that from the root.
    """
    if is_final(position.terminated, position.ply):
        return final_lead(position.own, position.opp, position.to_move)
    counters = memory.counters
    if squares <= FEW_SQUARES:
        return search_last_squares(position, alpha, counters)
    if has_stable():
        most = can_reach(position, alpha)
        if most <= alpha:
            return most
    if counters[NODES] >= counters[LIMIT]:
        counters[ABORTED] = 1
        return 0
    table, moves, before = memory.table, memory.moves, counters[NODES]
    tag, bucket, best_move = tag_of(number(TO_THE_END), table), number(0), number(NO_MOVE)
    if squares >= TABLE_SQUARES:
        bucket = bucket_of(position, number(TO_THE_END), table)
        slot = probe(position, tag, bucket, table)
        if slot >= 0:
            data = table.slots[slot + DATA]
            if lower_of(data) > alpha:
                return lower_of(data)
            if upper_of(data) <= alpha:
                return upper_of(data)
            best_move = end_move_of(data)
    count = list_end_moves(position, squares, best_move, distance, memory)
    counters[NODES] += count
    first = distance * moves.max_moves
    if squares >= AHEAD_SQUARES:
        for place in range(first, first + count):
            upper = known_upper(child_of(place, moves), memory)
            if -upper > alpha:
                return -upper
    best = -INFINITE
    for place in range(first, first + count):
        record = pick_best(place, first + count, moves)
        move = move_at(record, moves)
        below = squares if move == noop() else squares - 1
        value = -search_end(child_of(record, moves), below, -alpha - 1, distance + 1, memory)
        if counters[ABORTED] != 0:
            return 0
        if value > best:
            best, best_move = value, move
            if best > alpha:
                break
    if squares >= TABLE_SQUARES:
        found = (best, alpha, best_move, counters[NODES] - before)
        store_bound(position, tag, bucket, found, table)
    return best


@inline
def known_upper(position: Position, memory: SearchMemory) -> int:
    """The upper bound that the table has of a position."""
    table = memory.table
    tag, bucket = tag_of(number(TO_THE_END), table), bucket_of(position, number(TO_THE_END), table)
    slot = probe(position, tag, bucket, table)
    return INFINITE if slot < 0 else upper_of(table.slots[slot + DATA])


def search_end_exactly(
    position: Position, squares: int, alpha: int, beta: int, distance: int, memory: SearchMemory
) -> int:
    """The lead with best play where it is between `alpha` and `beta`, else a bound beyond."""
    if is_final(position.terminated, position.ply):
        return final_lead(position.own, position.opp, position.to_move)
    if memory.counters[NODES] >= memory.counters[LIMIT]:
        memory.counters[ABORTED] = 1
        return 0
    if squares <= TABLE_SQUARES:
        return narrow(position, squares, alpha, beta, distance, memory)
    moves, counters = memory.moves, memory.counters
    table = memory.table
    tag, bucket = tag_of(number(TO_THE_END), table), bucket_of(position, number(TO_THE_END), table)
    slot = probe(position, tag, bucket, table)
    move = number(NO_MOVE) if slot < 0 else end_move_of(table.slots[slot + DATA])
    count = list_end_moves(position, squares, move, distance, memory)
    counters[NODES] += count
    first = distance * moves.max_moves
    best, lower = -INFINITE, alpha
    for place in range(first, first + count):
        record = pick_best(place, first + count, moves)
        child, move = child_of(record, moves), move_at(record, moves)
        below = squares if move == noop() else squares - 1
        value = INFINITE
        if place > first:
            value = -search_end(child, below, -lower - 1, distance + 1, memory)
        if place == first or lower < value < beta:
            value = -search_end_exactly(child, below, -beta, -lower, distance + 1, memory)
        if counters[ABORTED] != 0:
            return 0
        if value > best:
            best = value
            lower = max(lower, best)
            if best >= beta:
                break
    return best


def narrow(
    position: Position, squares: int, alpha: int, beta: int, distance: int, memory: SearchMemory
) -> int:
    """As `search_end_exactly`, by null windows in the middle of what is possible."""
    low, high = max(-MOST, alpha), min(MOST, beta)
    while low < high and memory.counters[ABORTED] == 0:
        middle = (low + high) // 2
        value = search_end(position, squares, middle, distance, memory)
        if value > middle:
            low = value
        else:
            high = value
    return low


def best_end_move(
    position: Position, squares: int, lead: int, distance: int, memory: SearchMemory
) -> int:
    """A move that keeps this lead, which is the one with best play. NO_MOVE once aborted."""
    moves, counters = memory.moves, memory.counters
    count = list_end_moves(position, squares, number(NO_MOVE), distance, memory)
    counters[NODES] += count
    first = distance * moves.max_moves
    for place in range(first, first + count):
        record = pick_best(place, first + count, moves)
        move = move_at(record, moves)
        below = squares if move == noop() else squares - 1
        value = -search_end(child_of(record, moves), below, -lead, distance + 1, memory)
        if counters[ABORTED] != 0:
            return NO_MOVE
        if value >= lead:
            return move
    return NO_MOVE
