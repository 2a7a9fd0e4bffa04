"""The moves of positions near the end of a game that fills up, and the order to try them in."""

from __future__ import annotations

from boardenvs.game.state import Position
from boardenvs.kernel.loops import (
    ONE,
    ZERO,
    board,
    inline,
    wrap,
    legal_words,
    number,
    popcount,
    stable,
    trailing_zeros,
    word,
)
from boardenvs.search.compiled.last_squares import odd_quarters
from boardenvs.search.compiled.moves import MoveStack, mobility
from boardenvs.search.compiled.position import play, save_position
from boardenvs.search.compiled.values import INFINITE, final_lead, static_value


def list_end_moves(
    position: Position, squares: int, table_move: int, distance: int, moves: MoveStack
) -> int:
    """List the moves of a position with so many empty squares; returns how many.

    First the table's move, then those that leave few replies (fastest first).
    """
    records, order, scores, size = moves.records, moves.order, moves.scores, moves.record_size
    first = place = distance * moves.max_moves
    empty = board() ^ (position.own | position.opp)
    odd = odd_quarters(empty)
    for k in range(legal_words()):
        bits = position.legal_bits[k]
        while bits != ZERO:
            square = trailing_zeros(bits)
            action = word(64 * k) + square
            bits = bits & (bits - ONE)
            child = play(position, action)
            save_position(records, place * size, child)
            records[place * size + size - 1] = action
            order[place] = place
            if number(action) == table_move:
                scores[place] = 4 * INFINITE
            elif child.terminated:
                scores[place] = 1024 * -final_lead(child.own, child.opp, child.to_move)
            else:
                points = -16 * mobility(child)
                if (odd >> square) & ONE == ONE:
                    points += PARITY
                if squares >= S_STABLE:
                    points += W_STABLE * number(popcount(stable(child.own, child.opp)[0]))
                if squares >= S_STATIC:
                    points -= (
                        static_value(child.own, child.opp, child.to_move, child.ply)
                        * W_STATIC
                        // 100
                    )
                if squares >= S_POTENTIAL:
                    points -= W_POTENTIAL * number(popcount(around(child.opp) & empty))
                scores[place] = points
            place += 1
    return place - first


@inline
def around(squares):
    row = (
        squares
        | ((squares << ONE) & word(0xFEFEFEFEFEFEFEFE))
        | ((squares >> ONE) & word(0x7F7F7F7F7F7F7F7F))
    )
    return row | wrap(row << word(8)) | (row >> word(8))


W_STABLE = 10
W_STATIC = 10
W_POTENTIAL = 0
PARITY = 8
S_STABLE = 9
S_STATIC = 9
S_POTENTIAL = 9
