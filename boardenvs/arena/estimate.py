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
from boardenvs.arena.ratings import SCALE, Z95, expected_scores, fit, rate
from boardenvs.game.game import Game
from boardenvs.game.state import FloatArray
from boardenvs.games import make

_FEWEST, _MOST = 4, 25  # openings between two choices of an anchor
_PLAYER = ""  # its name among the anchors


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
        self._pairs = [np.empty((0, 2)) for _ in anchors]  # points of the player and the anchor
        self._stats: list[PlayerStats] = []
        self.rating = float(self._ratings.min() + self._ratings.max()) / 2  # the most likely one

    def add(self, chosen: int, match: MatchResult) -> None:
        """Add a match of the player against one of the anchors."""
        self._pairs[chosen] = np.concatenate([self._pairs[chosen], match.pair_points])
        self._stats.append(match.stats[0])
        points = np.zeros((len(self.anchors) + 1,) * 2)
        points[0, 1:], points[1:, 0] = np.transpose([pairs.sum(axis=0) for pairs in self._pairs])
        self.rating = float(fit(points, np.array([np.nan, *self._ratings]))[0])

    @property
    def games(self) -> FloatArray:
        """Games against each anchor, (k,)."""
        return np.array([float(pairs.size) for pairs in self._pairs])

    def next(self) -> int:
        """Return the anchor to meet next."""
        return int((self._information() / (self.games + 1)).argmax())

    def estimate(self, rng: np.random.Generator, seconds: float) -> Estimate:
        """Return the estimate; chance decides the interval's last digits."""
        low, high = self._interval(rng)
        where: Literal["on", "above", "below"] = "on"
        if low > self._ratings.max():
            where = "above"
        elif high < self._ratings.min():
            where = "below"
        columns = zip(self.anchors, self._pairs, self._expected().tolist(), strict=True)
        against = [
            AnchorGames(one.agent, one.rating, pairs.size, float(pairs[:, 0].mean() / 2), expected)
            for one, pairs, expected in columns
            if pairs.size
        ]
        against.sort(key=lambda games: -games.rating)
        return Estimate(
            self.rating,
            low if math.isfinite(low) else None,
            high if math.isfinite(high) else None,
            where,
            int(self.games.sum()),
            seconds,
            tuple(against),
            PlayerStats.sum(self._stats),
        )

    def _interval(self, rng: np.random.Generator) -> tuple[float, float]:
        """Return both ends, by a bootstrap over pairs of games, the errors of the anchors' own
        ratings, and the disagreement between anchors; -inf or inf if the games give none.
        """
        anchors = {anchor.agent: anchor.rating for anchor in self.anchors}
        met = zip(anchors, self._pairs, strict=True)
        played = {(_PLAYER, name): [pairs] for name, pairs in met if pairs.size}
        ratings = rate([_PLAYER, *anchors], played, anchors, rng)
        place = ratings.entrants.index(_PLAYER)
        low, high, rating = float(ratings.low[place]), float(ratings.high[place]), self.rating
        if not math.isfinite(high - low):  # of a row of wins or losses
            return low, high
        weight = self.games * self._information()
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
            points = self._pairs[i][:, 0]
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
