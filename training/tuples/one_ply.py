"""Weights of their own for a search of one ply, learnt from how games of such searches end.

An evaluation for deeper search says what comes of a position by good play. Who looks one ply ahead
plays less well, and needs to know what comes of a position by such play. That changes with the
weights, so they are learnt in rounds: games, and a step towards what came of them (policy iteration
by Monte Carlo). Steps lead to and fro; the mean of several rounds plays better than they do.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from boardenvs.search import Evaluation
from boardenvs.search.evaluation import Int16Array
from training.tuples.fit import Correction, as_evaluation, fit
from training.tuples.play import Positions, play
from training.tuples.settings import OnePlySettings

_AT_ONCE = 2000  # games


def play_round(
    before: Evaluation, settings: OnePlySettings, seed: list[int], progress: Callable[[int], None]
) -> Evaluation:
    """The evaluation before, a step nearer to what came of games by it; `progress` is told how many
    games are played.
    """
    parts: list[Positions] = []
    for start in range(0, settings.games, _AT_ONCE):
        rng = np.random.default_rng([*seed, start])
        count = min(_AT_ONCE, settings.games - start)
        found = play(before.game, before, settings.playing, count, rng)
        parts.append(found._replace(game=found.game + np.int32(start)))
        progress(start + count)
    return _step(before, Positions.joined(parts), settings, progress)


def _step(
    before: Evaluation,
    positions: Positions,
    settings: OnePlySettings,
    progress: Callable[[int], None],
) -> Evaluation:
    terms, stages = before.terms, np.array(before.stages)
    correction = Correction(before, settings.step)

    def fitted(stage: int) -> None:
        progress(settings.games)

    found = fit(terms, stages, positions, None, settings.fit, fitted, correction)
    return as_evaluation(terms, stages, found, {})


def mean_weights(rounds: list[Evaluation]) -> Int16Array:
    """The mean of their weights."""
    weights = np.mean([e.weights.astype(np.float64) for e in rounds], axis=0)
    rounded: Int16Array = np.rint(weights).astype(np.int16)
    return rounded
