"""Where a player stands on a game's scale, by games against those references that tell most.

The model is that of `boardenvs.arena.tournament.ratings`, with the references' ratings given. What
a game tells of a rating is the variance of its result, p (1 - p) where p is the expected score:
most where it is 1/2. The next games are always against the reference with the most to tell for how
often it was met, so references far from the player are met little, and no single one decides.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from boardenvs.agents import Agent, check_game, make_agent
from boardenvs.arena.playing.intervals import Z95
from boardenvs.arena.playing.match import MatchResult, play_match
from boardenvs.arena.playing.openings import same_winner
from boardenvs.arena.playing.player import Conduct
from boardenvs.arena.scale.scale import Reference, Scale
from boardenvs.arena.tournament.ratings import PRIOR, REPLICATES, SCALE, SURPRISE, expected_scores
from boardenvs.game.contract import Game
from boardenvs.game.state import FloatArray

GAMES = 1000  # at most, if nothing else is said
SECONDS = 100.0

_FEWEST, _MOST = 4, 25  # openings between two choices of a reference
_REACH = 4000.0  # Elo points beyond the scale's ends that ratings are looked for in


@dataclass(frozen=True)
class Against:
    """The games against one reference."""

    agent: str
    rating: float  # the reference's
    games: int
    score: float  # the player's, 0 to 1
    expected: float  # by the rating that came out


@dataclass(frozen=True)
class Placement:
    """Where a player stands on a scale, in its Elo points."""

    rating: float
    low: float | None  # the 95 % interval's ends; None where the games give none
    high: float | None
    where: Literal["on", "above", "below"]  # above or below all references, if surely so
    games: int
    seconds: float
    against: tuple[Against, ...]  # the strongest reference first
    conduct: tuple[Conduct, ...]  # of the player, match by match

    @property
    def half_width(self) -> float:
        """Half of the interval's width; infinite where an end is missing."""
        if self.low is None or self.high is None:
            return math.inf
        return (self.high - self.low) / 2


class _Met:
    """The games so far against each of k references."""

    def __init__(self, references: Sequence[Reference]) -> None:
        self._references = references
        self._ratings = np.array([reference.rating for reference in references])
        self._errors = np.array([reference.error for reference in references])
        self._scores: list[list[float]] = [[] for _ in references]  # of pairs of games, 0 to 1
        self._conduct: list[Conduct] = []

    def add(self, chosen: int, match: MatchResult) -> None:
        """A match of the player against one of the references."""
        self._scores[chosen] += match.pair_scores.tolist()
        self._conduct.append(match.conduct[0])

    @property
    def games(self) -> FloatArray:
        """Against each reference, (k,)."""
        return np.array([2.0 * len(scores) for scores in self._scores])

    @property
    def rating(self) -> float:
        """The most likely one; before any game the middle of the scale."""
        if not self.games.any():
            return float(self._ratings.min() + self._ratings.max()) / 2
        points = np.array([2.0 * sum(scores) for scores in self._scores])
        return float(_fit(points.sum()[None], self.games, self._ratings)[0])

    def next(self) -> int:
        """The reference to meet."""
        return int((self._told(self.rating) / (self.games + 1)).argmax())

    def interval(self, rng: np.random.Generator) -> tuple[float | None, float | None]:
        """By a bootstrap over pairs of games and the errors of the references' own ratings, wider
        where references disagree by more than chance (Birge 1932).
        """
        games = self.games
        total = sum(sum(scores) for scores in self._scores)
        if total == 0 or 2 * total == games.sum():
            end = self._end_of_a_row(won=total > 0)
            return (end, None) if total else (None, end)
        points = np.zeros(REPLICATES)
        for scores in self._scores:
            if scores:
                drawn = rng.integers(len(scores), size=(REPLICATES, len(scores)))
                points += 2 * np.array(scores)[drawn].sum(axis=1)
        low, high = np.percentile(_fit(points, games, self._ratings), [2.5, 97.5])
        rating, weight = self.rating, games * self._told(self.rating)
        own = Z95 * math.sqrt(float((weight * self._errors**2).sum() / weight.sum()))
        wider = self._disagreement()
        return (
            rating - wider * math.hypot(rating - low, own),
            rating + wider * math.hypot(high - rating, own),
        )

    def _disagreement(self) -> float:
        """How much farther the scores against references are from those that the rating foretells
        than chance would have them; 1 where they are not.

        A rating is one number: a player that beats strong references and loses to weak ones has
        none that fits. What chance does is taken from the pairs of games against each reference.
        """
        met = np.flatnonzero(self.games)
        if len(met) < 2:
            return 1.0
        pairs = [np.array(self._scores[i]) for i in met]
        counts, scores = (np.array([f(x) for x in pairs]) for f in (np.size, np.mean))
        expected = expected_scores(np.array([self.rating]), self._ratings)[0, met]
        chance = expected * (1 - expected)  # as pairs vary, up to a factor: draws, alike games
        within = sum(float(((x - x.mean()) ** 2).sum()) for x in pairs)
        freedom = float(((counts - 1) * chance).sum())
        factor = max(within / freedom, 0.1) if freedom else 1.0
        chi_square = float((counts * (scores - expected) ** 2 / chance).sum()) / factor
        return max(1.0, math.sqrt(chi_square / (len(met) - 1)))

    def placement(self, rng: np.random.Generator, seconds: float) -> Placement:
        """What came of the games, which took so long; chance decides the interval's last digits."""
        low, high = self.interval(rng)
        return Placement(
            rating=self.rating,
            low=low,
            high=high,
            where=_where(low, high, self._ratings.min(), self._ratings.max()),
            games=int(self.games.sum()),
            seconds=seconds,
            against=self._against(),
            conduct=tuple(self._conduct),
        )

    def _against(self) -> tuple[Against, ...]:
        """The games by reference, the strongest first."""
        expected = expected_scores(np.array([self.rating]), self._ratings)[0]
        return tuple(
            Against(
                self._references[i].agent,
                self._references[i].rating,
                2 * len(self._scores[i]),
                float(np.mean(self._scores[i])),
                float(expected[i]),
            )
            for i in np.argsort(-self._ratings)
            if self._scores[i]
        )

    def _told(self, rating: float) -> FloatArray:
        """What a game against each reference tells of this rating, (k,)."""
        expected = expected_scores(np.array([rating]), self._ratings)[0]
        told: FloatArray = expected * (1 - expected)
        return told

    def _end_of_a_row(self, won: bool) -> float:
        """The rating with which all games are won, or lost, with a chance of 2.5 %."""
        sign = 1 if won else -1

        def surprise(rating: float) -> float:
            distance = sign * (self._ratings - rating) / SCALE
            return float((self.games * np.logaddexp(0, distance)).sum())

        low, high = self._ratings.min() - _REACH, self._ratings.max() + _REACH
        for _ in range(60):
            middle = (low + high) / 2
            if (surprise(middle) > SURPRISE) == won:
                low = middle
            else:
                high = middle
        return float(low)


def place(
    game: Game,
    agent: Agent,
    scale: Scale,
    *,
    games: int = GAMES,
    seconds: float | None = SECONDS,
    without: str | None = None,
    seed: int = 0,
    progress: Callable[[int, float], None] | None = None,
) -> Placement:
    """Find a player's rating on a scale by at most so many games, in about so many seconds.

    Each opening is played twice, with roles swapped. The games go on until one of the limits is
    met; `seconds` may be None, and then the same seed gives the same result. `without` is a
    reference that is not met, as it is the player itself. `progress` is told the games so far and
    the rating.

    ValueError for fewer than two games, or where the agent cannot play the game.

    ```python
    import boardenvs
    from boardenvs.arena import place, scale_of

    game = boardenvs.games.make("wolf_and_sheep")
    found = place(game, boardenvs.make_agent("greedy"), scale_of(game), games=40)
    print(found.rating, found.low, found.high, found.where)
    ```
    """
    if games < 2:
        raise ValueError(f"games is {games}: it must be 2 or more")
    if seconds is not None and not seconds > 0:
        raise ValueError(f"seconds is {seconds}: it must be more than 0")
    check_game(agent, game)
    references = [r for r in scale.references if r.agent != without]
    met, began, played = _Met(references), time.monotonic(), 0
    interval_rng, seeds = np.random.default_rng(seed).spawn(2)
    while pairs := _pairs_next(played, games, time.monotonic() - began, seconds):
        chosen = met.next()
        match = play_match(
            game,
            agent,
            make_agent(references[chosen].agent),
            pairs,
            keep=same_winner,
            seed=int(seeds.integers(1 << 62)),
        )
        met.add(chosen, match)
        played += match.games
        if progress:
            progress(played, met.rating)
    return met.placement(interval_rng, time.monotonic() - began)


def _pairs_next(played: int, games: int, passed: float, seconds: float | None) -> int:
    """How many openings to play until a reference is chosen anew, after so many games in the time
    that has passed; 0 where one of the limits is met.
    """
    pairs: float = min(max(played // 8, _FEWEST), _MOST, (games - played) // 2)
    if seconds is not None and played:
        pairs = min(pairs, (seconds - passed) / (passed / played) / 2)
    return max(int(pairs), 0)


def _where(
    low: float | None, high: float | None, lowest: float, highest: float
) -> Literal["on", "above", "below"]:
    if low is not None and low > highest:
        return "above"
    return "below" if high is not None and high < lowest else "on"


def _fit(points: FloatArray, games: FloatArray, ratings: FloatArray) -> FloatArray:
    """The ratings (n,) at which points (n,) are what is expected of so many games (k,) against
    these ratings (k,), with the arena's weak prior: a drawn game, spread over the references.
    """
    counted = games + PRIOR / len(games)
    wanted = points + PRIOR / 2
    low: Any = np.full(len(points), ratings.min() - _REACH)
    high: Any = np.full(len(points), ratings.max() + _REACH)
    for _ in range(50):
        middle = (low + high) / 2
        less = (counted * expected_scores(middle, ratings)).sum(axis=1) < wanted
        low, high = np.where(less, middle, low), np.where(less, high, middle)
    fitted: FloatArray = (low + high) / 2
    return fitted
