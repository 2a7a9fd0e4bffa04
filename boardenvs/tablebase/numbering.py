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

from boardenvs.board.bitboard import flip_files, from_squares, lowest
from boardenvs.game.contract import Game
from boardenvs.game.errors import PositionError
from boardenvs.game.state import IntArray, State, WordArray, take
from boardenvs.games.wolf_and_sheep import by_role
from boardenvs.kernel import Bits, Kernel, Table, nonzero, popcount, spread

SHEEP = 4
DARK_SQUARES = tuple(s for s in range(64) if (s % 8 + s // 8) % 2 == 0)  # a1 is dark
FLOCKS = comb(32, SHEEP)
COUNT = 2 * 64 * FLOCKS
CHUNKS = [(to_move, wolf) for to_move in (0, 1) for wolf in range(64)]  # for `positions`

_DARK = from_squares(DARK_SQUARES)
_SUBSETS = [Table([comb(k, size) for k in range(32)]) for size in range(1, SHEEP + 1)]


def numbers(game: Game, state: State) -> IntArray:
    """The number of each row's position, (B,) int64; PositionError for one without a number."""
    rows = game.check_state(state)
    places, fits = np.empty(rows, np.int64), np.empty(rows, np.bool_)
    _NUMBER.batch(state.inputs[:-1], [places, fits])
    if not fits.all():
        row = int(np.argmin(fits))
        (position,) = game.positions(take(state, [row]))
        raise PositionError(
            f"row {row}, {position.fen()!r}, is not in the tablebase: it has the "
            "positions with one wolf, and four sheep on squares of one colour"
        )
    return places


def positions(game: Game, to_move: int, wolf: int) -> tuple[IntArray, State]:
    """All positions with the wolf on this square, and their numbers in ascending order."""
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
    """The sheep's squares by rank, (FLOCKS,) uint64.

    Ranks ascend with the words: of two sets, that one has the higher rank which has the highest
    square that is not in both.
    """
    squares = np.array(list(combinations(DARK_SQUARES, SHEEP)), np.uint64)
    flocks: WordArray = np.sort(np.bitwise_or.reduce(np.uint64(1) << squares, axis=1))
    return flocks


def _number(own: Bits, opp: Bits, to_move: Bits) -> tuple[Bits, Bits]:
    """The position's number, and 1 if it is valid, else 0."""
    wolf, sheep = by_role(own, opp, to_move)
    mirrored = spread(nonzero(sheep & ~_DARK))
    wolf = wolf ^ ((wolf ^ flip_files(wolf)) & mirrored)
    sheep = sheep ^ ((sheep ^ flip_files(sheep)) & mirrored)
    wrong = (popcount(wolf) ^ 1) | (popcount(sheep) ^ SHEEP) | (sheep & ~_DARK) | (wolf & sheep)
    number = ((to_move << 6) + _square(wolf)) * FLOCKS + _rank(sheep)
    return number, nonzero(wrong) ^ 1


def _rank(sheep: Bits) -> Bits:
    """The rank of a set of dark squares among all sets of its size, in the combinatorial number
    system, https://en.wikipedia.org/wiki/Combinatorial_number_system.
    """
    rank = 0
    for subsets in _SUBSETS:
        first = lowest(sheep)
        sheep = sheep ^ first
        # Squares 2k and 2k + 1 differ in colour, so that k numbers the squares of one colour; 31
        # keeps the index of a missing sheep within the table.
        rank = rank + subsets[(_square(first) >> 1) & 31]
    return rank


def _square(bit: Bits) -> Bits:
    """The index of a single square; 64 of none."""
    return popcount(bit - 1)


_NUMBER = Kernel(_number, 3, "number")
