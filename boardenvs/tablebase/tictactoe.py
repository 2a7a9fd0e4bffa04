"""A number for every position of tic-tac-toe: a digit in base 3 for each square."""

from __future__ import annotations

import numpy as np

from boardenvs.game.contract import Game
from boardenvs.game.errors import PositionError
from boardenvs.game.state import IntArray, State

COUNT = 3**9
CHUNKS = [()]

_SQUARES = np.arange(9, dtype=np.uint64)
_DIGITS = 3 ** np.arange(9)


def numbers(game: Game, state: State) -> IntArray:
    """The number of each row's position as its side to move sees it, (B,) int64; PositionError for
    one without a number.
    """
    game.check_state(state)
    if (state.own & state.opp | (state.own | state.opp) >> 9).any():
        raise PositionError("a position has two marks on a square, or one outside of the board")
    own, opp = ((words[:, None] >> _SQUARES & np.uint64(1)) for words in (state.own, state.opp))
    found: IntArray = (own.astype(np.int64) + 2 * opp.astype(np.int64)) @ _DIGITS
    return found


def positions(game: Game) -> tuple[IntArray, State]:
    """All positions, even those that no game reaches, and their numbers in ascending order."""
    ids = np.arange(COUNT)
    digits = ids[:, None] // _DIGITS % 3
    state = game.empty(COUNT)
    for words, digit in ((state.own, 1), (state.opp, 2)):
        words[:] = ((digits == digit) << np.arange(9)).sum(axis=1)
    state.to_move[:], state.ply[:] = 0, (digits > 0).sum(axis=1)
    game.kernels.begin.batch(state.inputs, [state.legal_bits, state.terminated])
    return ids, state
