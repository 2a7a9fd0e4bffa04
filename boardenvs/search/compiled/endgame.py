"""The exact end of a game that fills up and is won by points.

Principal variation search over searches with a null window, which only tell whether a score margin
can be had. They use what the field of Othello programs does: moves that leave few replies first,
the transposition table of the position and of those after its moves (enhanced transposition
cut-offs, Schaeffer and Plaat 1996), and stable squares, which put a margin out of reach.
"""

from __future__ import annotations

from boardenvs.kernel.loops import (
    ONE,
    ZERO,
    board,
    entry,
    fills_by_capture,
    has_stable,
    inline,
    legal_words,
    noop,
    number,
    popcount,
    stable,
    trailing_zeros,
    word,
)
from boardenvs.search.compiled.alphabeta import search
from boardenvs.search.compiled.last_squares import FEW_SQUARES, odd_quarters, search_last_squares
from boardenvs.search.compiled.memory import (
    ABORTED,
    LIMIT,
    NODES,
    Budget,
    Roots,
    SearchMemory,
    begin_counting,
    judging_by_tables,
)
from boardenvs.search.compiled.moves import child_of, move_at, pick_best, put_move
from boardenvs.search.compiled.position import (
    PackedPosition,
    final_margin,
    is_final,
    load_position,
    mobility,
    play,
)
from boardenvs.search.compiled.transposition import (
    DATA,
    MOST_MARGIN,
    NO_MOVE,
    TO_THE_END,
    bucket_of,
    end_move_of,
    lower_of,
    new_search,
    probe,
    store_bound,
    tag_of,
    upper_of,
)
from boardenvs.search.compiled.tuples import forget_positions
from boardenvs.search.compiled.values import (
    INFINITE,
    judge_near,
    margin_of,
    static_value,
    value_of_margin,
)
from boardenvs.search.limits import SearchResults

# From so many empty squares on the table is used, and asked about the positions after the moves.
TABLE_SQUARES, AHEAD_SQUARES = 7, 9
# From so many empty squares on, what costs more than counting replies helps to order moves.
JUDGED_SQUARES, STABLE_SQUARES, SEARCHED_SQUARES = 8, 8, 12


@entry
def solve_position(
    roots: Roots, row: int, budget: Budget, memory: SearchMemory, results: SearchResults
) -> None:
    """Solve a position to the end, with `budget.depth` empty squares, or give up: if the limit of
    nodes is met first only their number counts, and the search that follows counts on from there.

    Where `roots.distance` is not 0 only an action is written: one that reaches `results.value`.
    """
    memory = judging_by_tables(memory)
    counters, squares, distance = memory.counters, budget.depth, roots.distance
    root = load_position(roots.positions, row * roots.position_size)
    begin_counting(results.nodes[row], budget.nodes, counters)
    forget_positions(memory.tables)
    if distance == 0:
        new_search(budget.nodes, memory.table)
        low, high = number(-INFINITE), number(INFINITE)
        margin = search_end_exactly(root, squares, low, high, distance, memory)
        results.value[row] = value_of_margin(margin)
        results.depth[row] = squares
    results.action[row] = best_end_move(
        root, squares, margin_of(results.value[row]), distance, memory
    )
    results.exact[row] = 1 - counters[ABORTED]
    results.nodes[row] = counters[NODES]


@inline
def can_reach(position: PackedPosition, alpha: int) -> int:
    """The greatest score margin that stable squares leave possible; not worked out where it is
    greater than `alpha` by the number of the opponent's squares alone.
    """
    opp, to_move = position.words[1], position.to_move
    best = final_margin((board() ^ opp, opp), to_move)
    if best > alpha:
        return best
    kept = stable(*position.words)[0]
    return final_margin((board() ^ kept, kept), to_move)


def search_end(
    position: PackedPosition, squares: int, alpha: int, distance: int, memory: SearchMemory
) -> int:
    """Whether the score margin with best play is more than `alpha`: a bound of it on the side where
    it is; 0 once aborted. `squares` are empty; `distance` is that from the root.
    """
    if is_final(position.terminated, position.ply):
        return final_margin(position.words, position.to_move)
    counters = memory.counters
    if fills_by_capture() and squares <= FEW_SQUARES:
        return search_last_squares(position, alpha, counters)
    if has_stable():
        most = can_reach(position, alpha)
        if most <= alpha:
            return most
    if counters[NODES] >= counters[LIMIT]:
        counters[ABORTED] = 1
        return 0
    table, moves, before = memory.table, memory.moves, counters[NODES]
    tag, bucket, best_move = tag_of(position, number(TO_THE_END), table), number(0), number(NO_MOVE)
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
def known_upper(position: PackedPosition, memory: SearchMemory) -> int:
    """The upper bound that the table has of a position."""
    table = memory.table
    tag, bucket = (
        tag_of(position, number(TO_THE_END), table),
        bucket_of(position, number(TO_THE_END), table),
    )
    slot = probe(position, tag, bucket, table)
    return INFINITE if slot < 0 else upper_of(table.slots[slot + DATA])


def search_end_exactly(
    position: PackedPosition,
    squares: int,
    alpha: int,
    beta: int,
    distance: int,
    memory: SearchMemory,
) -> int:
    """The margin with best play where it is between `alpha` and `beta`, else a bound beyond."""
    if is_final(position.terminated, position.ply):
        return final_margin(position.words, position.to_move)
    if memory.counters[NODES] >= memory.counters[LIMIT]:
        memory.counters[ABORTED] = 1
        return 0
    if squares <= TABLE_SQUARES:
        return narrow(position, squares, alpha, beta, distance, memory)
    moves, counters = memory.moves, memory.counters
    table = memory.table
    tag, bucket = (
        tag_of(position, number(TO_THE_END), table),
        bucket_of(position, number(TO_THE_END), table),
    )
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
    position: PackedPosition,
    squares: int,
    alpha: int,
    beta: int,
    distance: int,
    memory: SearchMemory,
) -> int:
    """As `search_end_exactly`, by null windows in the middle of what is possible."""
    low, high = max(-MOST_MARGIN, alpha), min(MOST_MARGIN, beta)
    while low < high and memory.counters[ABORTED] == 0:
        middle = (low + high) // 2
        value = search_end(position, squares, middle, distance, memory)
        if value > middle:
            low = value
        else:
            high = value
    return low


def best_end_move(
    position: PackedPosition, squares: int, margin: int, distance: int, memory: SearchMemory
) -> int:
    """A move that keeps this margin, which is the one with best play. NO_MOVE once aborted."""
    moves, counters = memory.moves, memory.counters
    count = list_end_moves(position, squares, number(NO_MOVE), distance, memory)
    counters[NODES] += count
    first = distance * moves.max_moves
    for place in range(first, first + count):
        record = pick_best(place, first + count, moves)
        move = move_at(record, moves)
        below = squares if move == noop() else squares - 1
        value = -search_end(child_of(record, moves), below, -margin, distance + 1, memory)
        if counters[ABORTED] != 0:
            return NO_MOVE
        if value >= margin:
            return move
    return NO_MOVE


def list_end_moves(
    position: PackedPosition, squares: int, table_move: int, distance: int, memory: SearchMemory
) -> int:
    """List the moves of a position with so many empty squares; returns how many.

    First the table's move, then by `end_score`.
    """
    moves, scores = memory.moves, memory.moves.scores
    first = place = distance * moves.max_moves
    odd = odd_quarters(board() ^ (position.words[0] | position.words[1]))
    if JUDGED_SQUARES <= squares < SEARCHED_SQUARES:
        judge_near(position, memory)
    for k in range(legal_words()):
        bits = position.legal_bits[k]
        while bits != ZERO:
            square = trailing_zeros(bits)
            action = word(64 * k) + square
            bits = bits & (bits - ONE)
            child = play(position, action)
            put_move(place, action, child, moves)
            if number(action) == table_move:
                scores[place] = 4 * INFINITE
            elif child.terminated:
                scores[place] = 1024 * -final_margin(child.words, child.to_move)
            else:
                fills_odd = number((odd >> square) & ONE)
                scores[place] = end_score(child, squares, distance, memory) + 2 * fills_odd
            place += 1
    return place - first


def end_score(child: PackedPosition, squares: int, distance: int, memory: SearchMemory) -> int:
    """How good a move seems, by the position after it: few replies first (fastest first: they make
    the tree small), then what it seems to be worth, and what the mover has for good.
    """
    points = -16 * mobility(child)
    if squares >= STABLE_SQUARES and has_stable():
        points += 5 * number(popcount(stable(*child.words)[0]))
    if squares >= SEARCHED_SQUARES and memory.judged_by_tables == 1:
        depth = number((squares - SEARCHED_SQUARES) // 3 + 1)
        value = search(child, depth, number(-INFINITE), number(INFINITE), distance + 1, memory)
        points -= 8 * value // 100
    elif squares >= JUDGED_SQUARES:
        value = static_value(child.words, child.to_move, child.ply, memory)
        points -= (3 if memory.judged_by_tables == 1 else 10) * value // 100
    return points
