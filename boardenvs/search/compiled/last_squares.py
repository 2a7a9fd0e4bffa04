"""The last few squares of a game that fills up: no table, and the order of moves by parity alone.

Here most positions of a search to the end are, so nothing is asked that is not needed: in games
whose squares are filled exactly where that captures, a move is found by making it. Squares in a
quarter of the board with an odd number of empty ones come first: who fills the last square of a
region flips there last.
"""

from __future__ import annotations

from boardenvs.kernel.loops import (
    ONE,
    ZERO,
    Array,
    Word,
    board,
    inline,
    number,
    popcount,
    step_words_only,
    trailing_zeros,
    word,
)
from boardenvs.search.compiled.memory import NODES
from boardenvs.search.compiled.position import PackedPosition, final_margin
from boardenvs.search.compiled.values import INFINITE

FEW_SQUARES = 5  # of more, moves are put in a better order


@inline
def quarter_of(square: Word) -> Word:
    """The squares of the quarter of the board that a square is in."""
    quarter: Word = word(0x0F0F0F0F) << (square & word(36))
    return quarter


@inline
def odd_quarters(empty: Word) -> Word:
    """The quarters of the board with an odd number of empty squares."""
    odd = ZERO
    for corner in range(4):
        quarter = quarter_of(word(4 * (corner & 1) + 16 * (corner & 2)))
        if popcount(empty & quarter) & ONE == ONE:
            odd |= quarter
    return odd


def search_last_squares(position: PackedPosition, alpha: int, counters: Array) -> int:
    """The score margin with best play if it is `alpha` or `alpha + 1`, else a bound beyond; of a
    position that is not over.
    """
    (own, opp), to_move = position.words, position.to_move
    empty = board() ^ (own | opp)
    return search_captures(
        own, opp, to_move, empty, odd_quarters(empty), alpha, number(0), counters
    )


def search_captures(
    own: Word,
    opp: Word,
    to_move: Word,
    empty: Word,
    odd: Word,
    alpha: int,
    passed: int,
    counters: Array,
) -> int:
    """The same of boards; the side before may have `passed`."""
    if empty & (empty - ONE) == ZERO:
        return fill_last_square(own, opp, to_move, trailing_zeros(empty), counters)
    best, other = -INFINITE, to_move ^ ONE
    first = empty & odd
    rest = empty ^ first
    while first | rest != ZERO:
        if first == ZERO:
            first, rest = rest, ZERO
        square = trailing_zeros(first)
        after = first & (first - ONE)
        bit, first = first ^ after, after
        theirs, mine = step_words_only(own, opp, square)
        if theirs != opp:
            counters[NODES] += 1
            value = -search_captures(
                theirs,
                mine,
                other,
                empty ^ bit,
                odd ^ quarter_of(square),
                -alpha - 1,
                number(0),
                counters,
            )
            if value > best:
                best = value
                if best > alpha:
                    return best
    if best > -INFINITE:
        return best
    if passed == 1:
        return final_margin((own, opp), to_move)
    counters[NODES] += 1
    return -search_captures(opp, own, other, empty, odd, -alpha - 1, number(1), counters)


@inline
def fill_last_square(own: Word, opp: Word, to_move: Word, square: Word, counters: Array) -> int:
    """The score margin after the last square is filled, by whoever can."""
    theirs, mine = step_words_only(own, opp, square)
    if theirs != opp:
        counters[NODES] += 1
        return final_margin((mine, theirs), to_move)
    mine, theirs = step_words_only(opp, own, square)
    if mine != own:
        counters[NODES] += 2  # the pass and the move
    else:
        theirs = opp
    return final_margin((mine, theirs), to_move)
