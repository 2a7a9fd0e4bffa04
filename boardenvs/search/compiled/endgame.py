"""The exact end of a game that fills up and is won by points.

Principal variation search over null-window searches, which only tell whether a score margin is
possible. Moves that leave few replies come first; the transposition table is asked about the
position and the positions after its moves (enhanced transposition cut-offs, Schaeffer and Plaat
1996); stable squares bound the margin.

Most positions have only a few empty squares left. There the search uses no table and finds moves by
making them, in an order by parity alone: it fills quarters of the board with an odd number of empty
squares first, since whoever fills the last square of a region flips there last.
"""

from __future__ import annotations

from typing import NamedTuple

from boardenvs.kernel.loops import (
    BOARD,
    FILLS_BY_CAPTURE,
    HAS_STABLE,
    LEGAL_WORDS,
    NOOP,
    ONE,
    ZERO,
    Array,
    Word,
    entry,
    inline,
    number,
    popcount,
    prefetch,
    stable,
    trailing_zeros,
    word,
    words_after,
)
from boardenvs.search.compiled.alphabeta import search
from boardenvs.search.compiled.nodes import (
    ABORTED,
    INFINITE,
    LIMIT,
    NODES,
    Budget,
    Roots,
    SearchMemory,
    begin_search,
    child_of,
    judge_near,
    margin_of,
    move_at,
    pick_best,
    put_move,
    static_value_of,
    value_of_margin,
)
from boardenvs.search.compiled.position import (
    PackedPosition,
    final_margin,
    is_final,
    load_position,
    mobility,
    play,
)
from boardenvs.search.compiled.transposition import (
    MOST_MARGIN,
    NO_MOVE,
    TO_THE_END,
    Key,
    end_move_of,
    key_of,
    lower_of,
    new_search,
    probe,
    store_bound,
    upper_of,
)
from boardenvs.search.limits import SearchResults

# Numbers of empty squares: up to the first the search does without lists of moves; from the others
# on it uses the table, looks up the positions after moves, and orders moves by costlier scores.
FEW_SQUARES = 5
TABLE_SQUARES, AHEAD_SQUARES = 7, 9
JUDGED_SQUARES, SEARCHED_SQUARES = 9, 12


class LastSquares(NamedTuple):
    """A board with few empty squares."""

    own: Word
    opp: Word
    to_move: Word
    empty: Word
    odd: Word  # the quarters of the board with an odd number of empty squares


@entry
def solve_position(
    roots: Roots, row: int, budget: Budget, memory: SearchMemory, results: SearchResults
) -> None:
    """Solve a position to the end, with `budget.depth` empty squares. If the limit of nodes is
    reached first, only their number counts, and the search that follows goes on from it.

    If `roots.distance` is not 0, write only an action: one that reaches `results.value`.
    """
    tables = memory.tables
    judged = 1 if tables.width + tables.featured > 0 else 0
    memory = SearchMemory(
        memory.table,
        memory.moves,
        memory.counters,
        memory.keys,
        tables,
        judged,
        number(0),
        number(0),
    )
    counters, squares, distance = memory.counters, budget.depth, roots.distance
    root = load_position(roots.positions, row * roots.position_size)
    begin_search(results.nodes[row], budget.nodes, memory)
    high = margin_of(results.value[row])
    low = high - 1
    if distance == 0:
        new_search(budget.nodes, budget.kept, memory.table)
        low, high = number(-INFINITE), number(INFINITE)
    margin = search_end_exactly(root, squares, low, high, distance, memory)
    if distance == 0:
        results.value[row] = value_of_margin(margin)
        results.depth[row] = squares
    results.action[row] = memory.moves.latest[distance]
    results.exact[row] = 1 - counters[ABORTED]
    results.nodes[row] = counters[NODES]


def search_end(
    position: PackedPosition, squares: int, alpha: int, distance: int, memory: SearchMemory
) -> int:
    """Return a bound that tells whether the score margin with best play is more than `alpha`; 0
    once aborted. `squares` are empty.
    """
    if is_final(position.terminated, position.ply):
        return final_margin(position.words, position.to_move)
    counters = memory.counters
    if FILLS_BY_CAPTURE and squares <= FEW_SQUARES:
        return search_few_squares(position, alpha, counters)
    if HAS_STABLE:
        most = can_reach(position, alpha)
        if most <= alpha:
            return most
    if counters[NODES] >= counters[LIMIT]:
        counters[ABORTED] = 1
        return 0
    table, moves, before = memory.table, memory.moves, counters[NODES]
    key, best_move = Key(ZERO, number(0)), number(NO_MOVE)
    if squares >= TABLE_SQUARES:
        key = key_of(position, number(TO_THE_END), table)
        data = probe(position, key, table)
        if data != ZERO:
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
        below = squares if move == NOOP else squares - 1
        child = child_of(record, moves)
        if FILLS_BY_CAPTURE and below <= FEW_SQUARES:  # a call takes longer than they do
            value = -search_few_squares(child, -alpha - 1, counters)
        else:
            value = -search_end(child, below, -alpha - 1, distance + 1, memory)
        if counters[ABORTED] != 0:
            return 0
        if value > best:
            best, best_move = value, move
            if best > alpha:
                break
    if squares >= TABLE_SQUARES:
        bound = (best, alpha, best_move, counters[NODES] - before)
        store_bound(position, key, bound, table)
    return best


@inline
def can_reach(position: PackedPosition, alpha: int) -> int:
    """Return an upper bound of the score margin: by the opponent's stable squares, or by the number
    of its squares alone if that bound is greater than `alpha`.
    """
    opp, to_move = position.words[1], position.to_move
    best = final_margin((BOARD ^ opp, opp), to_move)
    if best > alpha:
        return best
    kept = stable(*position.words)[0]
    return final_margin((BOARD ^ kept, kept), to_move)


@inline
def known_upper(position: PackedPosition, memory: SearchMemory) -> int:
    """Return the upper bound of a position in the table."""
    data = probe(position, key_of(position, number(TO_THE_END), memory.table), memory.table)
    return INFINITE if data == ZERO else upper_of(data)


def search_end_exactly(
    position: PackedPosition,
    squares: int,
    alpha: int,
    beta: int,
    distance: int,
    memory: SearchMemory,
) -> int:
    """Return the margin with best play if it is between `alpha` and `beta`, else a bound. The best
    move is the latest one at this distance.
    """
    if is_final(position.terminated, position.ply):
        return final_margin(position.words, position.to_move)
    moves, counters, table = memory.moves, memory.counters, memory.table
    if counters[NODES] >= counters[LIMIT]:
        counters[ABORTED] = 1
        return 0
    data = probe(position, key_of(position, number(TO_THE_END), table), table)
    move = number(NO_MOVE) if data == ZERO else end_move_of(data)
    count = list_end_moves(position, squares, move, distance, memory)
    counters[NODES] += count
    first = distance * moves.max_moves
    best, lower = -INFINITE, alpha
    for place in range(first, first + count):
        record = pick_best(place, first + count, moves)
        child, move = child_of(record, moves), move_at(record, moves)
        below = squares if move == NOOP else squares - 1
        value = INFINITE
        if place > first:
            value = -search_end(child, below, -lower - 1, distance + 1, memory)
        if place == first or lower < value < beta:
            if below <= TABLE_SQUARES:
                value = -narrow(child, below, -beta, -lower, distance + 1, memory)
            else:
                value = -search_end_exactly(child, below, -beta, -lower, distance + 1, memory)
        if counters[ABORTED] != 0:
            return 0
        if value > best:
            best, moves.latest[distance] = value, move
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
    """Return what `search_end_exactly` does, by bisection with null windows."""
    low, high = max(-MOST_MARGIN, alpha), min(MOST_MARGIN, beta)
    while low < high and memory.counters[ABORTED] == 0:
        middle = (low + high) // 2
        value = search_end(position, squares, middle, distance, memory)
        if value > middle:
            low = value
        else:
            high = value
    return low


# ---- the order of moves ----------------------------------------------------------------------


@inline
def list_end_moves(
    position: PackedPosition, squares: int, table_move: int, distance: int, memory: SearchMemory
) -> int:
    """List the moves of a position; return the count. The table's move is first, then those that
    leave few replies, which keeps the tree small, and a low value, but many stable squares.
    """
    moves, scores = memory.moves, memory.moves.scores
    first = place = distance * moves.max_moves
    odd = odd_quarters(BOARD ^ (position.words[0] | position.words[1]))
    if JUDGED_SQUARES <= squares < SEARCHED_SQUARES:
        judge_near(position, memory)
    for k in range(LEGAL_WORDS):
        bits = position.legal_bits[k]
        while bits != ZERO:
            square = trailing_zeros(bits)
            action = word(64 * k) + square
            bits = bits & (bits - ONE)
            child = play(position, action)
            put_move(place, action, child, moves)
            if squares > TABLE_SQUARES:
                key = key_of(child, number(TO_THE_END), memory.table)
                prefetch(memory.table.slots, key.bucket)
            if number(action) == table_move:
                scores[place] = 4 * INFINITE
            elif child.terminated:
                scores[place] = 1024 * -final_margin(child.words, child.to_move)
            else:
                points = 8 * number((odd >> square) & ONE) - 16 * mobility(child)
                if squares >= JUDGED_SQUARES:
                    if HAS_STABLE:
                        points += 5 * number(popcount(stable(*child.words)[0]))
                    points -= judge_ahead(child, squares, distance, memory) // 100
                scores[place] = points
            place += 1
    return place - first


@inline
def judge_ahead(child: PackedPosition, squares: int, distance: int, memory: SearchMemory) -> int:
    """Return the value of the position after a move, searched ahead where much depends on it,
    weighted.
    """
    if memory.judged_by_tables == 0:
        return 10 * static_value_of(child, memory)
    if squares < SEARCHED_SQUARES:
        return 4 * static_value_of(child, memory)
    depth = number((squares - SEARCHED_SQUARES) // 3 + 1)
    return 10 * search(child, depth, number(-INFINITE), number(INFINITE), distance + 1, memory)


@inline
def quarter_of(square: Word) -> Word:
    """Return the squares of the quarter of the board that contains a square."""
    return word(0x0F0F0F0F) << (square & word(36))


@inline
def odd_quarters(empty: Word) -> Word:
    """Return the quarters of the board with an odd number of empty squares."""
    odd = ZERO
    for corner in range(4):
        quarter = quarter_of(word(4 * (corner & 1) + 16 * (corner & 2)))
        if popcount(empty & quarter) & ONE == ONE:
            odd |= quarter
    return odd


# ---- the last squares ------------------------------------------------------------------------


@inline
def search_few_squares(position: PackedPosition, alpha: int, counters: Array) -> int:
    """Return `search_end` of a position with few empty squares, final ones too."""
    own, opp = position.words
    empty = BOARD ^ (own | opp)
    last = LastSquares(own, opp, position.to_move, empty, odd_quarters(empty))
    if empty & (empty - ONE) == ZERO:
        return fill_last_square(last, counters)
    return search_last_squares(last, alpha, number(0), counters)


def search_last_squares(last: LastSquares, alpha: int, passed: int, counters: Array) -> int:
    """Return the score margin with best play if it is `alpha` or `alpha + 1`, else a bound, with
    two empty squares or more. `passed` is 1 if the opponent has just passed.
    """
    own, opp, to_move, empty, odd = last
    best, other = -INFINITE, to_move ^ ONE
    first = empty & odd
    rest = empty ^ first
    while first | rest != ZERO:
        if first == ZERO:
            first, rest = rest, ZERO
        square = trailing_zeros(first)
        after = first & (first - ONE)
        bit, first = first ^ after, after
        theirs, mine, _ = words_after(own, opp, ZERO, square)
        if theirs != opp:
            counters[NODES] += 1
            below = LastSquares(theirs, mine, other, empty ^ bit, odd ^ quarter_of(square))
            if below.empty & (below.empty - ONE) == ZERO:
                value = -fill_last_square(below, counters)
            else:
                value = -search_last_squares(below, -alpha - 1, number(0), counters)
            if value > best:
                best = value
                if best > alpha:
                    return best
    if best > -INFINITE:
        return best
    if passed == 1:
        return final_margin((own, opp), to_move)
    counters[NODES] += 1
    turned_over = LastSquares(opp, own, other, empty, odd)
    return -search_last_squares(turned_over, -alpha - 1, number(1), counters)


@inline
def fill_last_square(last: LastSquares, counters: Array) -> int:
    """Return the score margin after either side, if it can, fills the last square."""
    own, opp, to_move, empty, _ = last
    square = trailing_zeros(empty)
    theirs, mine, _ = words_after(own, opp, ZERO, square)
    if theirs != opp:
        counters[NODES] += 1
        return final_margin((mine, theirs), to_move)
    mine, theirs, _ = words_after(opp, own, ZERO, square)
    if mine != own:
        counters[NODES] += 2  # the pass and the move
    else:
        theirs = opp
    return final_margin((mine, theirs), to_move)
