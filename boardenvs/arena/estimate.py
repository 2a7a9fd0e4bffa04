"""A player's rating, by games against those anchors of a rating pool that tell most.

The model is that of `boardenvs.arena.ratings`, with the anchors' ratings given. What a game tells
of a rating is the variance of its result, p (1 - p) where p is the expected score: most where it is
1/2. The next games are always against the anchor with the most to tell for how often it was met, so
anchors far from the player are met little, and no single one decides.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from boardenvs.agents import agent_for, make_agent
from boardenvs.arena.executor import Executor
from boardenvs.arena.match import MatchResult, play_match
from boardenvs.arena.pairing import Entrant, Pairing
from boardenvs.arena.player import Faults
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
from boardenvs.arena.workers import play_in_parts
from boardenvs.game.contract import Game
from boardenvs.game.state import BoolArray, FloatArray
from boardenvs.games import make, spec_of

GAMES = 1000  # at most, if nothing else is said
SECONDS = 100.0

_FEWEST, _MOST = 4, 25  # openings between two choices of an anchor
_REACH = 4000.0  # Elo points beyond the pool's ends that ratings are looked for in


@dataclass(frozen=True)
class Against:
    """The games against one anchor."""

    agent: str
    rating: float  # the anchor's
    games: int
    score: float  # the player's, 0 to 1
    expected: float  # by the rating that came out


@dataclass(frozen=True)
class Estimate:
    """A player's rating in the Elo points of a pool."""

    rating: float
    low: float | None  # the 95 % interval's ends; None where the games give none
    high: float | None
    where: Literal["on", "above", "below"]  # above or below all anchors, if surely so
    games: int
    seconds: float
    against: tuple[Against, ...]  # the strongest anchor first
    faults: Faults  # of the player


def estimate_rating(
    game: Game | str,
    agent: object,
    pool: RatingPool,
    *,
    games: int = GAMES,
    seconds: float | None = SECONDS,
    without: str | None = None,
    seed: int = 0,
    executor: Executor | None = None,
    progress: Callable[[int, float], None] = lambda games, rating: None,
) -> Estimate:
    """Estimate a player's rating by at most so many games, in about so many seconds.

    Each opening is played twice, with roles swapped. The games go on until one of the limits is
    met; `seconds` may be None, and then the same seed gives the same result. `without` is an
    anchor that is not met, as it is the player itself. The games of up to 25 openings are played at
    a time where an `executor` has as many workers, which make the agent anew. `progress` is called
    with the games so far and the rating.

    ValueError for fewer than two games, a game that there is not, or one that the agent cannot
    play.

    ```python
    import boardenvs
    from boardenvs.arena import estimate_rating, rating_pool

    game = boardenvs.games.make("wolf_and_sheep")
    found = estimate_rating(game, boardenvs.make_agent("greedy"), rating_pool(game), games=40)
    print(found.rating, found.low, found.high, found.where)
    ```
    """
    if games < 2:
        raise ValueError(f"games is {games}: it must be 2 or more")
    if seconds is not None and not seconds > 0:
        raise ValueError(f"seconds is {seconds}: it must be more than 0")
    game = make(game)
    player = agent_for(game, agent)

    def play(anchor: str, pairs: int, seed: int) -> MatchResult:
        if executor is None or not executor.parallel:
            return play_match(game, player, make_agent(anchor), pairs, seed=seed)
        entrants = Entrant("the player", agent), Entrant(anchor, anchor)
        plies = game.opening_plies
        pairing = Pairing(spec_of(game), game, *entrants, pairs, plies, seed)
        return play_in_parts(pairing, executor)

    met = _Met([anchor for anchor in pool.anchors if anchor.agent != without])
    began, played = time.monotonic(), 0
    interval_rng, seeds = np.random.default_rng(seed).spawn(2)
    while pairs := _pairs_next(played, games, time.monotonic() - began, seconds):
        chosen = met.next()
        match = play(met.anchors[chosen].agent, pairs, int(seeds.integers(1 << 62)))
        met.add(chosen, match)
        played += match.games
        progress(played, met.rating)
    return met.estimate(interval_rng, time.monotonic() - began)


def rating_of(pool: RatingPool, matches: Mapping[str, MatchResult], *, seed: int = 0) -> Estimate:
    """The rating of who played these matches against anchors, by the anchors' texts; as
    `estimate_rating`, of games that were played.
    """
    met = _Met(pool.anchors)
    for chosen, anchor in enumerate(pool.anchors):
        if anchor.agent in matches:
            met.add(chosen, matches[anchor.agent])
    return met.estimate(np.random.default_rng(seed), 0.0)


def _pairs_next(played: int, games: int, passed: float, seconds: float | None) -> int:
    """How many openings to play until an anchor is chosen anew, after so many games in the time
    that has passed; 0 where one of the limits is met.
    """
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
        self._faults: list[Faults] = []

    def add(self, chosen: int, match: MatchResult) -> None:
        """A match of the player against one of the anchors."""
        self._scores[chosen] += match.pair_scores.tolist()
        self._faults.append(match.faults[0])

    @property
    def games(self) -> FloatArray:
        """Against each anchor, (k,)."""
        return np.array([2.0 * len(scores) for scores in self._scores])

    @property
    def rating(self) -> float:
        """The most likely one; before any game the middle of the pool."""
        if not self.games.any():
            return float(self._ratings.min() + self._ratings.max()) / 2
        points = np.array([2.0 * sum(scores) for scores in self._scores])
        return float(self._fit(points.sum()[None])[0])

    def next(self) -> int:
        """The anchor to meet."""
        return int((self._information() / (self.games + 1)).argmax())

    def estimate(self, rng: np.random.Generator, seconds: float) -> Estimate:
        """What came of the games, which took so long; chance decides the interval's last digits."""
        low, high = self._interval(rng)
        expected = self._expected()
        where: Literal["on", "above", "below"] = "on"
        if low is not None and low > self._ratings.max():
            where = "above"
        elif high is not None and high < self._ratings.min():
            where = "below"
        return Estimate(
            rating=self.rating,
            low=low,
            high=high,
            where=where,
            games=int(self.games.sum()),
            seconds=seconds,
            against=tuple(
                Against(
                    self.anchors[i].agent,
                    self.anchors[i].rating,
                    2 * len(self._scores[i]),
                    float(np.mean(self._scores[i])),
                    float(expected[i]),
                )
                for i in np.argsort(-self._ratings)
                if self._scores[i]
            ),
            faults=Faults.sum(self._faults),
        )

    def _interval(self, rng: np.random.Generator) -> tuple[float | None, float | None]:
        """By a bootstrap over pairs of games, the errors of the anchors' own ratings, and what
        anchors disagree by.
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
        """The variance of the points that is between anchors, beyond what chance leaves.

        A rating is one number: a player that beats strong anchors and loses to weak ones has none
        that fits. The points against each anchor are then farther from the expected ones than they
        vary among the pairs of games. As points decide the rating, those against anchors far from
        it, of which the model is least true, count no more here than there (Liang and Zeger 1986,
        https://doi.org/10.1093/biomet/73.1.13).
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
        """The score against each anchor by the rating, (k,)."""
        expected: FloatArray = expected_scores(np.array([self.rating]), self._ratings)[0]
        return expected

    def _information(self) -> FloatArray:
        """What a game against each anchor tells of the rating, (k,)."""
        expected = self._expected()
        return expected * (1 - expected)

    def _end_of_a_row(self, won: bool) -> float:
        """The rating with which all games are won, or lost, with a chance of 2.5 %."""
        sign = 1 if won else -1

        def below(rating: FloatArray) -> bool:
            distance = sign * (self._ratings - rating) / SCALE
            return bool(((self.games * np.logaddexp(0, distance)).sum() > SURPRISE) == won)

        return float(last_below(below, *self._reach))

    def _fit(self, points: FloatArray) -> FloatArray:
        """The ratings (n,) at which points (n,) are what is expected of the games, with the arena's
        weak prior: a drawn game, spread over the anchors.
        """
        games, wanted = self.games + PRIOR / len(self.games), points + PRIOR / 2

        def below(rating: FloatArray) -> BoolArray:
            less: BoolArray = (games * expected_scores(rating, self._ratings)).sum(axis=1) < wanted
            return less

        low, high = (np.full(len(points), end) for end in self._reach)
        return last_below(below, low, high)

    @property
    def _reach(self) -> tuple[float, float]:
        return float(self._ratings.min()) - _REACH, float(self._ratings.max()) + _REACH
