"""A ply in every row of a batch, and what it came to: legality, the end and the reward.

As machine code it is one call of the rule `turn` (see `kernels`); in NumPy, where each operation is
a pass over the batch, what few rows need is done for these rows alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boardenvs.game.state import (
    BoolArray,
    IntArray,
    State,
    Turn,
    empty_state,
    put,
    take,
)
from boardenvs.kernel import get_backend

if TYPE_CHECKING:
    from boardenvs.game.contract import Game

# Of an offender whose game ends with it, on either scale of rewards.
ILLEGAL_ACTION_REWARD = -1.0


def play_turn(
    game: Game, state: State, actions: IntArray, waiting: BoolArray | None, *, checked: bool
) -> Turn:
    """See `Game.turn`."""
    if waiting is None:
        waiting = np.zeros(len(actions), np.bool_)
    if get_backend() == "numba":
        return _compiled(game, state, actions, waiting)
    return _by_parts(game, state, actions, waiting, checked=checked)


def _compiled(game: Game, state: State, actions: IntArray, waiting: BoolArray) -> Turn:
    size = len(actions)
    new = empty_state(size, game.action_planes + 1)
    terminated, truncated, illegal = (np.empty(size, np.bool_) for _ in range(3))
    signs = np.empty(size, np.int8)
    game.kernels.turn.batch(
        [*state, actions.astype(np.intp, copy=False), waiting],
        [*new, terminated, truncated, illegal, signs],
    )
    return Turn(new, signs.astype(np.float64), terminated, truncated, illegal)


def _by_parts(
    game: Game, state: State, actions: IntArray, waiting: BoolArray, *, checked: bool
) -> Turn:
    size = len(actions)
    illegal: BoolArray = np.zeros(size, np.bool_)
    if not checked:
        illegal = ~(game.is_legal(state, actions) | waiting)
    idle = illegal | waiting
    if checked or not idle.any():
        new = game.step(state, actions)
        over = game.is_over(new)
    else:
        rows = np.flatnonzero(~idle)
        played = game.step(take(state, rows), actions[rows])
        new = State(*(x.copy() for x in state))
        put(new, rows, played)
        over = np.zeros(size, np.bool_)
        over[rows] = game.is_over(played)
    rewards = np.zeros(size)
    truncated: BoolArray = np.zeros(size, np.bool_)
    ended = np.flatnonzero(over)
    if ended.size:
        final = take(new, ended)
        rewards[ended] = 0.0 - np.sign(game.lead(final))  # of the side that has moved
        truncated[ended] = game.truncated(final)
    rewards[illegal] = ILLEGAL_ACTION_REWARD
    return Turn(new, rewards, (over & ~truncated) | illegal, truncated, illegal)
