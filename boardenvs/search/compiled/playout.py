"""Random play to the end of a game.

The choice at each ply follows from a seed and the number of the ply alone, so that a batch in NumPy
plays the same games.
"""

from __future__ import annotations

from boardenvs.kernel.loops import Word, points, sample, word, wrap
from boardenvs.search.compiled.position import Position, is_final, play
from boardenvs.utils.splitmix import GOLDEN, mix


def outcome(position: Position) -> int:
    """The result, 1, 0 or -1, of a game that ends in this position, to its side to move."""
    mine, theirs = points(position.own, position.opp, position.to_move)
    return (1 if mine > theirs else 0) - (1 if mine < theirs else 0)


def playout(position: Position, seed: Word) -> int:
    """1, 0 or -1 to the side to move here, by one random game from here."""
    sign = 1
    while not is_final(position.terminated, position.ply):
        seed = wrap(seed + word(GOLDEN))
        position = play(position, sample(*position.legal_bits, mix(seed))[0])
        sign = -sign
    return sign * outcome(position)
