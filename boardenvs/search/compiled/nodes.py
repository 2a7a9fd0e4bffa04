"""Nodes of alpha-beta: working memory, the value of a position, its moves in order."""

from __future__ import annotations

from typing import NamedTuple

from boardenvs.kernel.loops import (
    HISTORY,
    LEGAL_WORDS,
    MARGIN_COUNTS,
    ONE,
    ZERO,
    Array,
    Word,
    evaluate,
    inline,
    number,
    swap_sides,
    trailing_zeros,
    word,
)
from boardenvs.search.compiled.position import (
    PackedPosition,
    count_key,
    final_margin,
    key_of_words,
    load_position,
    mobility,
    play,
    repeated,
    save_position,
    sign_of,
)
from boardenvs.search.compiled.transposition import NO_MOVE, TranspositionTable
from boardenvs.search.compiled.tuples import (
    TupleTables,
    forget_positions,
    keep_position,
    tuple_value,
)

# Places in the counters.
NODES = 0  # positions generated
LIMIT = 1  # the most of them; another thread sets it to 0 to stop the search
ABORTED = 2  # 1 once the limit is reached: values mean nothing then
HORIZON = 3  # positions judged by the heuristic, now or when a value went into the table
COUNTERS = 4


class Roots(NamedTuple):
    """The positions to search."""

    positions: Array  # (B * position_size,) words
    seeds: Array  # (B,) words: they order equal moves
    keys: Array  # (B * HISTORY,) words: of the positions before, the latest first
    position_size: int  # words
    distance: int  # 0, or the ply of this position on the line that an earlier search found


class Budget(NamedTuple):
    """The limits of a search."""

    depth: int  # plies; to the end, the empty squares
    nodes: int  # for each position, approximately
    nodes_a_call: int  # after this number no other position is begun
    fewest: int  # legal actions: positions with fewer of them are not searched
    kept: int  # 1: go on with the values in the table


class MoveStack(NamedTuple):
    """A list of moves for each distance from the root, one list after the other.

    A record is the position after a move, then the move. Sorting a list swaps the numbers of its
    records.
    """

    records: Array  # (lists * max_moves * record_size,) words
    order: Array  # (lists * max_moves,) numbers: the record in each place of a list
    scores: Array  # (lists * max_moves,) numbers: the highest goes first
    latest: Array  # (lists,) numbers: the best move of the latest position at each distance
    max_moves: int  # of one position
    record_size: int  # words


class SearchMemory(NamedTuple):
    """The working memory and the options of an alpha-beta search."""

    table: TranspositionTable
    moves: MoveStack
    counters: Array  # (COUNTERS,) numbers
    keys: Array  # words: HISTORY before the root, then of the position at each distance
    tables: TupleTables  # of a learnt evaluation, if there is one
    judged_by_tables: int  # 1: tables judge positions; 0: the game's heuristic does
    probcut: int  # hundredths of the deviation at which a shallow search cuts; 0: off
    reductions: int  # 1: search later moves less deep


def begin_search(nodes: int, limit: int, memory: SearchMemory) -> None:
    """Start the counters at this number of nodes, with this limit; forget earlier searches."""
    counters, latest = memory.counters, memory.moves.latest
    counters[NODES] = nodes
    counters[LIMIT] = limit
    counters[ABORTED] = 0
    for distance in range(len(latest)):
        latest[distance] = NO_MOVE
    forget_positions(memory.tables)


# ---- values ----------------------------------------------------------------------------------

# The value of a decided game is WIN plus the margin, or WIN less the plies until then.
WIN = 1_000_000
DECIDED = WIN // 2  # greater values, of either sign, are wins or losses
INFINITE = 2_000_000
UNPROVEN = 99_999  # the most that a win counts beyond the depth: a sooner one may be within it


def final_value(words: tuple[Word, ...], to_move: Word, distance: int) -> int:
    """Return the value of a game that is over, at this distance from the root."""
    margin = final_margin(words, to_move)
    if MARGIN_COUNTS:
        return value_of_margin(margin)
    if margin == 0:
        return 0
    return WIN - distance if margin > 0 else distance - WIN


def value_of_margin(margin: int) -> int:
    """Return the value of a score margin at the end, in games where it counts."""
    if margin == 0:
        return 0
    return WIN + margin if margin > 0 else margin - WIN


def margin_of(value: int) -> int:
    """Invert `value_of_margin`."""
    if value == 0:
        return 0
    return value - WIN if value > 0 else value + WIN


@inline
def static_value(words: tuple[Word, ...], to_move: Word, ply: Word, memory: SearchMemory) -> int:
    """Return the value to the side to move, by the tables or the heuristic."""
    if memory.judged_by_tables == 1:
        return tuple_value(words, to_move, ply, memory.tables)
    mine, theirs = evaluate(*words, to_move, ply)
    return number(mine) - number(theirs)


@inline
def static_value_of(position: PackedPosition, memory: SearchMemory) -> int:
    """Return the static value of a packed position."""
    return static_value(position.words, position.to_move, position.ply, memory)


@inline
def judge_near(position: PackedPosition, memory: SearchMemory) -> None:
    """Prepare for judging the positions after this one's moves: it makes that cheap."""
    if memory.judged_by_tables == 1:
        words = swap_sides(*position.words)
        keep_position(words, position.to_move ^ ONE, memory.tables)


# ---- moves -----------------------------------------------------------------------------------


@inline
def play_at(
    distance: int, position: PackedPosition, action: Word, memory: SearchMemory
) -> PackedPosition:
    """Return the position after a legal action of the position at this distance from the root."""
    child = play(position, action)
    if HISTORY:
        repeats = repeats_at(distance, child.words, memory)
        if repeats > ZERO:
            child = repeated(child, repeats)
    return child


@inline
def repeats_at(distance: int, words: tuple[Word, ...], memory: SearchMemory) -> Word:
    """Return how often the position of these words has been there, after one at this distance."""
    return count_key(key_of_words(words), memory.keys, distance + 1, HISTORY)


def generate_moves(
    position: PackedPosition, place: int, tried: int, judged: int, memory: SearchMemory
) -> int:
    """List the moves of a position except `tried`, with their scores, from this place on; return
    their count. Without `judged`, scores are cheap: few replies first.
    """
    moves, first = memory.moves, place
    if judged == 1:
        judge_near(position, memory)
    for k in range(LEGAL_WORDS):
        bits = position.legal_bits[k]
        while bits != ZERO:
            action = word(64 * k) + trailing_zeros(bits)
            bits = bits & (bits - ONE)
            if number(action) != tried:
                child = play_at(place // moves.max_moves, position, action, memory)
                put_move(place, action, child, moves)
                if judged == 1 or child.terminated:
                    distance = place // moves.max_moves + 1
                    moves.scores[place] = score(position.to_move, child, distance, memory)
                else:
                    moves.scores[place] = -mobility(child)
                place += 1
    return place - first


@inline
def is_legal(move: int, position: PackedPosition) -> bool:
    """Return whether a move is legal."""
    for k in range(LEGAL_WORDS):
        if move // 64 == k:
            return (position.legal_bits[k] >> word(move % 64)) & ONE == ONE
    return False


@inline
def put_move(place: int, action: Word, child: PackedPosition, moves: MoveStack) -> None:
    """Write a move, and the position after it, to this place of the lists."""
    size = moves.record_size
    save_position(moves.records, place * size, child)
    moves.records[place * size + size - 1] = action
    moves.order[place] = place


@inline
def score(to_move: Word, child: PackedPosition, distance: int, memory: SearchMemory) -> int:
    """Return the score that orders a move: the value of the position after it, less for many
    replies.
    """
    if child.terminated:  # there are no replies
        value = final_value(child.words, child.to_move, distance)
    else:
        value = static_value(child.words, child.to_move, child.ply, memory) + 2 * mobility(child)
    return sign_of(to_move, child.to_move) * value


@inline
def pick_best(place: int, end: int, moves: MoveStack) -> int:
    """Swap the highest-scored move from here to `end` into this place; return its record."""
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
    """Sort a whole list, from this place on, by score."""
    for k in range(place, place + count):
        pick_best(k, place + count, moves)


@inline
def child_of(record: int, moves: MoveStack) -> PackedPosition:
    """Return the position after a move."""
    return load_position(moves.records, record * moves.record_size)


@inline
def move_at(record: int, moves: MoveStack) -> int:
    """Return the move of a record."""
    return number(moves.records[(record + 1) * moves.record_size - 1])
