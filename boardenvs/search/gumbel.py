"""Gumbel AlphaZero search of many positions: an improved policy from few simulations.

Policy improvement by planning with Gumbel (Danihelka, Guez, Schrittwieser, Silver, ICLR 2022): the
action comes from sequential halving over a draw of actions, and the improved policy gives every
action its value, tried or not. With exact values the improved policy is never worse than the prior.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from boardenvs.game.game import Game
from boardenvs.game.state import Array, FloatArray, IntArray, State
from boardenvs.search.compiled.policies import (
    Gumbel,
    add_no_guesses,
    look_for_win,
    read_gumbel_roots,
    select_by_gumbel,
)
from boardenvs.search.compiled.tree import NONE
from boardenvs.search.compiler import room
from boardenvs.search.mcts import EdgeSelection, Evaluator, Trees, TreeSettings

# One leaf of a tree at a time: code for guesses would take long to compile.
_PARTS: dict[str, Callable[..., Any]] = {
    "select_edge": select_by_gumbel,
    "on_expand": look_for_win,
    "add_guesses": add_no_guesses,
}


class GumbelSettings(NamedTuple):
    """Parameters of a search, with the names of the paper."""

    simulations: int  # positions evaluated below a root
    considered: int = 16  # root actions tried, at most
    c_visit: float = 50.0  # values weigh (c_visit + most visits) * c_scale against logits
    c_scale: float = 0.3  # values are -1 to 1


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
    considered = max(1, min(settings.considered, game.num_actions))
    scores: FloatArray = np.zeros(shape)
    policy = Gumbel(
        c_visit=float(settings.c_visit),  # of one type, or machine code is made for each
        c_scale=float(settings.c_scale),
        scores=scores.ravel(),
        schedule=schedules(considered, settings.simulations).ravel(),
        considered=considered,
        winning=np.full(rows, NONE),
        simulations=settings.simulations,
        num_actions=game.num_actions,
        weights=room(game.num_actions, np.float64)[0],
    )
    trees = Trees(
        game,
        state,
        np.zeros(rows, np.uint64),
        TreeSettings(settings.simulations, 0.0, evaluator, leaves=1),
        policy=EdgeSelection(policy, _PARTS, until_proven=False),
        roots=roots,
    )
    with np.errstate(divide="ignore"):
        np.maximum(noise + np.log(trees.priors), -1e9, out=scores)
    trees.search(settings.simulations)
    actions, values = np.zeros(rows, np.int64), np.zeros(rows)
    improved: Array = np.zeros(shape, np.float32)
    after: Array = np.zeros((rows, game.num_actions + 1), np.float32)
    after[:, -1] = np.nan
    trees.compiled(read_gumbel_roots)(
        policy, trees.tree, actions, improved.ravel(), values, after.ravel()
    )
    return GumbelResults(actions, improved, values, after)


@lru_cache(maxsize=32)
def schedules(considered: int, simulations: int) -> IntArray:
    """Return `schedule` of 0 to `considered` actions, (considered + 1, simulations) int64."""
    rows = [schedule(count, simulations) for count in range(considered + 1)]
    return np.array(rows, np.int64)


def schedule(considered: int, simulations: int) -> list[int]:
    """Return the number of earlier visits of the action to try, for each simulation.

    This is sequential halving (Karnin et al. 2013): about log2(considered) phases share the
    simulations; after each phase the better half of the actions remains, two at least.
    """
    if considered <= 1:
        return list(range(simulations))
    phases = (considered - 1).bit_length()
    visits: list[int] = []
    tries, left = 0, considered
    while len(visits) < simulations:
        for _ in range(max(1, simulations // (phases * left))):
            visits += [tries] * left
            tries += 1
        left = max(2, left // 2)
    return visits[:simulations]
