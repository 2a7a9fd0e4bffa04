"""Statistics of strength: intervals of scores, and ratings by a Bradley-Terry fit.

In the model of Bradley and Terry (1952, https://doi.org/10.2307/2334029) entrant i scores
1 / (1 + 10 ** ((r_j - r_i) / 400)) against j, on the scale of Elo (1978). A draw counts as half a
win and half a loss. In the fit every entrant's expected points equal its points, so a rating
predicts scores, draws included. Models with a parameter for draws (Rao and Kupper 1967; Davidson
1970, https://doi.org/10.1080/01621459.1970.10481082) assume that all pairs of equals draw equally
often, which holds neither over several games nor from random play to perfect play. The games of a
pair depend on their opening: that makes the likelihood wrong in any of these models, but not the
expected points. The intervals come from resampling pairs and assume no model.

A weak prior keeps ratings finite: PRIOR drawn games of every entrant, spread evenly over the
others. If one group of entrants never scored against another, the games show only that the distance
is large (Ford 1957, https://doi.org/10.2307/2308513): the prior fixes its value, and the interval
has one end, beyond which losing all these games has a chance of less than 2.5 %; a bootstrap of
games that all ended alike would have no width.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from boardenvs.game.state import BoolArray, FloatArray

PRIOR = 1.0  # drawn games of the prior, per entrant
REPLICATES = 1000  # of the bootstrap

Z95 = 1.959963984540054  # the normal distribution's 97.5 % quantile
SCALE = 400 / math.log(10)  # Elo points of a factor e in the odds
SURPRISE = -math.log(0.025)  # of an event with a chance of 2.5 %
_MAX_STEPS, _MAX_CHANGE, _TOLERANCE = 200, 1.0, 1e-9


def score_interval(pair_scores: FloatArray) -> tuple[float, float]:
    """Return a 95 % confidence interval of the mean of scores from 0 to 1, one per pair of games.

    The two games of a pair share an opening and are not independent, so pairs are counted. It is
    Wilson's interval, which stays within 0 and 1 and does not shrink to a point when all scores
    agree, for the number of coin tosses that has the variance of the pairs' mean.
    """
    pairs, mean = len(pair_scores), float(pair_scores.mean())
    variance = float(pair_scores.var(ddof=1)) if pairs > 1 else 0.0
    tosses = pairs * mean * (1 - mean) / variance if variance > 0 else float(pairs)
    squared = Z95**2 / tosses
    centre = (mean + squared / 2) / (1 + squared)
    radius = math.sqrt(squared * mean * (1 - mean) + squared**2 / 4) / (1 + squared)
    # Rounding may put an end on the wrong side of a mean of 0 or 1.
    return min(mean, max(0.0, centre - radius)), max(mean, min(1.0, centre + radius))


@dataclass(frozen=True)
class Ratings:
    """Ratings of k entrants in Elo points, by index of `entrants`."""

    entrants: tuple[str, ...]  # the strongest first
    anchors: tuple[str, ...]  # whose ratings were given
    rating: FloatArray  # (k,)
    low: FloatArray  # (k,): ends of the 95 % interval, -inf or inf if the games give none
    high: FloatArray


def rate(
    entrants: Sequence[str],
    pair_points: Mapping[tuple[str, str], Sequence[FloatArray]],
    anchors: Mapping[str, float],
    seed: int | np.random.Generator = 0,
) -> Ratings:
    """Return ratings from the pairings that were played, given those of the `anchors`.

    `pair_points[a, b]` has, for each match of a against b, the points of both in each pair of
    games, (pairs, 2) float64. The bootstrap resamples pairs within each match; the same seed gives
    the same intervals. Without anchors the weakest is rated 0. ValueError for an unknown anchor.
    """
    if unknown := anchors.keys() - set(entrants):
        raise ValueError(f"anchors {sorted(unknown)} are none of {', '.join(entrants)}")
    index = {name: i for i, name in enumerate(entrants)}
    k = len(entrants)
    rng = np.random.default_rng(seed)
    points = np.zeros((k, k))
    replicates = np.zeros((REPLICATES, k, k))
    for (a, b), matches in pair_points.items():
        cells = [index[a], index[b]], [index[b], index[a]]
        for pairs in matches:
            n = len(pairs)
            points[cells] += pairs.sum(axis=0)
            drawn = pairs[rng.integers(n, size=(REPLICATES, n))].sum(axis=1)
            replicates[:, *cells] += drawn
    anchors = anchors or {entrants[np.argsort(-fit(points), kind="stable")[-1]]: 0.0}
    fixed = np.array([anchors.get(name, np.nan) for name in entrants])
    rating = fit(points, fixed)
    order = np.argsort(-rating, kind="stable")
    low, high = np.percentile(fit(replicates, fixed), [2.5, 97.5], axis=0)
    reach, is_anchor = _reaches(points > 0), np.isfinite(fixed)
    below: BoolArray = ~np.asarray(reach[:, is_anchor].any(axis=1))
    over: BoolArray = ~np.asarray(reach[is_anchor].any(axis=0))
    high[below] += _slack(points, rating, below, ~below)
    low[over] -= _slack(points, rating, ~over, over)
    low[below] = -np.inf
    high[over] = np.inf
    return Ratings(
        entrants=tuple(entrants[i] for i in order),
        anchors=tuple(anchors),
        rating=rating[order],
        low=low[order],
        high=high[order],
    )


def fit(points: FloatArray, fixed: FloatArray | None = None) -> FloatArray:
    """Return the most likely ratings (..., k) in Elo points, by points (..., k, k) of i against j.

    Draws are halves; the prior is added here. `fixed` ratings (k,), others NaN, stay;
    without any the mean is 0. Newton's method, with limited steps, finds the only maximum: the
    log-likelihood is concave.
    """
    k = points.shape[-1]
    free = np.ones(k, np.bool_) if fixed is None else np.isnan(fixed)
    start = np.zeros(k) if fixed is None else np.where(free, np.nanmean(fixed), fixed) / SCALE
    points = points + PRIOR / 2 / max(1, k - 1) * (1 - np.eye(k))
    games = points + np.swapaxes(points, -1, -2)
    scored = points.sum(axis=-1)
    theta = np.broadcast_to(start, points.shape[:-1])
    for _ in range(_MAX_STEPS):
        expected = 1 / (1 + np.exp(theta[..., None, :] - theta[..., :, None]))
        gradient = np.where(free, scored - (games * expected).sum(axis=-1), 0.0)
        if np.abs(gradient).max() < _TOLERANCE * max(1.0, float(scored.max())):
            return theta * SCALE
        weights = games * expected * (1 - expected)
        # The Laplacian of the weights; a constant in every cell fixes the ratings' mean.
        curvature = free.all() / k - weights
        curvature[..., np.arange(k), np.arange(k)] += weights.sum(axis=-1)
        curvature = np.where(free & free[:, None], curvature, np.eye(k))
        change = np.linalg.solve(curvature, gradient[..., None])[..., 0]
        largest = np.abs(change).max(axis=-1, keepdims=True)
        theta = theta + change * np.minimum(1.0, _MAX_CHANGE / np.maximum(largest, _MAX_CHANGE))
    raise ArithmeticError("the ratings do not converge")


def expected_scores(rating: FloatArray, others: FloatArray) -> FloatArray:
    """Return the expected scores of ratings (n,) against others (k,), (n, k), 0 to 1."""
    return 1 / (1 + np.exp((others - rating[:, None]) / SCALE))


def _slack(points: FloatArray, rating: FloatArray, lost: BoolArray, won: BoolArray) -> float:
    """Return how much stronger, in Elo points, the entrants that `lost` all games against those
    that `won` could be for that still to have a chance of 2.5 %; 0 without such games.
    """
    games = (points + points.T)[np.ix_(lost, won)]
    distance = (rating[lost][:, None] - rating[won]) / SCALE

    def surprise(shift: float) -> float:
        return float((games * np.logaddexp(0, distance + shift)).sum())

    if not games.size or surprise(0.0) >= SURPRISE:
        return 0.0
    low, high = 0.0, 50.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if surprise(middle) < SURPRISE else (low, middle)
    return low * SCALE


def _reaches(scored: BoolArray) -> BoolArray:
    """Return whether entrants, each with points against the next, lead from i to j, (k, k)."""
    reach: BoolArray = scored | np.eye(len(scored), dtype=np.bool_)
    for _ in range(len(scored).bit_length()):  # the chains' length doubles
        reach = reach @ reach
    return reach
