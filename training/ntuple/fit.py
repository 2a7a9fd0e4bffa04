"""Least squares: weights from positions and their targets.

Conjugate gradients solve the normal equations, preconditioned by how often each weight was seen
(M. Buro, "Experiments with Multi-ProbCut and a new high-quality evaluation function for Othello",
1997, fits by gradients). Each stage of the game has its own weights; positions of the neighbouring
stages count too, but less.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, cg

from boardenvs.board.bitboard import Board
from boardenvs.game.state import FloatArray, IntArray
from boardenvs.search.evaluation import POINT, Evaluation, Terms
from training.ntuple.ntuple_settings import FitSettings
from training.ntuple.play import Positions

_LARGEST = np.iinfo(np.int16).max
_HELD_BACK = 20  # one game in this many is not fitted
_ROWS = 1 << 17  # positions whose weights are looked up at once
_EXACT = 1e-15  # a residual that is no better than rounding


class Fit(NamedTuple):
    """Fitted weights, and how well they predict results."""

    weights: FloatArray  # (stages, size), in units of the results
    error: FloatArray  # (stages,): root mean squared error of the positions held back
    deviation: FloatArray  # (stages,): the standard deviation of their results


def stages_of(board: Board, count: int, fewest: int, most: int) -> IntArray:
    """Return the stage by the number of pieces, (squares + 1,): `count` stages of equal length."""
    pieces = np.arange(board.size + 1)
    stages: IntArray = (pieces - fewest) * count // (most - fewest + 1)
    return np.clip(stages, 0, count - 1)


def fit(
    terms: Terms,
    stages: IntArray,
    settings: FitSettings,
    positions: Positions,
    progress: Callable[[int], None] = lambda stage: None,
) -> Fit:
    """Return fitted weights of `terms` in each of the `stages`, whose number `progress` gets."""
    count = int(stages.max()) + 1
    result = Fit(np.zeros((count, terms.size)), np.zeros(count), np.zeros(count))
    held_back = positions.game % _HELD_BACK == 0
    stage = stages[terms.game.piece_counts(positions.as_state(terms.game))]
    results = positions.result.astype(np.float64)
    for k, weights in enumerate(result.weights):
        near = np.flatnonzero((abs(stage - k) <= 1) & ~held_back)
        counted = np.where(stage[near] == k, 1.0, settings.neighbours)
        weights[:] = _solve(_sums(terms, positions.take(near)), results[near], counted, settings)
        test = np.flatnonzero((stage == k) & held_back)
        if len(test):
            predicted = _sums(terms, positions.take(test)) @ weights
            result.error[k] = np.sqrt(np.mean((predicted - results[test]) ** 2))
            result.deviation[k] = results[test].std()
        progress(k + 1)
    return result


def _sums(terms: Terms, positions: Positions) -> csr_array:
    """Return which weights each position is the sum of, (N, terms.size)."""
    count = len(positions.result)
    rows = np.empty((count, len(terms.squares) + len(terms.features)), np.int32)
    for start in range(0, count, _ROWS):
        part = slice(start, start + _ROWS)
        rows[part] = terms.weights_of(positions.take(part).as_state(terms.game))
    starts = np.arange(count + 1, dtype=np.int32 if rows.size < 1 << 31 else np.int64)
    return csr_array(
        (np.ones(rows.size), rows.ravel(), starts * rows.shape[1]), (count, terms.size)
    )


def _solve(
    sums: csr_array, results: FloatArray, counted: FloatArray, settings: FitSettings
) -> FloatArray:
    """Return the weights whose sums are nearest to `results`, (N,), by preconditioned conjugate
    gradients; `counted`, (N,), is the weight of each position.
    """
    columns, size = sums.T, sums.shape[1:] * 2
    diagonal = np.maximum(sums.power(2).T @ counted + settings.prior, _EXACT)

    def normal(weights: FloatArray) -> FloatArray:
        return columns @ (counted * (sums @ weights)) + settings.prior * weights

    return cg(
        LinearOperator(size, normal, dtype=np.float64),
        columns @ (counted * results),
        rtol=_EXACT,
        maxiter=settings.iterations,
        M=LinearOperator(size, lambda residual: residual / diagonal, dtype=np.float64),
    )[0]


def as_evaluation(
    terms: Terms, stages: IntArray, fitted: FloatArray, notes: dict[str, object]
) -> Evaluation:
    """Return the evaluation with weights as `Fit.weights`, rounded."""
    return Evaluation(
        terms.game,
        terms.tuples,
        tuple(stages.tolist()),
        np.clip(np.rint(POINT * fitted), -_LARGEST, _LARGEST).astype(np.int16),
        notes=notes,
        features=terms.features,
    )
