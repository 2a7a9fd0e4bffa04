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

from boardenvs.board.bitboard import Board
from boardenvs.game.state import FloatArray, IntArray, take
from boardenvs.search.evaluation import POINT, Evaluation, Terms
from training.ntuple.play import Positions
from training.ntuple.settings import FitSettings

_LARGEST = np.iinfo(np.int16).max
_HELD_BACK = 20  # a game in so many is not fitted
_ROWS = 1 << 17  # positions whose numbers are worked out at once


class Fit(NamedTuple):
    """Fitted weights and how well they tell results."""

    weights: FloatArray  # (stages, size + 1), in units of the results; the heuristic's last
    error: FloatArray  # (stages,): root of the mean squared error of positions that were held back
    deviation: FloatArray  # (stages,): the same of a constant, the results' standard deviation
    held_back: IntArray  # (stages,): how many these were


def stages_of(board: Board, count: int, fewest: int, most: int) -> IntArray:
    """The stage by the pieces on the board, (squares + 1,): so many of equal length from fewest to
    most.
    """
    pieces = np.arange(board.size + 1)
    stages: IntArray = (pieces - fewest) * count // (most - fewest + 1)
    return np.clip(stages, 0, count - 1)


def fit(
    terms: Terms,
    stages: IntArray,
    positions: Positions,
    heuristic: FloatArray,
    settings: FitSettings,
    progress: Callable[[int], None],
    begun: FloatArray | None = None,
    share: float = 1.0,
) -> Fit:
    """Fit each stage; `heuristic`, (N,), is what the game's own heuristic says of the positions, 0
    where it is not weighed.

    Weights `begun` as `Fit.weights` are corrected: what they leave of the results is fitted, and a
    share of that is added to them.
    """
    count = int(stages.max()) + 1
    weights = np.zeros((count, terms.size + 1)) if begun is None else begun.copy()
    found = Fit(weights, np.zeros(count), np.zeros(count), np.zeros(count, np.int64))
    held_back = positions.game % _HELD_BACK == 0
    stage = stages[terms.game.piece_counts(positions.as_state(terms.game))]
    results = positions.result.astype(np.float64)
    everything = _Sample(_numbers(terms, positions), heuristic, results)
    for k, its in enumerate(weights):
        near = np.flatnonzero((abs(stage - k) <= 1) & ~held_back)
        counted = np.where(stage[near] == k, 1.0, settings.neighbours)
        its += share * _solve(everything.take(near), counted, its, settings)
        test = everything.take(np.flatnonzero((stage == k) & held_back))
        found.held_back[k] = len(test.results)
        if len(test.results):
            found.error[k] = np.sqrt(np.mean((test.said(its) - test.results) ** 2))
            found.deviation[k] = test.results.std()
        progress(k + 1)
    return found


class _Sample(NamedTuple):
    """Some positions, each of which is a sum of some of the weights, and what they came to."""

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

    def collect(self, values: FloatArray, size: int, power: int = 1) -> FloatArray:
        """For each of so many weights the sum of the values of the positions that have it."""
        total = np.zeros(size)
        for column in self.seen.T:
            total[:-1] += np.bincount(column, values, size - 1)
        total[-1] = (values * self.heuristic**power).sum()
        return total


def _solve(
    sample: _Sample, counted: FloatArray, begun: FloatArray, settings: FitSettings
) -> FloatArray:
    """What is to be added to weights, by preconditioned conjugate gradients; each position counts
    so much.
    """
    weights = np.zeros_like(begun)
    diagonal = sample.collect(counted, len(weights), 2) + settings.prior
    residual = sample.collect(counted * (sample.results - sample.said(begun)), len(weights))
    step = residual / diagonal
    direction, size = step, float(residual @ step)
    for _ in range(settings.iterations):
        if size <= 0:
            break
        image = sample.collect(counted * sample.said(direction), len(weights))
        image += settings.prior * direction
        length = size / float(direction @ image)
        weights += length * direction
        residual = residual - length * image
        step = residual / diagonal
        before, size = size, float(residual @ step)
        direction = step + size / before * direction
    return weights


def _numbers(terms: Terms, positions: Positions) -> IntArray:
    """The weights of each position, (N, terms) int32."""
    state = positions.as_state(terms.game)
    starts = range(0, max(len(positions.result), 1), _ROWS)
    parts = (terms.weights_of(take(state, slice(k, k + _ROWS))) for k in starts)
    return np.concatenate([part.astype(np.int32) for part in parts])


def as_weights(evaluation: Evaluation) -> FloatArray:
    """The weights of an evaluation as `Fit.weights`."""
    return np.column_stack([evaluation.weights, evaluation.heuristic]) / POINT


def as_evaluation(
    terms: Terms, stages: IntArray, fitted: FloatArray, notes: dict[str, object]
) -> Evaluation:
    """The evaluation of weights as `Fit.weights`, rounded."""
    weights = np.clip(np.rint(POINT * fitted[:, :-1]), -_LARGEST, _LARGEST).astype(np.int16)
    heuristic = np.clip(POINT * fitted[:, -1], -127, 127).tolist()
    return Evaluation(
        terms.game,
        terms.places.tuples,
        tuple(stages.tolist()),
        weights,
        tuple(heuristic),
        notes,
        features=terms.features,
    )
