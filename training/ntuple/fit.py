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
from scipy.sparse import csr_array

from boardenvs.board.bitboard import Board
from boardenvs.game.state import FloatArray, IntArray
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
    for k, its in enumerate(weights):
        near = np.flatnonzero((abs(stage - k) <= 1) & ~held_back)
        counted = np.where(stage[near] == k, 1.0, settings.neighbours)
        sums = _sums(terms, positions.take(near), heuristic[near])
        its += share * _solve(sums, results[near] - sums @ its, counted, settings)
        test = np.flatnonzero((stage == k) & held_back)
        found.held_back[k] = len(test)
        if len(test):
            said = _sums(terms, positions.take(test), heuristic[test]) @ its
            found.error[k] = np.sqrt(np.mean((said - results[test]) ** 2))
            found.deviation[k] = results[test].std()
        progress(k + 1)
    return found


def _sums(terms: Terms, positions: Positions, heuristic: FloatArray) -> csr_array:
    """Which weights each position is the sum of, (N, terms.size + 1), the heuristic's last."""
    count = len(terms.places.squares) + len(terms.features)
    rows = np.empty((len(heuristic), count + 1), np.int32)
    rows[:, -1] = terms.size
    for start in range(0, len(rows), _ROWS):
        part = slice(start, start + _ROWS)
        rows[part, :-1] = terms.weights_of(positions.take(part).as_state(terms.game))
    times = np.ones(rows.shape)
    times[:, -1] = heuristic
    starts = np.arange(len(rows) + 1, dtype=np.int32 if rows.size < 1 << 31 else np.int64)
    shape = (len(rows), terms.size + 1)
    return csr_array((times.ravel(), rows.ravel(), starts * rows.shape[1]), shape)


def _solve(
    sums: csr_array, left: FloatArray, counted: FloatArray, settings: FitSettings
) -> FloatArray:
    """The weights whose sums come nearest to what is left, (N,), by preconditioned conjugate
    gradients; each position counts so much.
    """
    weights, columns = np.zeros(sums.shape[1]), sums.T
    diagonal = sums.power(2).T @ counted + settings.prior
    residual = columns @ (counted * left)
    step = residual / diagonal
    direction, size = step, float(residual @ step)
    for _ in range(settings.iterations):
        if size <= 0:
            break
        image = columns @ (counted * (sums @ direction)) + settings.prior * direction
        length = size / float(direction @ image)
        weights += length * direction
        residual = residual - length * image
        step = residual / diagonal
        before, size = size, float(residual @ step)
        direction = step + size / before * direction
    return weights


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
