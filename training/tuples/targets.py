"""What positions are worth: the targets that weights are fitted to.

In games won by points, points that the side to move is ahead in the end, where squares that stay
empty are the winner's, as in tournaments: else to be left without a disc after few moves, which is
the worst that can happen, would seem a small loss. In other games hundredths of a win.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from boardenvs.game.contract import Game
from boardenvs.game.state import IntArray, State
from boardenvs.search import Engine
from boardenvs.search.compiled.values import DECIDED
from boardenvs.search.compiled.values import WIN as SEARCHED_WIN
from boardenvs.search.evaluation import POINT, WON
from training.tuples.settings import TargetSettings

Float32Array: TypeAlias = np.ndarray[Any, np.dtype[np.float32]]

WIN = WON // POINT  # what a won game counts where points do not


def of_ended(game: Game, ended: State) -> Float32Array:
    """Of games that are over, (B,)."""
    lead: Float32Array = game.score_margin(ended).astype(np.float32)
    if not game.margin_counts:
        lead = WIN * np.sign(lead)
    else:
        lead += np.sign(lead) * _empty_squares(game, ended)
    return lead


def of_search(
    engine: Engine, state: State, settings: TargetSettings, rng: np.random.Generator
) -> Float32Array:
    """By a search of each position, none of them over, (B,)."""
    game = engine.game
    seeds = rng.integers(1 << 64, size=len(state.ply), dtype=np.uint64)
    found = engine.search(state, seeds, settings.limits, forced=True)
    value = found.value
    sign = np.sign(value)
    decided = abs(value) > DECIDED
    worth = (value / POINT).astype(np.float32)
    if not game.margin_counts:
        worth[decided] = WIN * sign[decided]
        return worth
    # A search by depth sees an end in the middle of the game; at least so many squares are empty.
    ended_early = _empty_squares(game, state) - found.depth
    lead = value - SEARCHED_WIN * sign + sign * ended_early
    worth[decided] = lead[decided]
    return worth


def strayed(game: Game, state: State, share: float, rng: np.random.Generator) -> State:
    """The state with a share of its positions a random move later, where that does not end them."""
    if not share:
        return state
    straying = rng.random(len(state.ply)) < share
    after = game.step(state, game.sample(state, rng))
    straying &= ~game.is_over(after)
    return State(
        *(
            np.where(straying.reshape(-1, *[1] * (old.ndim - 1)), new, old)
            for old, new in zip(state, after, strict=True)
        )
    )


def _empty_squares(game: Game, state: State) -> IntArray:
    taken = state.own | state.opp | np.uint64(game.holes)
    empty: IntArray = 64 - np.bitwise_count(taken).astype(np.int64)
    return empty
