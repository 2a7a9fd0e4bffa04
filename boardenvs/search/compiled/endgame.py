"""The last few squares of a game that fills up: alpha-beta without a table and without order."""

from __future__ import annotations

from boardenvs.game.state import Position
from boardenvs.kernel.loops import ONE, ZERO, Array, advance, legal_words, trailing_zeros, word
from boardenvs.search.compiled.counters import NODES
from boardenvs.search.compiled.position import is_final
from boardenvs.search.compiled.values import INFINITE, final_value

FEW_SQUARES = 5  # with fewer empty squares to order moves costs more than it saves


def search_last_squares(
    position: Position, alpha: int, beta: int, distance: int, counters: Array
) -> int:
    """As `search` to the end of the game, which is not over, for positions with few moves left."""
    best = -INFINITE
    other, ply = position.to_move ^ ONE, position.ply + ONE
    for k in range(legal_words()):
        bits = position.legal_bits[k]
        while bits != ZERO:
            action = word(64 * k) + trailing_zeros(bits)
            bits = bits & (bits - ONE)
            after = advance(position.own, position.opp, position.to_move, position.ply, action)
            counters[NODES] += 1
            if is_final(after[-1] != ZERO, ply):
                value = -final_value(after[0], after[1], other, distance + 1)
            else:
                child = Position(after[0], after[1], after[2:-1], other, ply, after[-1] != ZERO)
                value = -search_last_squares(child, -beta, -alpha, distance + 1, counters)
            if value > best:
                best = value
                alpha = max(alpha, best)
                if best >= beta:
                    return best
    return best
