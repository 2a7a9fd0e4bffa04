"""Gumbel AlphaZero search of many positions: an improved policy from few simulations.

Policy improvement by planning with Gumbel (Danihelka, Guez, Schrittwieser, Silver, ICLR 2022): the
action comes from sequential halving over a draw of actions, and the improved policy gives every
action its value, tried or not. With exact values the improved policy is never worse than the prior.
Where a side may move again, plies without a choice take no simulation: see `next_choice`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from boardenvs.game.game import Game
from boardenvs.game.state import Array, FloatArray, IntArray, State
from boardenvs.search.compiled.policies import (
    add_no_guesses,
    look_for_win,
    read_gumbel_roots,
    select_by_gumbel,
)
from boardenvs.search.compiled.position import next_choice
from boardenvs.search.halving import GumbelSettings, gumbel_policy
from boardenvs.search.mcts import EdgeSelection, Evaluator, Trees, TreeSettings

# One leaf of a tree at a time: code for guesses would take long to compile.
_PARTS: dict[str, Callable[..., Any]] = {
    "select_edge": select_by_gumbel,
    "position_to_add": next_choice,
    "on_expand": look_for_win,
    "add_guesses": add_no_guesses,
}


class GumbelResults(NamedTuple):
    """Results of the searches of B positions."""

    actions: IntArray  # (B,) int64: to play
    policy: Array  # (B, A) float32: the improved policy, 0 where illegal
    values: FloatArray  # (B,) float64: to the side to move, -1 to 1
    # (B, A + 1) float32: how the evaluator judged the position after the action: the probability of
    # each action and, last, the value; that is nan if it was not asked.
    after: Array


def gumbel_search(
    game: Game,
    state: State,
    noise: FloatArray,
    settings: GumbelSettings,
    evaluator: Evaluator,
    roots: Array | None = None,
) -> GumbelResults:
    """Search each row of a state by itself; no game may be over.

    `noise` (B, A) is Gumbel noise, which makes the action a draw from the improved policy, or 0,
    which gives the best action. `roots` are the rows' evaluations as far as they are there, such as
    `after` of the search a ply before. ValueError if a game is over, or for other noise.
    """
    if game.is_over(state).any():
        raise ValueError("a game is over: there is nothing to search")
    shape = rows, _ = len(state.ply), game.num_actions
    if np.shape(noise) != shape or not np.isfinite(noise).all():
        raise ValueError(f"noise {np.shape(noise)} must be {shape}, and finite")
    policy = gumbel_policy(noise, settings)
    trees = Trees(
        game,
        state,
        np.zeros(rows, np.uint64),
        TreeSettings(settings.simulations, 0.0, evaluator, leaves=1),
        policy=EdgeSelection(policy, _PARTS, until_proven=False),
        roots=roots,
    )
    trees.search(settings.simulations)
    actions, values = np.zeros(rows, np.int64), np.zeros(rows)
    improved: Array = np.zeros(shape, np.float32)
    after: Array = np.zeros((rows, game.num_actions + 1), np.float32)
    after[:, -1] = np.nan
    trees.compiled(read_gumbel_roots)(
        policy, trees.tree, actions, improved.ravel(), values, after.ravel()
    )
    return GumbelResults(actions, improved, values, after)
