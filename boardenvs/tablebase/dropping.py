"""Exact search of Connect Four: the result with perfect play, and when the game ends.

Null-window negamax (https://www.chessprogramming.org/Null_Window). A side never moves where the
other then wins at once. Moves that threaten most fours come first, then squares through which most
lines go. The table keeps a lower and an upper bound of each position's score, which is positive for
a win of the side to move: 1 if it wins with its last disc, 2 with the one before; 0 is a draw.

A position is `own`, the discs of the side to move, and `taken`, those of both. Each file has seven
bits, the lowest square first; the seventh is never taken, so that no line goes around the edge.
"""

from __future__ import annotations

from typing import NamedTuple

from boardenvs.kernel.loops import (
    ONE,
    ZERO,
    Array,
    Word,
    entry,
    inline,
    number,
    popcount,
    trailing_zeros,
    word,
    wrap,
)

FILES, DISCS = 7, 42
LOWEST = 0x40810204081  # the lowest square of each file
BOARD = 0xFDFBF7EFDFBF
MIRRORED = 20  # plies up to which mirror images share a slot; later few searches meet both
BIAS = 32  # makes a score positive
KEPT = 1 << 63  # marks a slot that is not overwritten


class Solver(NamedTuple):
    """Working memory of a search."""

    slots: Array  # (a power of two,) words: key (49 bits), biased lower and upper bound (6 each)
    moves: Array  # (FILES * DISCS,) words: a list for each ply, each move below its score
    lines: Array  # (49,) numbers: the lines of four through each square
    halted: Array  # (1,) number: another thread sets it to 1 to stop the search


@entry
def solve(own: Word, taken: Word, plies: int, low: int, high: int, solver: Solver) -> int:
    """Return the score of a position that is not over, if it is from `low` to `high`, else the
    nearer of the two. It means nothing if the search was halted.
    """
    if wins(own, taken) & playable(taken) != ZERO:
        return min(high, max(low, (DISCS + 1 - plies) // 2))
    while low < high and solver.halted[0] == 0:
        alpha = (low + high) // 2  # extreme scores are refuted soonest
        alpha = min(alpha, -(-low // 2)) if alpha <= 0 else max(alpha, high // 2)
        if search(own, taken, plies, number(alpha), solver) > alpha:
            low = alpha + 1
        else:
            high = alpha
    return low


def search(own: Word, taken: Word, plies: int, alpha: int, solver: Solver) -> int:
    """Return a bound that tells whether the score is more than alpha; nobody can win at once."""
    good = not_losing(own, taken)
    if good == ZERO:
        return -((DISCS - plies) // 2)
    if plies >= DISCS - 2:
        return 0
    low, high = -((DISCS - 2 - plies) // 2), (DISCS - 1 - plies) // 2
    if low > alpha:
        return low
    if high <= alpha:
        return high
    slots, opp = solver.slots, own ^ taken
    key = key_of(own, taken, plies)
    slot = slot_of(key, slots)
    data = slots[slot]
    # The empty board's key is 0, as empty slots are.
    if data != ZERO and (data >> word(12)) & word((1 << 49) - 1) == key:
        low, high = number((data >> word(6)) & word(63)) - BIAS, number(data & word(63)) - BIAS
        if low > alpha:
            return low
        if high <= alpha:
            return high
    first = FILES * plies
    count = list_moves(own, taken, good, first, solver)
    best = -DISCS
    for place in range(first, first + count):
        after = taken | solver.moves[place] & word(BOARD)
        value = -search(opp, after, plies + 1, -alpha - 1, solver)
        if solver.halted[0] != 0:
            return 0
        if value > best:
            best = value
            if best > alpha:
                break
    if best > alpha:
        low = best
    else:
        high = best
    if slots[slot] < word(KEPT):
        slots[slot] = pack(key, low, high)
    return best


@inline
def list_moves(own: Word, taken: Word, good: Word, first: int, solver: Solver) -> int:
    """List the good moves from this place on, the most promising first; return their count."""
    moves, place = solver.moves, first
    while good != ZERO:
        move = good ^ (good & (good - ONE))
        good ^= move
        threats = number(popcount(wins(own | move, taken | move)))
        score = 16 * threats + solver.lines[number(trailing_zeros(move))]
        scored, lower = word(score) << word(FILES * FILES) | move, place
        while lower > first and moves[lower - 1] < scored:
            moves[lower] = moves[lower - 1]
            lower -= 1
        moves[lower] = scored
        place += 1
    return place - first


@inline
def not_losing(own: Word, taken: Word) -> Word:
    """Return the moves after which the other side does not win at once."""
    moves, threats = playable(taken), wins(own ^ taken, taken)
    forced = moves & threats
    if forced != ZERO:
        if forced & (forced - ONE) != ZERO:
            return ZERO
        moves = forced
    return moves & (word(BOARD) ^ (threats >> ONE & word(BOARD)))


@inline
def playable(taken: Word) -> Word:
    """Return the lowest empty square of each file."""
    return (taken + word(LOWEST)) & word(BOARD)


@inline
def wins(discs: Word, taken: Word) -> Word:
    """Return the empty squares that complete four of these discs in a line."""
    squares = (discs << ONE) & (discs << word(2)) & (discs << word(3))
    for k in range(3):
        way = word(6 + k)
        two, three = way + way, word(3) * way
        below, above = (discs << way) & (discs << two), (discs >> way) & (discs >> two)
        squares |= below & ((discs << three) | (discs >> way))
        squares |= above & ((discs >> three) | (discs << way))
    return squares & (word(BOARD) ^ taken)


# ---- the table -----------------------------------------------------------------------------------


@inline
def key_of(own: Word, taken: Word, plies: int) -> Word:
    """Return a number of the position, and of its mirror image in the opening."""
    key = own + taken
    if plies > MIRRORED:
        return key
    image = ZERO
    for file in range(FILES):
        image |= ((key >> word(FILES * file)) & word(127)) << word(FILES * (FILES - 1 - file))
    return min(key, image)


@inline
def slot_of(key: Word, slots: Array) -> int:
    """Return the slot of a position."""
    return number(wrap(key * word(0x9E3779B97F4A7C15)) >> word(32)) & (len(slots) - 1)


@inline
def pack(key: Word, low: int, high: int) -> Word:
    """Return the data of a slot, see `Solver.slots`."""
    return (key << word(12)) | (word(low + BIAS) << word(6)) | word(high + BIAS)
