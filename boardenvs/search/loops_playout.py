"""Random play to the end of a game, linked after `loops_random`.

The choice at each ply follows from a seed and the number of the ply alone, so that a batch in NumPy
plays the same games.
"""

from __future__ import annotations

from boardenvs.kernel.loops import (
    MAX_PLY,
    ONE,
    OVER,
    ZERO,
    Node,
    Word,
    advance,
    draw,
    points,
    word,
    wrap,
)
from boardenvs.search.loops_random import GOLDEN, mix


def is_final(node: Node, ply: Word) -> bool:
    """Whether the game ends here, by its rules or by its cap."""
    return node[OVER] != ZERO or ply >= word(MAX_PLY)


def outcome(node: Node, to_move: Word) -> int:
    """1, 0 or -1: what the position as the last one of a game is worth to its side to move."""
    mine, theirs = points(node[0], node[1], to_move)
    return (1 if mine > theirs else 0) - (1 if mine < theirs else 0)


def playout(node: Node, to_move: Word, ply: Word, seed: Word) -> int:
    """1, 0 or -1 to the side to move at `node`, by one random game from there."""
    sign = 1
    while not is_final(node, ply):
        seed = wrap(seed + word(GOLDEN))
        action = draw(node, mix(seed))
        node = advance(node[0], node[1], to_move, ply, action)
        to_move = to_move ^ ONE
        ply = ply + ONE
        sign = -sign
    return sign * outcome(node, to_move)
