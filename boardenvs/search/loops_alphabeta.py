"""Alpha-beta search, linked after `loops_random`.

Fail-soft negamax with a null window after the first move (principal variation search, Marsland
1983), a transposition table (Zobrist 1970) and iterative deepening with the best moves first.
"""

from __future__ import annotations

from boardenvs.kernel.loops import (
    MAX_PLY,
    ONE,
    OVER,
    WIDTH,
    WORDS,
    ZERO,
    Array,
    Node,
    Word,
    advance,
    arrive,
    evaluate,
    load,
    number,
    points,
    popcount,
    store,
    trailing_zeros,
    word,
    wrap,
)
from boardenvs.search.loops_random import GOLDEN, mix

# Set by the linker: whether a game is better won by more points than sooner.
MARGIN = 0
MAX_MOVES = 513  # an upper bound of the moves in a position

# A decided game is worth this, plus the margin or less the plies until then.
WIN = 1_000_000
DECIDED = WIN // 2  # values beyond it are of games that are won or lost
INFINITE = 2_000_000

# A slot of the table: own, opp, tag (generation and distance from the root), data.
SLOT = 4
EXACT, LOWER, UPPER = 0, 1, 2
FOR_EVER = 255  # the depth of a value that no horizon has bounded
NO_MOVE = 1023
BIAS = 1 << 23

# Counters of a search.
NODES, LIMIT, ABORTED, HORIZON, COUNTERS = 0, 1, 2, 3, 4


def is_final(over: Word, ply: Word) -> bool:
    """Whether the game ends here, by its rules or by its cap."""
    return over != ZERO or ply >= word(MAX_PLY)


def final_value(own: Word, opp: Word, to_move: Word, distance: int) -> int:
    """What the end of a game is worth to the side to move."""
    mine, theirs = points(own, opp, to_move)
    lead = number(mine) - number(theirs)
    if lead == 0:
        return 0
    if MARGIN == 1:
        return WIN + lead if lead > 0 else lead - WIN
    return WIN - distance if lead > 0 else distance - WIN


def static_value(own: Word, opp: Word, to_move: Word, ply: Word) -> int:
    """What the heuristic says of a position that is not over."""
    mine, theirs = evaluate(own, opp, to_move, ply)
    return number(mine) - number(theirs)


def bucket_of(node: Node, distance: int, table: Array) -> int:
    """Where the two slots of a position begin."""
    key = wrap(node[0] * word(0x9E3779B97F4A7C15)) ^ wrap(node[1] * word(0xC2B2AE3D27D4EB4F))
    key = wrap((key ^ (key >> word(29))) * word(0xBF58476D1CE4E5B9)) ^ word(distance)
    buckets = word(len(table) // (2 * SLOT))
    return number((key ^ (key >> word(32))) & (buckets - ONE)) * 2 * SLOT


def find(node: Node, tag: Word, bucket: int, table: Array) -> int:
    """The slot that holds the position, or -1."""
    for slot in range(bucket, bucket + 2 * SLOT, SLOT):
        if table[slot] == node[0] and table[slot + 1] == node[1] and table[slot + 2] == tag:
            return slot
    return -1


def depth_of(data: Word) -> int:
    return number((data >> word(24)) & word(255))


def remember(
    node: Node, tag: Word, bucket: int, depth: int, value: int, bound: int, move: int, table: Array
) -> None:
    """Store a value: in the first slot if it is from a deeper search, else in the second."""
    slot = bucket
    old = table[slot + 2]
    here = table[slot] == node[0] and table[slot + 1] == node[1] and old == tag
    current = (old >> word(8)) == (tag >> word(8))
    if current and not here and depth_of(table[slot + 3]) > depth:
        slot = bucket + SLOT
    table[slot] = node[0]
    table[slot + 1] = node[1]
    table[slot + 2] = tag
    table[slot + 3] = (
        word(value + BIAS)
        | (word(depth) << word(24))
        | (word(bound) << word(32))
        | (word(move) << word(34))
    )


def expand(
    node: Node, to_move: Word, ply: Word, distance: int, best: int, buffer: Array, keys: Array
) -> int:
    """Store the successors of a node and the keys that order them; returns how many there are.

    A successor's record is its node and the action that leads to it.
    """
    first = distance * MAX_MOVES
    count = 0
    for k in range(WORDS):
        bits = node[2 + k]
        while bits != ZERO:
            action = word(64 * k) + trailing_zeros(bits)
            bits = bits & (bits - ONE)
            child = advance(node[0], node[1], to_move, ply, action)
            record = (first + count) * (WIDTH + 1)
            store(buffer, record, child)
            buffer[record + WIDTH] = action
            if number(action) == best:
                keys[first + count] = 4 * INFINITE
            else:
                value = static_value(child[0], child[1], to_move ^ ONE, ply + ONE)
                if child[OVER] != ZERO:
                    value = final_value(child[0], child[1], to_move ^ ONE, distance + 1)
                keys[first + count] = -value - 2 * replies(child)
            count += 1
    return count


def replies(node: Node) -> int:
    """The number of legal actions."""
    count = ZERO
    for k in range(WORDS):
        count += popcount(node[2 + k])
    return number(count)


def bring_best(first: int, i: int, count: int, buffer: Array, keys: Array) -> None:
    """Exchange record i with the one of the highest key from i on."""
    best = i
    for k in range(i + 1, count):
        if keys[first + k] > keys[first + best]:
            best = k
    if best != i:
        keys[first + i], keys[first + best] = keys[first + best], keys[first + i]
        one, other = (first + i) * (WIDTH + 1), (first + best) * (WIDTH + 1)
        for k in range(WIDTH + 1):
            buffer[one + k], buffer[other + k] = buffer[other + k], buffer[one + k]


def frontier(
    node: Node, to_move: Word, ply: Word, distance: int, beta: int, counters: Array
) -> int:
    """The value one ply deep."""
    best = -INFINITE
    for k in range(WORDS):
        bits = node[2 + k]
        while bits != ZERO:
            action = word(64 * k) + trailing_zeros(bits)
            bits = bits & (bits - ONE)
            own, opp, over = arrive(node[0], node[1], to_move, ply, action)
            counters[NODES] += 1
            if is_final(over, ply + ONE):
                value = -final_value(own, opp, to_move ^ ONE, distance + 1)
            else:
                value = -static_value(own, opp, to_move ^ ONE, ply + ONE)
                counters[HORIZON] += 1
            if value > best:
                best = value
                if best >= beta:
                    return best
    return best


def search(
    node: Node,
    to_move: Word,
    ply: Word,
    distance: int,
    depth: int,
    alpha: int,
    beta: int,
    generation: Word,
    table: Array,
    buffer: Array,
    keys: Array,
    counters: Array,
) -> int:
    """The value to the side to move; a bound of it outside of (alpha, beta), 0 once aborted."""
    if is_final(node[OVER], ply):
        return final_value(node[0], node[1], to_move, distance)
    if depth == 0:
        counters[HORIZON] += 1
        return static_value(node[0], node[1], to_move, ply)
    if depth == 1:
        return frontier(node, to_move, ply, distance, beta, counters)
    if counters[NODES] >= counters[LIMIT]:
        counters[ABORTED] = 1
        return 0
    tag = (generation << word(8)) | word(distance)
    bucket = bucket_of(node, distance, table)
    slot = find(node, tag, bucket, table)
    best_move = NO_MOVE
    if slot >= 0:
        data = table[slot + 3]
        best_move = number(data >> word(34))
        if depth_of(data) >= depth:
            value = number(data & word(0xFFFFFF)) - BIAS
            bound = number((data >> word(32)) & word(3))
            if (
                bound == EXACT
                or (bound == LOWER and value >= beta)
                or (bound == UPPER and value <= alpha)
            ):
                if depth_of(data) < FOR_EVER:
                    counters[HORIZON] += 1
                return value
    horizon = counters[HORIZON]
    first = distance * MAX_MOVES
    count = expand(node, to_move, ply, distance, best_move, buffer, keys)
    counters[NODES] += count
    best, lower = -INFINITE, alpha
    for i in range(count):
        bring_best(first, i, count, buffer, keys)
        record = (first + i) * (WIDTH + 1)
        child = load(buffer, record)
        value = INFINITE
        if i > 0:  # is it better than the best at all?
            value = -search(
                child, to_move ^ ONE, ply + ONE, distance + 1, depth - 1, -lower - 1, -lower,
                generation, table, buffer, keys, counters,
            )  # fmt: skip
        if i == 0 or (lower < value < beta):
            value = -search(
                child, to_move ^ ONE, ply + ONE, distance + 1, depth - 1, -beta, -lower,
                generation, table, buffer, keys, counters,
            )  # fmt: skip
        if counters[ABORTED] != 0:
            return 0
        if value > best:
            best = value
            best_move = number(buffer[record + WIDTH])
            lower = max(lower, best)
            if best >= beta:
                break
    bound = LOWER if best >= beta else (EXACT if best > alpha else UPPER)
    reach = FOR_EVER if counters[HORIZON] == horizon else depth
    remember(node, tag, bucket, reach, best, bound, best_move, table)
    return best


def think(
    root: Node,
    to_move: Word,
    ply: Word,
    max_depth: int,
    seed: Word,
    generation: Word,
    table: Array,
    buffer: Array,
    keys: Array,
    counters: Array,
    out: Array,
) -> None:
    """Deepen until `max_depth`, the limit of nodes or a proof; for a position that is not over.

    Writes to `out`: the best action, its value, the depth of the iteration that the value is from,
    and 1 if no horizon has bounded it. Equal moves are ordered by chance.
    """
    counters[ABORTED] = 0
    count = expand(root, to_move, ply, 0, NO_MOVE, buffer, keys)
    counters[NODES] += count
    for i in range(count):
        seed = wrap(seed + word(GOLDEN))
        keys[i] = keys[i] * 256 + number(mix(seed) >> word(56))
    for i in range(count):
        bring_best(0, i, count, buffer, keys)
    value_before = 0
    write(buffer, 0, 0, 0, out)
    for depth in range(1, max_depth + 1):
        counters[HORIZON] = 0
        best = -INFINITE
        for i in range(count):
            child = load(buffer, i * (WIDTH + 1))
            value = INFINITE
            if i > 0:
                value = -search(
                    child, to_move ^ ONE, ply + ONE, number(1), depth - 1, -best - 1, -best,
                    generation, table, buffer, keys, counters,
                )  # fmt: skip
            if value > best:
                value = -search(
                    child, to_move ^ ONE, ply + ONE, number(1), depth - 1, number(-INFINITE), -best,
                    generation, table, buffer, keys, counters,
                )  # fmt: skip
            if counters[ABORTED] != 0:
                # What is better so far in this iteration has been kept. But where it only loses,
                # the move in hand, which does not for all that is known, is the better choice.
                if i > 0 and best < -DECIDED and value_before >= -DECIDED:
                    write(buffer, i, value_before, depth - 1, out)
                return
            keys[i] = 0
            if value > best:
                best = value
                keys[i] = 1 + i  # the latest best comes first, then the one before it
                write(buffer, i, best, depth, out)
                if MARGIN == 0 and best > DECIDED:
                    break  # the iterations before would have found a win that is sooner
        for i in range(count):
            bring_best(0, i, count, buffer, keys)
        value_before = best
        if counters[HORIZON] == 0 or (MARGIN == 0 and abs(best) > DECIDED):
            out[3] = 1
            return


def write(buffer: Array, record: int, value: int, depth: int, out: Array) -> None:
    """Write the action of a record, a value that is not exact and its depth."""
    out[0] = number(buffer[record * (WIDTH + 1) + WIDTH])
    out[1] = value
    out[2] = depth
    out[3] = 0


def follow(
    node: Node,
    to_move: Word,
    ply: Word,
    distance: int,
    depth: int,
    value: int,
    generation: Word,
    table: Array,
    buffer: Array,
    keys: Array,
    counters: Array,
) -> int:
    """An action that reaches the value which a search has found for this position on its line."""
    tag = (generation << word(8)) | word(distance)
    slot = find(node, tag, bucket_of(node, distance, table), table)
    known = number(table[slot + 3] >> word(34)) if slot >= 0 else NO_MOVE
    first = distance * MAX_MOVES
    count = expand(node, to_move, ply, distance, known, buffer, keys)
    best, action = -INFINITE, NO_MOVE
    for i in range(count):
        bring_best(first, i, count, buffer, keys)
        record = (first + i) * (WIDTH + 1)
        reached = -search(
            load(buffer, record), to_move ^ ONE, ply + ONE, distance + 1, depth - 1, -value,
            -value + 1, generation, table, buffer, keys, counters,
        )  # fmt: skip
        if counters[ABORTED] != 0:
            return NO_MOVE
        if reached > best:
            best, action = reached, number(buffer[record + WIDTH])
        if best >= value:
            break
    return action
