"""The last few squares of a game that fills up: alpha-beta without a table and without order."""

from __future__ import annotations

from boardenvs.game.state import Position
from boardenvs.kernel.loops import ONE, ZERO, Array, legal_words, trailing_zeros, word
from boardenvs.search.compiled.counters import NODES
from boardenvs.search.compiled.position import is_final, play
from boardenvs.search.compiled.values import INFINITE, final_value

FEW_SQUARES = 5  # with fewer empty squares to order moves costs more than it saves


def search_last_squares(
    position: Position, alpha: int, beta: int, distance: int, counters: Array
) -> int:
    """As `search` to the end of the game, for positions with few moves left."""
    if is_final(position.terminated, position.ply):
        return final_value(position.own, position.opp, position.to_move, distance)
    best = -INFINITE
    for k in range(legal_words()):
        bits = position.legal_bits[k]
        while bits != ZERO:
            action = word(64 * k) + trailing_zeros(bits)
            bits = bits & (bits - ONE)
            counters[NODES] += 1
            value = -search_last_squares(
                play(position, action), -beta, -alpha, distance + 1, counters
            )
            if value > best:
                best = value
                alpha = max(alpha, best)
                if best >= beta:
                    return best
    return best
