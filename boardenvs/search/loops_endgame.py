"""The exact end of a game in which every move fills a square, linked after `loops_alphabeta`.

Alpha-beta to the end: the moves that leave the fewest replies come first, which makes the tree
small (the fastest-first heuristic; Buro, "How machines have learned to play Othello", 1999).
"""

from __future__ import annotations

from boardenvs.kernel.loops import (
    ONE,
    OVER,
    WIDTH,
    WORDS,
    ZERO,
    Array,
    Node,
    Word,
    advance,
    load,
    number,
    points,
    popcount,
    store,
    trailing_zeros,
    word,
)
from boardenvs.search.loops_alphabeta import (
    ABORTED,
    BIAS,
    EXACT,
    INFINITE,
    LIMIT,
    LOWER,
    MAX_MOVES,
    NO_MOVE,
    NODES,
    UPPER,
    WIN,
    bring_best,
    bucket_of,
    find,
    remember,
    replies,
)

HOLES = 0  # set by the linker: the squares out of play
SHALLOW = 5  # with fewer empty squares ordering costs more than it saves


def empties_of(node: Node) -> int:
    """The number of empty squares."""
    return 64 - number(popcount(node[0] | node[1] | word(HOLES)))


def margin_of(node: Node, to_move: Word) -> int:
    """The lead in points of the side to move."""
    mine, theirs = points(node[0], node[1], to_move)
    return number(mine) - number(theirs)


def solve_shallow(
    node: Node, to_move: Word, ply: Word, alpha: int, beta: int, counters: Array
) -> int:
    """`solve` for the last few plies."""
    if node[OVER] != ZERO:
        return margin_of(node, to_move)
    best = -INFINITE
    for k in range(WORDS):
        bits = node[2 + k]
        while bits != ZERO:
            action = word(64 * k) + trailing_zeros(bits)
            bits = bits & (bits - ONE)
            child = advance(node[0], node[1], to_move, ply, action)
            counters[NODES] += 1
            value = -solve_shallow(child, to_move ^ ONE, ply + ONE, -beta, -alpha, counters)
            if value > best:
                best = value
                alpha = max(alpha, best)
                if best >= beta:
                    return best
    return best


def solve(
    node: Node,
    to_move: Word,
    ply: Word,
    distance: int,
    alpha: int,
    beta: int,
    generation: Word,
    table: Array,
    buffer: Array,
    keys: Array,
    counters: Array,
) -> int:
    """The margin with perfect play; a bound of it outside of (alpha, beta), 0 once aborted."""
    if node[OVER] != ZERO or empties_of(node) < SHALLOW:
        return solve_shallow(node, to_move, ply, alpha, beta, counters)
    if counters[NODES] >= counters[LIMIT]:
        counters[ABORTED] = 1
        return 0
    tag = (generation << word(8)) | word(255)
    bucket = bucket_of(node, 255, table)
    slot = find(node, tag, bucket, table)
    best_move = NO_MOVE
    if slot >= 0:
        data = table[slot + 3]
        best_move = number(data >> word(34))
        value = number(data & word(0xFFFFFF)) - BIAS
        bound = number((data >> word(32)) & word(3))
        if (
            bound == EXACT
            or (bound == LOWER and value >= beta)
            or (bound == UPPER and value <= alpha)
        ):
            return value
    first = distance * MAX_MOVES
    count = fastest_first(node, to_move, ply, distance, best_move, buffer, keys)
    counters[NODES] += count
    best, lower = -INFINITE, alpha
    for i in range(count):
        bring_best(first, i, count, buffer, keys)
        record = (first + i) * (WIDTH + 1)
        child = load(buffer, record)
        value = INFINITE
        if i > 0:
            value = -solve(
                child, to_move ^ ONE, ply + ONE, distance + 1, -lower - 1, -lower,
                generation, table, buffer, keys, counters,
            )  # fmt: skip
        if i == 0 or (lower < value < beta):
            value = -solve(
                child, to_move ^ ONE, ply + ONE, distance + 1, -beta, -lower,
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
    remember(node, tag, bucket, empties_of(node), best, bound, best_move, table)
    return best


def fastest_first(
    node: Node, to_move: Word, ply: Word, distance: int, best: int, buffer: Array, keys: Array
) -> int:
    """As `expand`, with keys by the number of replies."""
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
            keys[first + count] = INFINITE if number(action) == best else -replies(child)
            count += 1
    return count


def solve_root(
    root: Node,
    to_move: Word,
    ply: Word,
    generation: Word,
    table: Array,
    buffer: Array,
    keys: Array,
    counters: Array,
    out: Array,
) -> None:
    """Write the best action, its value as `final_value` has it, the empty squares and 1 to `out`.

    Where the limit of nodes is too low, the last is 0 and the others mean nothing.
    """
    counters[ABORTED] = 0
    value = solve(
        root, to_move, ply, number(0), number(-INFINITE), number(INFINITE),
        generation, table, buffer, keys, counters,
    )  # fmt: skip
    best = NO_MOVE
    lower = -INFINITE
    count = fastest_first(root, to_move, ply, 0, NO_MOVE, buffer, keys)
    counters[NODES] += count
    for i in range(count):  # the table may have lost the root's move: find one of that value
        bring_best(0, i, count, buffer, keys)
        record = i * (WIDTH + 1)
        child = load(buffer, record)
        reached = -solve(
            child, to_move ^ ONE, ply + ONE, number(1), -value, -value + 1,
            generation, table, buffer, keys, counters,
        )  # fmt: skip
        if counters[ABORTED] != 0:
            break
        if reached > lower:
            lower = reached
            best = number(buffer[record + WIDTH])
        if lower >= value:
            break
    out[0] = best
    out[1] = value + WIN if value > 0 else (value - WIN if value < 0 else 0)
    out[2] = empties_of(root)
    out[3] = 1 - counters[ABORTED]
