"""Generalised advantage estimates for games in which the side to move may change with each step."""

from __future__ import annotations

import numpy as np

from boardenvs.game.state import Array, BoolArray


def advantages(
    rewards: Array, over: BoolArray, values: Array, discounts: Array, gae_lambda: float
) -> Array:
    """Return the advantages of T steps on B boards, (T, B): https://arxiv.org/abs/1506.02438.

    `rewards` (T, B) float32 are for the side that moved, `over` (T, B) is True if the step ended
    the game, `values` (T + 1, B) float32 are the values before each step and after the last one.
    `discounts` (T, B) float32 multiply the value of the next state: -gamma where the other side
    moves there, +gamma where the same side does.
    """
    found, later = np.empty_like(rewards), np.zeros_like(rewards[0])
    for step in reversed(range(len(rewards))):
        discount = np.where(over[step], 0, discounts[step])
        later = (
            rewards[step]
            + discount * values[step + 1]
            - values[step]
            + discount * gae_lambda * later
        )
        found[step] = later
    return found
