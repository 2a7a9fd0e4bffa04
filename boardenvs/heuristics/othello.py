"""Othello: a weight for each square.

The weights of T. Yoshioka, S. Ishii and M. Ito, "Strategy acquisition for the game Othello based on
reinforcement learning" (IEICE Transactions, 1999), in hundredths. They are the standard heuristic
opponent of the literature on learning Othello.
"""

from __future__ import annotations

from functools import reduce
from operator import add

from boardenvs.games.othello import Othello
from boardenvs.kernel import Bits, popcount

# One quarter of the board; row and column 0 are the edge.
QUARTER = (
    (100, -25, 10, 5),
    (-25, -25, 1, 1),
    (10, 1, 5, 2),
    (5, 1, 2, 1),
)

# The whole board, by square.
WEIGHTS = tuple(QUARTER[min(y, 7 - y)][min(x, 7 - x)] for y in range(8) for x in range(8))


def evaluate(game: Othello, own: Bits, opp: Bits, to_move: Bits, ply: Bits) -> tuple[Bits, Bits]:
    """The weights of both sides' discs; what a disc costs is credited to the other side."""
    return _sum(own, opp), _sum(opp, own)


def _sum(discs: Bits, others: Bits) -> Bits:
    terms = []
    for weight in sorted(set(WEIGHTS)):
        squares = sum(1 << square for square in range(64) if WEIGHTS[square] == weight)
        terms.append(popcount((discs if weight > 0 else others) & squares) * abs(weight))
    return reduce(add, terms)
