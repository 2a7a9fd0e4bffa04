"""A number for every position of tic-tac-toe: nine bits for each side."""

from __future__ import annotations

import numpy as np

from boardenvs.game.errors import PositionError
from boardenvs.game.game import Game
from boardenvs.game.state import IntArray, State

COUNT = 1 << 18
CHUNKS = [()]


def numbers(game: Game, state: State) -> IntArray:
    """Return the number of each row's position as its side to move sees it, (B,) int64;
    PositionError for one without a number.
    """
    game.check_state(state)
    if (state.own & state.opp | (state.own | state.opp) >> 9).any():
        raise PositionError("a position has two marks on a square, or one outside of the board")
    return (state.own | state.opp << 9).astype(np.int64)


def positions(game: Game) -> tuple[IntArray, State]:
    """Return all positions, even those that no game reaches, and their numbers, ascending."""
    ids = np.flatnonzero(np.arange(COUNT) & np.arange(COUNT) >> 9 == 0)
    state = game.empty(len(ids))
    state.own[:], state.opp[:] = ids & 511, ids >> 9
    state.to_move[:], state.ply[:] = 0, np.bitwise_count(ids)
    game.kernels.begin.batch(state.inputs, [state.legal_bits, state.terminated])
    return ids, state
