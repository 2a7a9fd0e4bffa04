"""A number for every position of Wolf and Sheep that can be reached, densely from 0.

The wolf may stand on any of the 64 squares, with either side to move. The sheep start on the dark
squares and step diagonally under both rules, so they never leave them: as four of 32 squares
there are 35,960 flocks of them. A position with the sheep on light squares has the number of its
mirror image, which the rules do not tell apart. With sheep on both colours, which no game reaches,
a position has no number.

Positions with the wolf on a square of a sheep have numbers too, which nothing uses.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations
from math import comb

import numpy as np

from boardenvs.board import MIRROR, from_squares
from boardenvs.game.errors import PositionError
from boardenvs.game.game import Game
from boardenvs.game.state import IntArray, State, WordArray, take

SHEEP = 4
DARK_SQUARES = tuple(s for s in range(64) if (s % 8 + s // 8) % 2 == 0)  # a1 is dark
FLOCKS = comb(32, SHEEP)
COUNT = 2 * 64 * FLOCKS
CHUNKS = [(to_move, wolf) for to_move in (0, 1) for wolf in range(64)]  # for `positions`

_DARK = from_squares(DARK_SQUARES)


def numbers(game: Game, state: State) -> IntArray:
    """Return the number of each row's position, (B,) int64; PositionError for one without."""
    game.check_state(state)
    sides = np.where(state.to_move, state.words[1::-1], state.words[:2])
    mirrored = (sides[1] & ~np.uint64(_DARK)) != 0
    wolf, sheep = np.where(mirrored, MIRROR.apply(sides), sides) if mirrored.any() else sides
    rank = np.searchsorted(_flocks(), sheep)
    fits = (np.bitwise_count(wolf) == 1) & (wolf & sheep == 0)
    fits &= _flocks()[rank % FLOCKS] == sheep
    if not fits.all():
        row = int(np.argmin(fits))
        (position,) = game.positions(take(state, [row]))
        raise PositionError(
            f"row {row}, {position.fen()!r}, is not in the tablebase: it has the "
            "positions with one wolf, and four sheep on squares of one colour"
        )
    square = np.bitwise_count(wolf - np.uint64(1))
    return (64 * state.to_move.astype(np.int64) + square) * FLOCKS + rank


def positions(game: Game, to_move: int, wolf: int) -> tuple[IntArray, State]:
    """Return all positions with the wolf on this square, and their numbers in ascending order."""
    flocks = _flocks()
    rank = np.flatnonzero((flocks >> np.uint64(wolf) & np.uint64(1)) == 0)
    state = game.empty(len(rank))
    wolves, sheep = (state.own, state.opp) if to_move == 0 else (state.opp, state.own)
    wolves[:], sheep[:] = 1 << wolf, flocks[rank]
    state.to_move[:], state.ply[:] = to_move, 0
    game.kernels.begin.batch(state.inputs, [state.legal_bits, state.terminated])
    return (64 * to_move + wolf) * FLOCKS + rank, state


@cache
def _flocks() -> WordArray:
    """Return the sheep's squares, (FLOCKS,) uint64 ascending: a set's index is its rank."""
    squares = np.array(list(combinations(DARK_SQUARES, SHEEP)), np.uint64)
    return np.sort(np.bitwise_or.reduce(np.uint64(1) << squares, axis=1))
