"""A player's rating, by games against the anchors of a rating pool that tell most.

The model is the one in `boardenvs.arena.ratings`, with the anchors' ratings given. The information
of a game on a rating is the variance of its result, p (1 - p) with the expected score p: most at
p = 1/2. The next games are always against the anchor with the most information for the games played
so far, so anchors far from the player are met little, and no single anchor decides.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from boardenvs.agents.spec import agent_for
from boardenvs.arena.executor import HERE, Executor
from boardenvs.arena.match import play_match
from boardenvs.arena.match_result import MatchResult
from boardenvs.arena.player import PlayerStats
from boardenvs.arena.pools import Anchor, RatingPool
from boardenvs.arena.ratings import (
    PRIOR,
    REPLICATES,
    SCALE,
    SURPRISE,
    Z95,
    expected_scores,
    last_below,
)
from boardenvs.game.game import Game
from boardenvs.game.state import FloatArray
from boardenvs.games import make

_FEWEST, _MOST = 4, 25  # openings between two choices of an anchor
_REACH = 4000.0  # Elo points beyond the pool's ends in which ratings are searched


@dataclass(frozen=True)
class AnchorGames:
    """The games against one anchor."""

    agent: str
    rating: float  # the anchor's
    games: int
    score: float  # the player's, 0 to 1
    expected: float  # by the player's rating


@dataclass(frozen=True)
class Estimate:
    """A player's rating in the Elo points of a pool."""

    rating: float
    low: float | None  # ends of the 95 % interval; None if the games give none
    high: float | None
    where: Literal["on", "above", "below"]  # above or below all anchors, if that is sure
    games: int
    seconds: float
    against: tuple[AnchorGames, ...]  # the strongest anchor first
    stats: PlayerStats  # of the player


def estimate_rating(
    game: Game | str,
    agent: object,
    pool: RatingPool,
    *,
    games: int = 1000,
    seconds: float | None = 100.0,
    seed: int = 0,
    executor: Executor = HERE,
    progress: Callable[[int, float], None] = lambda games, rating: None,
) -> Estimate:
    """Estimate a player's rating by at most `games` games, in about `seconds`.

    Each opening is played twice, with roles swapped. With `seconds` None the same seed gives the
    same result, also by the workers of an `executor`, which make the agent themselves. An anchor
    that is the player itself, by its text, is not met. `progress` is called with the games so far
    and the rating.

    ValueError for fewer than two games, an unknown game, or one that the agent cannot play.

    ```python
    import boardenvs
    from boardenvs.arena import estimate_rating, rating_pool

    game = boardenvs.games.make("wolf_and_sheep")
    estimate = estimate_rating(game, boardenvs.make_agent("greedy"), rating_pool(game), games=40)
    print(estimate.rating, estimate.low, estimate.high, estimate.where)
    ```
    """
    if games < 2:
        raise ValueError(f"games is {games}: it must be 2 or more")
    if seconds is not None and not seconds > 0:
        raise ValueError(f"seconds is {seconds}: it must be more than 0")
    game = make(game)
    player = agent if executor.parallel else agent_for(game, agent)
    met = _Met([anchor for anchor in pool.anchors if anchor.agent != agent])
    began, played = time.monotonic(), 0
    interval_rng, seeds = np.random.default_rng(seed).spawn(2)
    while pairs := _pairs_next(played, games, time.monotonic() - began, seconds):
        chosen = met.next()
        match = play_match(
            game,
            player,
            met.anchors[chosen].agent,
            pairs,
            seed=int(seeds.integers(1 << 62)),
            executor=executor,
        )
        met.add(chosen, match)
        played += match.games
        progress(played, met.rating)
    return met.estimate(interval_rng, time.monotonic() - began)


def _pairs_next(played: int, games: int, passed: float, seconds: float | None) -> int:
    """Return the openings to play until an anchor is chosen again; 0 at one of the limits."""
    pairs: float = min(max(played // 8, _FEWEST), _MOST, (games - played) // 2)
    if seconds is not None and played:
        pairs = min(pairs, (seconds - passed) / (passed / played) / 2)
    return max(int(pairs), 0)


class _Met:
    """The games so far against each of k anchors."""

    def __init__(self, anchors: Sequence[Anchor]) -> None:
        self.anchors = anchors
        self._ratings = np.array([anchor.rating for anchor in anchors])
        self._scores: list[list[float]] = [[] for _ in anchors]  # of pairs of games, 0 to 1
        self._stats: list[PlayerStats] = []
        self._reach = self._ratings.min() - _REACH, self._ratings.max() + _REACH

    def add(self, chosen: int, match: MatchResult) -> None:
        """Add a match of the player against one of the anchors."""
        self._scores[chosen] += match.pair_scores.tolist()
        self._stats.append(match.stats[0])

    @property
    def games(self) -> FloatArray:
        """Games against each anchor, (k,)."""
        return np.array([2.0 * len(scores) for scores in self._scores])

    @property
    def rating(self) -> float:
        """The most likely rating; before any game the middle of the pool."""
        if not self.games.any():
            return float(self._ratings.min() + self._ratings.max()) / 2
        points = np.array([2.0 * sum(scores) for scores in self._scores])
        return float(self._fit(points.sum()[None])[0])

    def next(self) -> int:
        """Return the anchor to meet next."""
        return int((self._information() / (self.games + 1)).argmax())

    def estimate(self, rng: np.random.Generator, seconds: float) -> Estimate:
        """Return the estimate; chance decides the interval's last digits."""
        low, high = self._interval(rng)
        where: Literal["on", "above", "below"] = "on"
        if low is not None and low > self._ratings.max():
            where = "above"
        elif high is not None and high < self._ratings.min():
            where = "below"
        columns = zip(self.anchors, self._scores, self._expected().tolist(), strict=True)
        against = [
            AnchorGames(one.agent, one.rating, 2 * len(scores), float(np.mean(scores)), expected)
            for one, scores, expected in columns
            if scores
        ]
        against.sort(key=lambda games: -games.rating)
        return Estimate(
            self.rating,
            low,
            high,
            where,
            int(self.games.sum()),
            seconds,
            tuple(against),
            PlayerStats.sum(self._stats),
        )

    def _interval(self, rng: np.random.Generator) -> tuple[float | None, float | None]:
        """Return both ends, by a bootstrap over pairs of games, the errors of the anchors' own
        ratings, and the disagreement between anchors.
        """
        total = sum(sum(scores) for scores in self._scores)
        if total == 0 or 2 * total == self.games.sum():
            end = self._end_of_a_row(won=total > 0)
            return (end, None) if total else (None, end)
        points = np.zeros(REPLICATES)
        for scores in self._scores:
            if scores:
                drawn = rng.integers(len(scores), size=(REPLICATES, len(scores)))
                points += 2 * np.array(scores)[drawn].sum(axis=1)
        low, high = np.percentile(self._fit(points), [2.5, 97.5])
        rating, weight = self.rating, self.games * self._information()
        errors = np.array([anchor.error for anchor in self.anchors])
        own = Z95 * math.sqrt(float((weight * errors**2).sum() / weight.sum()))
        apart = Z95 * SCALE * math.sqrt(self._disagreement()) / float(weight.sum())
        return (
            rating - math.hypot(rating - low, own, apart),
            rating + math.hypot(high - rating, own, apart),
        )

    def _disagreement(self) -> float:
        """Return the variance of the points between anchors, beyond chance.

        No single rating fits a player that beats strong anchors and loses to weak ones: the points
        against each anchor are then farther from the expected ones than they vary among the pairs
        of games. Anchors far from the rating, where the model is least true, count as little
        here as in the rating (Liang and Zeger 1986, https://doi.org/10.1093/biomet/73.1.13).
        """
        met = np.flatnonzero(self.games)
        if len(met) < 2:
            return 0.0
        expected = self._expected()
        between = chance = 0.0
        for i in met:
            points = 2 * np.array(self._scores[i])
            between += float((points - 2 * expected[i]).sum()) ** 2
            chance += len(points) * float(points.var(ddof=1 if len(points) > 1 else 0))
        return max(0.0, between * len(met) / (len(met) - 1) - chance)

    def _expected(self) -> FloatArray:
        """Return the expected score against each anchor, (k,)."""
        return expected_scores(np.array([self.rating]), self._ratings).ravel()

    def _information(self) -> FloatArray:
        """Return the information of a game against each anchor on the rating, (k,)."""
        expected = self._expected()
        return expected * (1 - expected)

    def _end_of_a_row(self, won: bool) -> float:
        """Return the rating at which winning, or losing, all games has a chance of 2.5 %."""

        def below(rating: FloatArray) -> bool:
            distance = (1 if won else -1) * (self._ratings - rating) / SCALE
            return bool(((self.games * np.logaddexp(0, distance)).sum() > SURPRISE) == won)

        return float(last_below(below, *self._reach))

    def _fit(self, points: FloatArray) -> FloatArray:
        """Return the ratings (n,) with these expected points (n,). The weak prior is a drawn game,
        spread over the anchors.
        """
        games, wanted = self.games + PRIOR / len(self.games), points + PRIOR / 2
        low, high = (np.full(len(points), end) for end in self._reach)
        return last_below(
            lambda rating: (games * expected_scores(rating, self._ratings)).sum(axis=1) < wanted,
            low,
            high,
        )
