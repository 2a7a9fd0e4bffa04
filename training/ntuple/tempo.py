"""Evaluations that favour neither the side to move nor the other side.

Learnt values are too high, or too low, for the side to move, and then values of odd and even depths
differ (https://www.chessprogramming.org/Odd-Even_Effect).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from boardenvs.game.state import take, where
from boardenvs.search import Evaluation, Limits, alphabeta_for
from boardenvs.search.compiled.nodes import DECIDED

_GAMES = 1000
_RANDOM = 0.2  # share of moves


def without_tempo(evaluation: Evaluation, rng: np.random.Generator) -> Evaluation:
    """Return the evaluation less what it credits to the side to move in each stage.

    A value and the value of a search of one ply differ by the credits of both stages, which least
    squares find from games. Tuples carry them, so an evaluation without tuples stays as it is.
    """
    if not evaluation.tuples:
        return evaluation
    game, stages = evaluation.game, np.array(evaluation.stages)
    state, engine = game.init(_GAMES), alphabeta_for(game, evaluation)
    counts, differences = [], []
    while len(state.ply):
        seeds = rng.integers(1 << 64, size=len(state.ply), dtype=np.uint64)
        searched = engine.search(state, seeds, Limits(1), forced=True)
        random = rng.random(len(seeds)) < _RANDOM
        after = where(
            random, game.step(state, game.sample(state, rng)), game.step(state, searched.action)
        )
        undecided = (abs(searched.value) < DECIDED) & ~game.is_over(after)
        both = stages[np.stack([game.piece_counts(state), game.piece_counts(after)])[:, undecided]]
        counts.append((both[..., None] == np.arange(stages.max() + 1)).sum(axis=0))
        differences.append((evaluation.values(state) - searched.value)[undecided])
        state = take(after, ~game.is_over(after))
    credit = np.linalg.lstsq(np.concatenate(counts), np.concatenate(differences), rcond=None)[0]
    kept, start = evaluation.terms.kept[-1], evaluation.terms.starts[-1]
    share = np.rint(credit / evaluation.terms.starts.count(start)).astype(np.int16)
    weights = evaluation.weights.copy()
    weights[:, np.unique(kept)] -= share[:, None]
    return replace(evaluation, weights=weights)
