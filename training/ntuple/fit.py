"""Weights by linear regression: what positions came to, least squares.

The normal equations are solved by conjugate gradients, preconditioned by how often each weight was
seen (M. Buro, "Experiments with Multi-ProbCut and a new high-quality evaluation function for
Othello", 1997, fits by gradients). Each stage of the game has weights of its own, from positions of
its neighbours too, which count less.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from boardenvs.game.state import FloatArray, IntArray, take
from boardenvs.search.evaluation import POINT, Evaluation, Terms
from training.ntuple.play import Positions
from training.ntuple.settings import FitSettings

_LARGEST = np.iinfo(np.int16).max
_HELD_BACK = 20  # a game in so many is not fitted
_ROWS = 1 << 17  # positions whose numbers are worked out at once


class Correction(NamedTuple):
    """An evaluation whose weights are corrected: what it leaves of the results is fitted, and a
    share of that is added to them.
    """

    before: Evaluation
    share: float

    def weights(self, stage: int) -> FloatArray:
        """Its weights in a stage, in units of the results, that of the heuristic last."""
        evaluation = self.before
        return np.append(evaluation.weights[stage], evaluation.heuristic[stage]) / POINT


class Fit(NamedTuple):
    """Fitted weights and how well they tell results."""

    weights: FloatArray  # (stages, size), in units of the results
    heuristic: FloatArray  # (stages,)
    error: FloatArray  # (stages,): root of the mean squared error of positions that were held back
    deviation: FloatArray  # (stages,): the same of a constant, the results' standard deviation
    held_back: IntArray  # (stages,): how many these were


def stages_of(count: int, fewest: int, most: int) -> IntArray:
    """The stage by the pieces on the board, (65,): so many of equal length from fewest to most."""
    pieces = np.arange(65)
    stages: IntArray = (pieces - fewest) * count // (most - fewest + 1)
    return np.clip(stages, 0, count - 1)


def fit(
    terms: Terms,
    stages: IntArray,
    positions: Positions,
    heuristic: FloatArray,
    settings: FitSettings,
    progress: Callable[[int], None],
    correction: Correction | None = None,
) -> Fit:
    """Fit each stage; `heuristic`, (N,), is what the game's own heuristic says of the positions, 0
    where it is not weighed.
    """
    count = int(stages.max()) + 1
    held_back = positions.game % _HELD_BACK == 0
    stage = stages[np.bitwise_count(positions.own | positions.opp)]
    found = Fit(
        np.zeros((count, terms.size)),
        np.zeros(count),
        np.zeros(count),
        np.zeros(count),
        np.zeros(count, np.int64),
    )
    results = positions.result.astype(np.float64)
    everything = _Sample(_numbers(terms, positions), heuristic, results)
    for k in range(count):
        near = np.flatnonzero((abs(stage - k) <= 1) & ~held_back)
        shares = np.where(stage[near] == k, 1.0, settings.neighbours)
        equations = _Equations(everything.take(near), terms.size, shares, settings.prior)
        if correction is None:
            weights = _solve(equations, settings.iterations)
        else:
            begun = correction.weights(k)
            weights = begun + correction.share * _solve(equations, settings.iterations, begun)
        found.weights[k] = weights[: terms.size]
        found.heuristic[k] = weights[-1]
        test = everything.take(np.flatnonzero((stage == k) & held_back))
        found.held_back[k] = len(test.results)
        if len(test.results):
            found.error[k] = np.sqrt(np.mean((test.said(weights) - test.results) ** 2))
            found.deviation[k] = test.results.std()
        progress(k + 1)
    return found


class _Sample(NamedTuple):
    """Some positions and what they came to."""

    seen: IntArray  # (N, terms): the numbers of their weights
    heuristic: FloatArray  # (N,): what the game's own says of them
    results: FloatArray  # (N,)

    def take(self, rows: IntArray) -> _Sample:
        return _Sample(self.seen[rows], self.heuristic[rows], self.results[rows])

    def said(self, weights: FloatArray) -> FloatArray:
        """What weights, that of the heuristic last, say of each, (N,)."""
        said: FloatArray = weights[self.seen].sum(axis=1)
        said += weights[-1] * self.heuristic
        return said


def as_evaluation(
    terms: Terms, stages: IntArray, fitted: Fit, notes: dict[str, object]
) -> Evaluation:
    """The evaluation of these weights, rounded."""
    weights = np.clip(np.rint(POINT * fitted.weights), -_LARGEST, _LARGEST).astype(np.int16)
    heuristic = tuple(float(x) for x in np.clip(POINT * fitted.heuristic, -127, 127))
    return Evaluation(
        terms.game,
        terms.places.tuples,
        tuple(stages.tolist()),
        weights,
        heuristic,
        notes,
        features=terms.features,
    )


class _Equations:
    """The normal equations of positions, each of which is a sum of some of the weights."""

    def __init__(self, sample: _Sample, size: int, shares: FloatArray, prior: float) -> None:
        self.sample, self.size, self.shares, self.prior = sample, size, shares, prior
        self.diagonal = self._collect(shares, 2) + prior

    def apply(self, weights: FloatArray) -> FloatArray:
        """What the left side makes of weights."""
        return self.collect(self.sample.said(weights)) + self.prior * weights

    def collect(self, values: FloatArray) -> FloatArray:
        """For each weight the sum of the values, by their shares, of the positions that have it."""
        return self._collect(self.shares * values, 1)

    def _collect(self, values: FloatArray, power: int) -> FloatArray:
        total = np.zeros(self.size + 1)
        for column in self.sample.seen.T:
            total[:-1] += np.bincount(column, values, self.size)
        total[-1] = (values * self.sample.heuristic**power).sum()
        return total


def _solve(equations: _Equations, iterations: int, begun: FloatArray | None = None) -> FloatArray:
    """The weights, or what is to be added to others, by preconditioned conjugate gradients."""
    results = equations.sample.results
    if begun is not None:
        results = results - equations.sample.said(begun)
    weights = np.zeros(len(equations.diagonal))
    residual = equations.collect(results)
    step = residual / equations.diagonal
    direction, size = step, float(residual @ step)
    for _ in range(iterations):
        if size <= 0:
            break
        image = equations.apply(direction)
        length = size / float(direction @ image)
        weights += length * direction
        residual = residual - length * image
        step = residual / equations.diagonal
        before, size = size, float(residual @ step)
        direction = step + size / before * direction
    return weights


def _numbers(terms: Terms, positions: Positions) -> IntArray:
    """The weights of each position, (N, terms) int32."""
    state = positions.as_state(terms.game)
    starts = range(0, max(len(positions.own), 1), _ROWS)
    parts = (terms.weights_of(take(state, slice(k, k + _ROWS))) for k in starts)
    return np.concatenate([part.astype(np.int32) for part in parts])
