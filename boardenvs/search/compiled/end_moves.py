"""The moves of positions near the end of a game that fills up, and the order to try them in."""

from __future__ import annotations

from boardenvs.kernel.loops import (
    ONE,
    ZERO,
    board,
    has_stable,
    legal_words,
    number,
    popcount,
    stable,
    trailing_zeros,
    word,
)
from boardenvs.search.compiled.alphabeta import search
from boardenvs.search.compiled.judging import judge_near, static_value
from boardenvs.search.compiled.last_squares import odd_quarters
from boardenvs.search.compiled.memory import SearchMemory
from boardenvs.search.compiled.moves import mobility, put_move
from boardenvs.search.compiled.position import Position, play
from boardenvs.search.compiled.values import INFINITE, final_lead

# From so many empty squares on, what costs more time than counting replies is worth it.
JUDGED_SQUARES, STABLE_SQUARES, SEARCHED_SQUARES = 8, 8, 12


def list_end_moves(
    position: Position, squares: int, table_move: int, distance: int, memory: SearchMemory
) -> int:
    """List the moves of a position with so many empty squares; returns how many.

    First the table's move, then by `end_score`.
    """
    moves, scores = memory.moves, memory.moves.scores
    first = place = distance * moves.max_moves
    odd = odd_quarters(board() ^ (position.own | position.opp))
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
                scores[place] = 1024 * -final_lead(child.own, child.opp, child.to_move)
            else:
                fills_odd = number((odd >> square) & ONE)
                scores[place] = end_score(child, squares, distance, memory) + 2 * fills_odd
            place += 1
    return place - first


def end_score(child: Position, squares: int, distance: int, memory: SearchMemory) -> int:
    """How good a move seems, by the position after it: few replies first (fastest first: they make
    the tree small), then what it seems to be worth, and what the mover has for good.
    """
    points = -16 * mobility(child)
    if squares >= STABLE_SQUARES and has_stable():
        points += 5 * number(popcount(stable(child.own, child.opp)[0]))
    if squares >= SEARCHED_SQUARES and memory.judged_by_tables == 1:
        depth = number((squares - SEARCHED_SQUARES) // 3 + 1)
        value = search(child, depth, number(-INFINITE), number(INFINITE), distance + 1, memory)
        points -= 8 * value // 100
    elif squares >= JUDGED_SQUARES:
        value = static_value(child.own, child.opp, child.to_move, child.ply, memory)
        points -= (3 if memory.judged_by_tables == 1 else 10) * value // 100
    return points
