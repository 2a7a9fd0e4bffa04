"""Random games from many positions at once."""

from __future__ import annotations

import numpy as np

from boardenvs.game.contract import Game
from boardenvs.game.state import IntArray, State, WordArray, take
from boardenvs.utils.splitmix import GOLDEN, mix


def play_out(game: Game, state: State, seeds: WordArray) -> IntArray:
    """What one random game from each position is worth to its side to move: 1, 0 or -1, (B,) int64.

    Row i's game follows from its seed, (B,) uint64, and is the one of `compiled.playout`.
    """
    values: IntArray = np.zeros(len(state.ply), np.int64)
    starter = state.to_move.copy()
    seeds = seeds.copy()
    rows = np.arange(len(values))
    while len(rows):
        over = state.terminated | game.is_truncated(state)
        if over.any():
            ended = rows[over]
            sign = np.sign(game.score_margin(take(state, over)))
            same_side = state.to_move[over] == starter[ended]
            values[ended] = np.where(same_side, sign, -sign)
            rows, seeds, state = rows[~over], seeds[~over], take(state, ~over)
        if len(rows):
            seeds += np.uint64(GOLDEN)
            actions: IntArray = np.empty(len(rows), np.int64)
            game.kernels.sample.batch([state.legal_bits, mix(seeds)], [actions])
            state = game.step(state, actions)
    return values
