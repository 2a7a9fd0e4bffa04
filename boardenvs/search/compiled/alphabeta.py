"""Alpha-beta search: iterative deepening over principal variation search.

Fail-soft negamax with a null window after the first move (Marsland 1983), and ProbCut if asked:
where a shallow value is so far above beta, or below alpha, that the deeper one hardly comes back
into the window, it is taken for it (M. Buro, "ProbCut: an effective selective extension of the
alpha-beta algorithm", 1995). Only null windows are cut, so the line that is played is searched in
full, and only where values are points: by the tables of a learnt evaluation.

If asked, late moves are reduced: moves are in the order of what they seem worth, and later ones are
searched less deep at first, to the full depth only where they come out better than the best
(https://www.chessprogramming.org/Late_Move_Reductions).
"""

from __future__ import annotations

from boardenvs.kernel.loops import (
    ONE,
    ZERO,
    Array,
    Word,
    alternates,
    board,
    entry,
    inline,
    legal_words,
    margin_counts,
    number,
    popcount,
    step_words_no_legal,
    trailing_zeros,
    word,
    word_count,
    wrap,
)
from boardenvs.search.compiled.memory import (
    ABORTED,
    HORIZON,
    LIMIT,
    NODES,
    Budget,
    Roots,
    SearchMemory,
    begin_counting,
)
from boardenvs.search.compiled.moves import (
    child_of,
    generate_moves,
    move_at,
    order_moves,
    pick_best,
)
from boardenvs.search.compiled.position import PackedPosition, is_final, load_position, sign_of
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
    new_search,
    pack,
    probe,
    store,
    tag_of,
    value_of,
)
from boardenvs.search.compiled.tuples import forget_positions
from boardenvs.search.compiled.values import (
    DECIDED,
    INFINITE,
    final_value,
    judge_near,
    static_value,
    static_value_of,
)
from boardenvs.search.limits import SearchResults
from boardenvs.utils.splitmix import GOLDEN, mix

SHALLOWEST = 3  # plies of a search that may be cut

# How far a deeper value is from that of half the depth: the standard deviation in hundredths of a
# point, measured on random positions of Othello at depths 4 and 8. With holes it is twice that, and
# bounds as narrow play no worse there.
DEVIATION = 250


@entry
def search_positions(
    roots: Roots, rows: Array, budget: Budget, memory: SearchMemory, results: SearchResults
) -> int:
    """Search the positions of these rows, one after the other; returns how many it has searched.

    Where `roots.distance` is not 0 only an action is written: one that reaches `results.value`.
    (One function for both, since to compile the search for each takes seconds.)
    """
    counters, spent = memory.counters, 0
    for i in range(len(rows)):
        if spent >= budget.nodes_a_call:
            return i
        row = rows[i]
        root = load_position(roots.positions, row * roots.position_size)
        begin_counting(results.nodes[row], budget.nodes, counters)
        forget_positions(memory.tables)
        if roots.distance > 0:
            results.action[row] = principal_variation_move(
                root, budget.depth, results.value[row], roots.distance, memory
            )
        else:
            new_search(budget.nodes, memory.table)
            iterative_deepening(root, row, roots.seeds[row], budget.depth, memory, results)
        results.nodes[row] = counters[NODES]
        spent += counters[NODES]
    return len(rows)


def iterative_deepening(
    root: PackedPosition,
    row: int,
    seed: Word,
    max_depth: int,
    memory: SearchMemory,
    results: SearchResults,
) -> None:
    """Search deeper and deeper until `max_depth`, the limit of nodes or a proof.

    The best moves of an iteration come first in the next one. Equal moves are ordered by chance.
    """
    moves, counters = memory.moves, memory.counters
    count = generate_moves(root, number(0), number(NO_MOVE), memory)
    counters[NODES] += count
    for i in range(count):
        seed = wrap(seed + word(GOLDEN))
        moves.scores[i] = moves.scores[i] * 256 + number(mix(seed) >> word(56))
    order_moves(number(0), count, moves)
    value_before = 0
    report(number(0), number(0), number(0), row, memory, results)
    for depth in range(1, max_depth + 1):
        counters[HORIZON] = 0
        best = -INFINITE
        for i in range(count):
            value = search_root_move(root.to_move, i, depth, best, memory)
            if counters[ABORTED] != 0:
                # What is better so far in this iteration has been kept. But where it only loses,
                # the move in hand, which does not for all that is known, is the better choice.
                if i > 0 and best < -DECIDED and value_before >= -DECIDED:
                    report(i, value_before, depth - 1, row, memory, results)
                return
            moves.scores[i] = 0
            if value > best:
                best = value
                moves.scores[i] = 1 + i  # the latest best comes first, then the one before it
                report(i, best, depth, row, memory, results)
                if not margin_counts() and best > DECIDED:
                    break  # the iterations before would have found a win that is sooner
        order_moves(number(0), count, moves)
        value_before = best
        if counters[HORIZON] == 0 or (not margin_counts() and abs(best) > DECIDED):
            results.exact[row] = 1
            return


def search_root_move(to_move: Word, place: int, depth: int, best: int, memory: SearchMemory) -> int:
    """The value of a move of the root; a bound of it where it is not better than the best."""
    child = child_of(number(memory.moves.order[place]), memory.moves)
    sign, distance = sign_of(to_move, child.to_move), number(1)
    value = INFINITE
    if place > 0:
        low, high = window(sign, best, best + 1)
        value = sign * search(child, depth - 1, low, high, distance, memory)
    if value > best:
        low, high = window(sign, best, number(INFINITE))
        value = sign * search(child, depth - 1, low, high, distance, memory)
    return value


def report(
    place: int, value: int, depth: int, row: int, memory: SearchMemory, results: SearchResults
) -> None:
    """Write the root's move in this place, a value that is not exact and its depth."""
    results.action[row] = move_at(number(memory.moves.order[place]), memory.moves)
    results.value[row] = value
    results.depth[row] = depth
    results.exact[row] = 0


def search(
    position: PackedPosition,
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
        return final_value(position.words, position.to_move, distance)
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
    tag, bucket = tag_of(position, distance, table), bucket_of(position, distance, table)
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
        bound = beta + cut_margin(memory) if seems_high else beta - cut_margin(memory)
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
        value, sign = INFINITE, sign_of(position.to_move, child.to_move)
        if place > first:  # is it better than the best at all?
            low, high = window(sign, lower, lower + 1)
            less = reduction(depth, place - first) if memory.reductions == 1 else 0
            value = sign * search(child, depth - 1 - less, low, high, distance + 1, memory)
            if less > 0 and value > lower:
                value = sign * search(child, depth - 1, low, high, distance + 1, memory)
        if place == first or lower < value < beta:
            low, high = window(sign, lower, beta)
            value = sign * search(child, depth - 1, low, high, distance + 1, memory)
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
def window(sign: int, alpha: int, beta: int) -> tuple[int, int]:
    """The window (alpha, beta) as it is after a move, for values that count with this sign."""
    return (alpha, beta) if sign > 0 else (-beta, -alpha)


@inline
def search_last_ply(
    position: PackedPosition, beta: int, distance: int, memory: SearchMemory
) -> int:
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
            after = step_words_no_legal(*position.words, position.to_move, position.ply, action)
            words, then = after[: word_count()], other if alternates() else after[-2]
            counters[NODES] += 1
            if is_final(after[-1] != ZERO, ply):
                value = final_value(words, then, distance + 1)
            else:
                value = static_value(words, then, ply, memory)
                counters[HORIZON] += 1
            value *= sign_of(position.to_move, then)
            if value > best:
                best = value
                if best >= beta:
                    return best
    return best


def principal_variation_move(
    position: PackedPosition, depth: int, value: int, distance: int, memory: SearchMemory
) -> int:
    """A move whose value is `value`, the value that a search found for this position of
    its principal variation; the others are as in `search`. NO_MOVE once aborted.
    """
    table, moves, counters = memory.table, memory.moves, memory.counters
    tag, bucket = tag_of(position, distance, table), bucket_of(position, distance, table)
    slot = probe(position, tag, bucket, table)
    known = move_of(table.slots[slot + DATA]) if slot >= 0 else NO_MOVE
    count = generate_moves(position, distance, known, memory)
    counters[NODES] += count
    first = distance * moves.max_moves
    best, best_move = -INFINITE, NO_MOVE
    for place in range(first, first + count):
        record = pick_best(place, first + count, moves)
        child, move = child_of(record, moves), move_at(record, moves)
        sign = sign_of(position.to_move, child.to_move)
        low, high = window(sign, value - 1, value)
        reached = sign * search(child, depth - 1, low, high, distance + 1, memory)
        if counters[ABORTED] != 0:
            return NO_MOVE
        if reached > best:
            best, best_move = reached, move
        if best >= value:
            break
    return number(best_move)


@inline
def may_be_cut(position: PackedPosition, depth: int, beta: int) -> bool:
    """Not where the search reaches the end of the game, which it has to prove."""
    squares = number(popcount(board() ^ (position.words[0] | position.words[1])))
    return SHALLOWEST <= depth < squares and abs(beta) < DECIDED


@inline
def half_depth(depth: int) -> int:
    """The depth of the shallow search: about half, and even where the deep one is.

    Values of odd depths and of even ones differ by who moves last.
    """
    half = depth // 2
    return half - ((half ^ depth) & 1)


@inline
def reduction(depth: int, number_before: int) -> int:
    """By how many plies less a move is searched, with so many moves before it."""
    if depth < 3:
        return 0
    return (
        (1 if number_before >= 2 else 0)
        + (1 if number_before >= 6 and depth >= 4 else 0)
        + (1 if number_before >= 14 and depth >= 6 else 0)
    )


@inline
def cut_margin(memory: SearchMemory) -> int:
    """How far beyond the window a shallow value must be."""
    return number(memory.probcut * DEVIATION // 100)
