"""95 % confidence intervals of what a match counts, over its openings."""

from __future__ import annotations

import math

from boardenvs.game.state import BoolArray, FloatArray

Z95 = 1.959963984540054  # the normal distribution's 97.5 % quantile


def score_interval(pair_scores: FloatArray) -> tuple[float, float]:
    """A 95 % confidence interval of the mean of scores from 0 to 1, one a pair of games.

    The two games of a pair share an opening and so are not independent: the pairs are what is
    counted. It is Wilson's interval, which stays within 0 and 1 and does not shrink to a point
    when all scores agree, for as many coin tosses as have the variance of the pairs' mean.
    """
    pairs, mean = len(pair_scores), float(pair_scores.mean())
    variance = float(pair_scores.var(ddof=1)) if pairs > 1 else 0.0
    tosses = pairs * mean * (1 - mean) / variance if variance > 0 else float(pairs)
    squared = Z95**2 / tosses
    centre = (mean + squared / 2) / (1 + squared)
    radius = math.sqrt(squared * mean * (1 - mean) + squared**2 / 4) / (1 + squared)
    # Rounding may put an end on the wrong side of a mean of 0 or 1.
    return min(mean, max(0.0, centre - radius)), max(mean, min(1.0, centre + radius))


def share_interval(games: BoolArray) -> tuple[float, float]:
    """`score_interval` of the share of games (2, pairs) that are marked, such as those won."""
    return score_interval(games.mean(axis=0))
