"""Finds the players `level:1` to `level:10` of a game: ten mixtures at even steps in strength.

A mixture plays some moves as one anchor of the pool and the others as the next stronger one, so
there are mixtures of any strength between the weakest anchor and the strongest quick one. Levels
are put at equal distances by the anchors' ratings, and each plays the one below. What they score
corrects the strengths, and levels are put at equal distances again, until each surely beats the one
below and all steps are about equal. Every round has openings of its own. A level's rating follows
from its games against the pool and from those against its neighbours.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from pool import PLAYOUTS

from boardenvs.agents import make_agent
from boardenvs.agents.levels import LEVELS, Mixture
from boardenvs.arena import MatchResult, RatingPool, estimate_rating, play_match
from boardenvs.arena.ratings import SCALE, Z95
from boardenvs.game.game import Game

# Quick players that will not change, so no networks.
_INGREDIENTS = (
    "random",
    "greedy",
    "positional",
    "alphabeta:depth=2",
    "alphabeta:depth=4",
    "alphabeta:depth=1,evaluation=trained",
    "alphabeta:depth=2,evaluation=trained",
    "alphabeta:depth=4,evaluation=trained",
    "perfect",
    *PLAYOUTS,
)
_LEAST = 0.6  # lower end of the 95 % interval of a level's score against the one below
_UNEVEN = 0.03  # the largest distance of such a score from the mean of all
_GAMES = 0.6  # that rate a level, for each pair of two levels


def find_levels(
    game: Game, pool: RatingPool, seed: int, pairs: int, rounds: int, say: Callable[[str], None]
) -> list[dict[str, Any]]:
    """The levels, measured, as `boardenvs.agents.levels` reads them.

    In each of at most so many rounds each level plays so many `pairs` against the one below. `say`
    gets a line about each round. If no round has steps that are long enough, the best round's
    levels are returned.
    """
    rng = np.random.default_rng(seed)
    anchors = [anchor for anchor in pool.anchors if anchor.agent in _INGREDIENTS]
    places = np.linspace(0, len(anchors) - 1, 200)  # 1.5: half the moves as anchor 1, half as 2
    strength = np.interp(places, np.arange(len(anchors)), [a.rating for a in anchors])
    best: tuple[bool, float] = (False, -1.0)
    for number in range(1, rounds + 1):
        wanted = np.linspace(strength[0], strength[-1], LEVELS)
        chosen = np.interp(wanted, strength, places).tolist()
        levels = [_level([anchor.agent for anchor in anchors], place) for place in chosen]
        matches = [
            play_match(game, _mixture(b), _mixture(a), pairs, seed=int(rng.integers(1 << 62)))
            for a, b in itertools.pairwise(levels)
        ]
        scores = np.array([match.score for match in matches])
        lowest = min(match.interval[0] for match in matches)
        even = bool((abs(scores - scores.mean()) <= _UNEVEN).all())
        scored = ", ".join(f"{score:.3f}" for score in scores)
        say(f"{pool.game}, round {number}: scores {scored}, intervals from {lowest:.3f}")
        if (quality := (lowest >= _LEAST and even, lowest)) > best:
            best, found = quality, (levels, matches)
        if best[0]:
            break
        # No step is 0, so that levels stay in order.
        steps = [SCALE * np.log(score / (1 - score)) for score in np.clip(scores, 0.51, 0.99)]
        strength = np.interp(strength, wanted, [0.0, *np.cumsum(steps)])
    if best[1] < _LEAST:
        say(f"{pool.game}: some steps are shorter than {_LEAST}")
    return _measured(game, pool, *found, round(_GAMES * pairs), rng)


def _measured(
    game: Game,
    pool: RatingPool,
    levels: list[dict[str, Any]],
    matches: list[MatchResult],
    games: int,
    rng: np.random.Generator,
) -> list[dict[str, Any]]:
    """The levels with their ratings by the pool and their scores against the level below."""
    anchors = {anchor.agent: anchor for anchor in pool.anchors}
    for level in levels:
        itself = {0.0: level["weaker"], 1.0: level["stronger"]}.get(level["share"])
        if itself in anchors:  # it has its rating already
            rating, reach = anchors[itself].rating, Z95 * anchors[itself].error
            low, high = rating - reach, rating + reach
        else:
            seed, player = int(rng.integers(1 << 62)), _mixture(level)
            found = estimate_rating(game, player, pool, games=games, seconds=None, seed=seed)
            rating, low, high = found.rating, found.low, found.high
        values = {"rating": rating, "low": low, "high": high}
        level |= {name: None if x is None else round(x, 1) for name, x in values.items()}
    for level, match in zip(levels[1:], matches, strict=True):
        low, high = match.interval
        values = {"score": match.score, "low": low, "high": high}
        rounded = {name: round(x, 3) for name, x in values.items()}
        level["beats_level_below"] = {**rounded, "games": match.games}
    return combined(levels, set(anchors))


def combined(levels: list[dict[str, Any]], anchors: set[str]) -> list[dict[str, Any]]:
    """Return the levels rated by all that was measured: by the pool and against the level below.

    Least squares, each measurement weighted by its interval; levels that are anchors keep their
    ratings. Where the measurements contradict each other more than their intervals allow, the new
    intervals are wider by the root of the mean square of the contradictions (Birge, 1932).
    """
    count, own = len(levels), {0.0: "weaker", 1.0: "stronger"}
    itself = [level.get(own.get(level["share"], "")) in anchors for level in levels]
    rows: list[Any] = []
    values: list[float] = []
    errors: list[float] = []
    for i, level in enumerate(levels):
        if level["low"] is not None and level["high"] is not None:
            rows.append(np.eye(count)[i])
            values.append(level["rating"])
            errors.append(1e-3 if itself[i] else (level["high"] - level["low"]) / (2 * Z95))
        if step := level.get("beats_level_below"):
            odds = [np.clip(step[name], 0.001, 0.999) for name in ("low", "score", "high")]
            low, score, high = (SCALE * np.log(share / (1 - share)) for share in odds)
            rows.append(np.eye(count)[i] - np.eye(count)[i - 1])
            values.append(score)
            errors.append((high - low) / (2 * Z95))
    weights = 1 / np.array(errors)
    matrix = np.array(rows) * weights[:, None]
    found, *_ = np.linalg.lstsq(matrix, np.array(values) * weights, rcond=None)
    left = ((matrix @ found - np.array(values) * weights) ** 2).sum()
    spread = max(1.0, left / max(1, len(rows) - count)) ** 0.5
    reach = Z95 * spread * np.sqrt(np.diag(np.linalg.pinv(matrix.T @ matrix)))
    rated = []
    for level, rating, far, fixed in zip(levels, found, reach, itself, strict=True):
        new = {"rating": rating, "low": rating - far, "high": rating + far}
        rated.append(level if fixed else level | {k: round(float(x), 1) for k, x in new.items()})
    return rated


def _level(agents: list[str], place: float) -> dict[str, Any]:
    below = min(int(place), len(agents) - 2)
    weaker, stronger, share = agents[below], agents[below + 1], place - below
    if stronger == "perfect":
        share = 1 - (1 - share) ** 2  # there a few mistakes make the difference
    return {"weaker": weaker, "stronger": stronger, "share": round(share, 3)}


def _mixture(level: dict[str, Any]) -> Mixture:
    return Mixture(make_agent(level["weaker"]), make_agent(level["stronger"]), level["share"])
