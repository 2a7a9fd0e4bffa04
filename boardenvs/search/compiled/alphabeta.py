"""Alpha-beta search: iterative deepening over principal variation search.

Fail-soft negamax with a null window after the first move (Marsland 1983). Two options search less:

- ProbCut (M. Buro, 1995): where a shallow search lies so far above beta, or below alpha, that the
  deep one hardly comes back into the window, the shallow one decides. Only null windows are cut, so
  that the line that is played is searched in full, and only with values in points, which the tables
  of a learnt evaluation give.
- Late move reductions (https://www.chessprogramming.org/Late_Move_Reductions): later moves are
  searched less deep, and to the full depth only if they come out better than the best.
"""

from __future__ import annotations

from boardenvs.kernel.loops import (
    ALTERNATES,
    BOARD,
    HAS_FORCING,
    HISTORY,
    LEGAL_WORDS,
    MARGIN_COUNTS,
    NOOP,
    ONE,
    WORD_COUNT,
    ZERO,
    Array,
    Word,
    begin,
    entry,
    forcing,
    inline,
    number,
    pieces,
    popcount,
    step_words_no_legal,
    trailing_zeros,
    word,
    wrap,
)
from boardenvs.search.compiled.nodes import (
    ABORTED,
    DECIDED,
    HORIZON,
    INFINITE,
    LIMIT,
    NODES,
    UNPROVEN,
    Budget,
    Roots,
    SearchMemory,
    begin_search,
    child_of,
    final_value,
    generate_moves,
    is_legal,
    judge_near,
    move_at,
    order_moves,
    pick_best,
    play_at,
    put_move,
    repeats_at,
    static_value,
    static_value_of,
)
from boardenvs.search.compiled.position import (
    PackedPosition,
    is_final,
    key_of_words,
    load_position,
    mobility,
    sign_of,
    with_repeats,
)
from boardenvs.search.compiled.transposition import (
    EXACT,
    LOWER,
    NO_HORIZON,
    NO_MOVE,
    UPPER,
    cuts_off,
    depth_of,
    key_of,
    move_of,
    new_search,
    pack,
    probe,
    store,
    value_of,
)
from boardenvs.search.limits import SearchResults
from boardenvs.utils.splitmix import GOLDEN, mix

SHALLOW = 2  # plies of a search that orders moves without the values of tables


@entry
def search_positions(
    roots: Roots, rows: Array, budget: Budget, memory: SearchMemory, results: SearchResults
) -> int:
    """Search the positions of these rows, one after the other; return how many were searched.

    Of a position with fewer legal actions than `budget.fewest` write only its first, or noop.

    If `roots.distance` is not 0, write only an action: one that reaches `results.value`. (One
    function for both, since compiling the search twice would take seconds.)
    """
    counters, spent = memory.counters, 0
    for i in range(len(rows)):
        if spent >= budget.nodes_a_call:
            return i
        row = rows[i]
        root = load_position(roots.positions, row * roots.position_size)
        if mobility(root) < budget.fewest:
            results.action[row] = first_action(root)
            continue
        begin_search(results.nodes[row], budget.nodes, memory)
        for k in range(HISTORY):
            keys_end = roots.distance + HISTORY - 1
            memory.keys[keys_end - k] = roots.keys[row * HISTORY + k]
        if roots.distance > 0:
            value = results.value[row]
            search(root, budget.depth, value - 1, value + 1, roots.distance, memory)
            results.action[row] = memory.moves.latest[roots.distance]
        else:
            new_search(budget.nodes, budget.kept, memory.table)
            iterative_deepening(root, row, roots.seeds[row], budget.depth, memory, results)
        results.nodes[row] = counters[NODES]
        spent += counters[NODES]
    return len(rows)


def first_action(position: PackedPosition) -> int:
    """Return the lowest legal action; noop if the game is over."""
    for k in range(LEGAL_WORDS):
        if position.legal_bits[k] != ZERO:
            return 64 * k + number(trailing_zeros(position.legal_bits[k]))
    return NOOP


def iterative_deepening(
    root: PackedPosition,
    row: int,
    seed: Word,
    max_depth: int,
    memory: SearchMemory,
    results: SearchResults,
) -> None:
    """Search deeper and deeper until `max_depth`, the limit of nodes or a proof.

    The best moves of an iteration come first in the next one. The seed orders equal moves.
    """
    moves, counters = memory.moves, memory.counters
    if HISTORY:
        memory.keys[HISTORY] = key_of_words(root.words)
    count = generate_moves(root, number(0), number(NO_MOVE), number(1), memory)
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
                # The best move of this iteration so far has been kept. But if it only loses, the
                # move of the iteration before, not known to lose, is the better choice.
                if i > 0 and best < -DECIDED and value_before >= -DECIDED:
                    report(i, value_before, depth - 1, row, memory, results)
                return
            moves.scores[i] = 0
            if value > best:
                best = value
                moves.scores[i] = 1 + i  # the latest best comes first, then the one before it
                report(i, best, depth, row, memory, results)
                if not MARGIN_COUNTS and best > DECIDED:
                    break  # a sooner win would have been found by the iterations before
        order_moves(number(0), count, moves)
        value_before = best
        if counters[HORIZON] == 0 or (not MARGIN_COUNTS and abs(best) > DECIDED):
            results.exact[row] = 1
            return


def search_root_move(to_move: Word, place: int, depth: int, best: int, memory: SearchMemory) -> int:
    """Return the value of a move of the root, or a bound if it is not better than the best."""
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
    """Write the root's move in this place, with its value, not exact yet, and depth."""
    results.action[row] = move_at(number(memory.moves.order[place]), memory.moves)
    results.value[row] = value
    results.depth[row] = depth
    results.exact[row] = 0


def search(
    position: PackedPosition, depth: int, alpha: int, beta: int, distance: int, memory: SearchMemory
) -> int:
    """Return the value to the side to move; outside of (alpha, beta) a bound, 0 once aborted."""
    if is_final(position.terminated, position.ply):
        return final_value(position.words, position.to_move, distance)
    counters, table, moves = memory.counters, memory.table, memory.moves
    if HISTORY:
        memory.keys[HISTORY + distance] = key_of_words(position.words)
    if depth == 0:
        if HAS_FORCING:
            return play_out(position, alpha, beta, distance, memory)
        counters[HORIZON] += 1
        return static_value_of(position, memory)
    if depth == 1 and not HAS_FORCING:
        return search_last_ply(position, beta, distance, memory)
    if counters[NODES] >= counters[LIMIT]:
        counters[ABORTED] = 1
        return 0
    key = key_of(position, number(position.ply & word(127)), table)  # less than TO_THE_END
    data = probe(position, key, table)
    best_move = move_of(data) if data != ZERO else NO_MOVE
    if data != ZERO and depth_of(data) >= depth and cuts_off(data, alpha, beta):
        counters[HORIZON] += 1 if depth_of(data) < NO_HORIZON else 0
        moves.latest[distance] = best_move
        return value_of(data)
    horizon = counters[HORIZON]
    if memory.probcut > 0 and beta == alpha + 1 and may_be_cut(position, depth, beta):
        counters[NODES] += 1  # so that a limit ends a search that is cut again and again
        value, shallow = static_value_of(position, memory), half_depth(depth)
        gain = mean_gain(position, shallow)
        seems_high, margin = value + gain >= beta, cut_margin(position, depth - shallow, memory)
        bound = (beta + margin if seems_high else beta - margin) - gain
        if shallow > 0:
            value = search(position, shallow, bound - 1, bound, distance, memory)
        if (value >= bound) == seems_high:
            counters[HORIZON] += 1
            return beta if seems_high else alpha
    first = place = distance * moves.max_moves
    judged = 1 if depth > SHALLOW or memory.judged_by_tables == 0 else 0
    tried, count = first_moves(position, distance, best_move, judged, memory)
    counters[NODES] += count
    best, lower = -INFINITE, alpha
    while place < first + count:
        record = pick_best(place, first + count, moves)
        child, move = child_of(record, moves), move_at(record, moves)
        value, sign = INFINITE, sign_of(position.to_move, child.to_move)
        if place > first:  # first a null window: is it better than the best at all?
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
        place += 1
        if move == tried:
            count += generate_moves(position, place, tried, judged, memory)
            counters[NODES] += count - 1
    moves.latest[distance] = best_move
    bound = LOWER if best >= beta else (EXACT if best > alpha else UPPER)
    reach = NO_HORIZON if counters[HORIZON] == horizon else depth
    store(position, key, pack(best, reach, bound, best_move), table)
    return best


def play_out(
    position: PackedPosition, alpha: int, beta: int, distance: int, memory: SearchMemory
) -> int:
    """Return the value after all forcing moves (quiescence search), as of `search`, but never a
    proof.
    """
    counters, moves = memory.counters, memory.moves
    if HISTORY:
        memory.keys[HISTORY + distance] = key_of_words(position.words)
    legal_bits = forcing(*position.words, position.to_move, *position.legal_bits)
    forced = PackedPosition(position.words, legal_bits, position.to_move, position.ply, False)
    ends = distance + 1 == len(moves.latest) or counters[NODES] >= counters[LIMIT]
    counters[HORIZON] += 1
    best, first, count = -INFINITE, distance * moves.max_moves, number(0)
    if ends or mobility(forced) < mobility(position):  # else the side has no other move
        best = static_value_of(position, memory)
    if not ends and best < beta:
        count = generate_moves(forced, first, number(NO_MOVE), number(1), memory)
    counters[NODES] += count
    for place in range(first, first + count):
        child = child_of(pick_best(place, first + count, moves), moves)
        sign = sign_of(position.to_move, child.to_move)
        low, high = window(sign, max(alpha, best), beta)
        if is_final(child.terminated, child.ply):
            value = final_value(child.words, child.to_move, distance + 1)
            value = max(-UNPROVEN, min(value, UNPROVEN))
        else:
            value = play_out(child, low, high, distance + 1, memory)
        best = max(best, sign * value)
        if best >= beta:
            break
    return best


@inline
def first_moves(
    position: PackedPosition, distance: int, best_move: int, judged: int, memory: SearchMemory
) -> tuple[int, int]:
    """List the move to try first, since often no other is needed, or all if none is known; return
    that move, or NO_MOVE, and the number of listed moves.
    """
    moves, tried = memory.moves, best_move
    first, latest = distance * moves.max_moves, moves.latest[distance]
    if tried == NO_MOVE and judged == 0 and is_legal(latest, position):
        tried = number(latest)
    if tried == NO_MOVE:
        return tried, generate_moves(position, first, tried, judged, memory)
    put_move(first, word(tried), play_at(distance, position, word(tried), memory), moves)
    return tried, 1


@inline
def window(sign: int, alpha: int, beta: int) -> tuple[int, int]:
    """Return the window (alpha, beta) after a move, for values with this sign."""
    return (alpha, beta) if sign > 0 else (-beta, -alpha)


@inline
def search_last_ply(
    position: PackedPosition, beta: int, distance: int, memory: SearchMemory
) -> int:
    """Return the value one ply deep."""
    counters = memory.counters
    best = -INFINITE
    other, ply = position.to_move ^ ONE, position.ply + ONE
    judge_near(position, memory)
    latest = memory.moves.latest
    likely = word(latest[distance])
    for k in range(LEGAL_WORDS):
        bits = position.legal_bits[k]
        while bits != ZERO:
            action = word(64 * k) + trailing_zeros(bits)
            if likely >> word(6) == word(k) and (bits >> (likely & word(63))) & ONE == ONE:
                action = likely
            bits ^= ONE << (action & word(63))
            after = step_words_no_legal(*position.words, position.to_move, position.ply, action)
            words, then = after[:WORD_COUNT], other if ALTERNATES else after[-2]
            over = after[-1] != ZERO
            if HISTORY:
                repeats = repeats_at(distance, words, memory)
                if repeats > ZERO:
                    words = with_repeats(words, repeats)
                    over = begin(*words, then, ply)[-1] != ZERO
            counters[NODES] += 1
            if is_final(over, ply):
                value = final_value(words, then, distance + 1)
            else:
                value = static_value(words, then, ply, memory)
                counters[HORIZON] += 1
            value *= sign_of(position.to_move, then)
            if value > best:
                best = value
                latest[distance] = number(action)
                if best >= beta:
                    return best
    return best


@inline
def may_be_cut(position: PackedPosition, depth: int, beta: int) -> bool:
    """Return whether ProbCut may cut here: not if the search reaches, and has to prove, the end."""
    squares = number(popcount(BOARD) - pieces(*position.words)[0])
    return depth < squares and abs(beta) < DECIDED


@inline
def half_depth(depth: int) -> int:
    """Return the depth of the shallow search: about half, and even if the deep one is."""
    return depth // 2 - (depth // 2 + depth) % 2


@inline
def mean_gain(position: PackedPosition, shallow: int) -> int:
    """Return how much higher deep values are than shallow ones on average, in hundredths of a
    point.

    Measured on 324 positions of Othello, up to three random plies after those of games. With holes
    it is about 0.
    """
    if popcount(BOARD) < word(64):
        return 0
    return number(pieces(*position.words)[0]) * (4 if shallow == 0 else 2)


@inline
def cut_margin(position: PackedPosition, less: int, memory: SearchMemory) -> int:
    """Return how far beyond the window a value must be that is searched `less` plies less deep.

    The standard deviation of deep values from these, in hundredths of a point, was measured on
    1,600 positions of games of Othello at depths up to 10. With holes it is greater, and play is no
    worse with this one.
    """
    discs = min(number(pieces(*position.words)[0]), 40)
    deviation = (60 + 18 * discs * discs // 100) * (13 if less > 2 else 10)
    return number(memory.probcut * deviation // 1000)


@inline
def reduction(depth: int, moves_before: int) -> int:
    """Return the plies by which a move is searched less deep."""
    if depth < 3:
        return 0
    return (
        (1 if moves_before >= 2 else 0)
        + (1 if moves_before >= 6 and depth >= 4 else 0)
        + (1 if moves_before >= 14 and depth >= 6 else 0)
    )
