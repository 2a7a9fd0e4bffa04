"""Finds the players `level:1` to `level:10` of `boardenvs.agents.levels`: even steps in strength.

Between two players there are players of every strength: mixtures of the two. Such mixtures lead,
many steps from one anchor to the next, from the weakest anchor to the strongest that is quick
and will not change. Each plays those near it on this ladder, and a Bradley-Terry fit of these games
says how strong they are. Levels are put at equal distances by it, and each plays the one below.

A fit errs where players of one rating score differently against a third. So what the levels scored
corrects it: the strengths between two levels are spread over as many points as their games say, and
the levels are put at equal distances again, until each surely beats the one below and the steps are
about equal. A round's games come after its levels were chosen, with openings of their own.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from boardenvs.agents import make_agent
from boardenvs.agents.levels import LEVELS, Mixture
from boardenvs.arena.estimate import estimate_rating
from boardenvs.arena.match import MatchResult, play_match
from boardenvs.arena.pools import PLAYOUTS, RatingPool
from boardenvs.arena.ratings import SCALE, fit
from boardenvs.game.contract import Game
from boardenvs.game.state import FloatArray

# What levels are made of: quick players that will not change, so no networks.
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
_STEPS = 30  # of the ladder, about
# Steps away on the ladder is who is met: about as far as levels will be apart.
_NEAR = (2, 3, 4, 5)
_LADDER_PAIRS = 100  # of openings, for each two that meet
_PAIRS = 1000  # of openings, against the level below
LEAST = 0.6  # the least lower end of the 95 % interval of a level's score against the one below
_UNEVEN = 0.03  # the farthest that such a score may be from the mean of all
_ROUNDS = 6  # of moving levels, at most
_GAMES = 600  # that rate a level


class _Round(NamedTuple):
    """Ten levels, and how those from the second on did against the one below."""

    levels: list[dict[str, Any]]
    matches: list[MatchResult]

    @property
    def scores(self) -> FloatArray:
        return np.array([match.score for match in self.matches])

    @property
    def lowest(self) -> float:
        """The least lower end of their scores' intervals."""
        return min(match.interval[0] for match in self.matches)

    @property
    def stands(self) -> bool:
        """Whether all steps are long enough and about equal."""
        scores = self.scores
        return self.lowest >= LEAST and bool((abs(scores - scores.mean()) <= _UNEVEN).all())


def find_levels(
    game: Game, pool: RatingPool, seed: int, say: Callable[[str], None]
) -> list[dict[str, Any]]:
    """The levels as `boardenvs.agents.levels` reads them, measured.

    `say` gets what comes of each round. Where none has steps that are long enough, as in a pool too
    weak for ten levels, the best round's levels are returned, and it says so.
    """
    seeds = _seeds(seed)
    ladder = _ladder(pool)
    strength = _strengths(game, ladder, seeds)
    rounds: list[_Round] = []
    while len(rounds) < _ROUNDS and not (rounds and rounds[-1].stands):
        wanted = np.linspace(strength[0], strength[-1], LEVELS)
        levels = [ladder[0], *(_between(ladder, strength, x) for x in wanted[1:-1]), ladder[-1]]
        players = [_mixture(level) for level in levels]
        found = _Round(
            levels,
            [
                play_match(game, level, below, _PAIRS, seed=next(seeds))
                for below, level in itertools.pairwise(players)
            ],
        )
        rounds.append(found)
        scores = ", ".join(f"{score:.3f}" for score in found.scores)
        say(
            f"{pool.game}: levels, round {len(rounds)}: {scores}; the lowest end of an interval is "
            f"{found.lowest:.3f}"
        )
        strength = np.interp(strength, wanted, _reached(found.scores))
    best = max(rounds, key=lambda found: (found.stands, found.lowest))
    if best.lowest < LEAST:
        say(
            f"{pool.game}: a level's score against the one below may be as low as "
            f"{best.lowest:.3f}, which is less than {LEAST}"
        )
    found_levels = [level | _rating(game, pool, level, next(seeds)) for level in best.levels]
    for level, match in zip(found_levels[1:], best.matches, strict=True):
        low, high = match.interval
        measured = {"score": match.score, "low": low, "high": high}
        level["beats_level_below"] = {
            **{name: round(x, 3) for name, x in measured.items()},
            "games": match.games,
        }
    return found_levels


def _seeds(seed: int) -> Iterator[int]:
    """A seed for each match."""
    rng = np.random.default_rng(seed)
    while True:
        yield int(rng.integers(1 << 63))


def _ladder(pool: RatingPool) -> list[dict[str, Any]]:
    """Mixtures, each a little stronger than the one before."""
    steps = [r for r in pool.anchors if r.agent in _INGREDIENTS]
    length = (steps[-1].rating - steps[0].rating) / _STEPS
    ladder = []
    for weaker, stronger in itertools.pairwise(steps):
        count = max(round((stronger.rating - weaker.rating) / length), 1)
        shares = np.arange(count) / count
        if stronger.agent == "perfect":
            shares = 1 - (1 - shares) ** 2  # a few mistakes make the difference there
        ladder += [_level(weaker.agent, stronger.agent, share) for share in shares.tolist()]
    return [*ladder, _level(steps[-2].agent, steps[-1].agent, 1.0)]


def _strengths(game: Game, ladder: list[dict[str, Any]], seeds: Iterator[int]) -> FloatArray:
    """The Elo points of each player of the ladder, by games with those near it, ascending."""
    points = np.zeros((len(ladder), len(ladder)))
    players = [_mixture(level) for level in ladder]
    meetings = [(i + d, i) for d in _NEAR for i in range(len(ladder) - d)]
    for upper, lower in meetings:
        a, b = players[upper], players[lower]
        match = play_match(game, a, b, _LADDER_PAIRS, seed=next(seeds))
        points[upper, lower] = match.scores.sum()
        points[lower, upper] = match.games - points[upper, lower]
    strengths: FloatArray = np.maximum.accumulate(fit(points))
    return strengths


def _reached(scores: FloatArray) -> FloatArray:
    """The Elo points of levels whose scores against the one below are these, from 0 for the first.

    No step is of no length or less: levels stay in order.
    """
    scores = np.clip(scores, 0.51, 0.99)
    return np.concatenate([[0.0], np.cumsum(SCALE * np.log(scores / (1 - scores)))])


def _between(ladder: list[dict[str, Any]], strength: FloatArray, wanted: float) -> dict[str, Any]:
    """The mixture of this strength, between two of the ladder."""
    above = min(max(int(np.searchsorted(strength, wanted)), 1), len(ladder) - 1)
    low, high = ladder[above - 1], ladder[above]
    way = (wanted - strength[above - 1]) / max(strength[above] - strength[above - 1], 1e-9)
    # The first of a pair's mixtures is the weaker player alone, as is the last of the pair before.
    end = high["share"] if high["weaker"] == low["weaker"] else 1.0
    share = low["share"] + (end - low["share"]) * float(way)
    return _level(low["weaker"], low["stronger"], round(share, 3))


def _rating(game: Game, pool: RatingPool, level: dict[str, Any], seed: int) -> dict[str, Any]:
    """Its rating by the pool."""
    share, names = level["share"], (level["weaker"], level["stronger"])
    same = names[int(share)] if share in (0, 1) else None
    player = _mixture(level)
    found = estimate_rating(game, player, pool, games=_GAMES, seconds=None, without=same, seed=seed)
    measured = {"rating": found.rating, "low": found.low, "high": found.high}
    return {name: None if x is None else round(x, 1) for name, x in measured.items()}


def _level(weaker: str, stronger: str, share: float) -> dict[str, Any]:
    return {"weaker": weaker, "stronger": stronger, "share": share}


def _mixture(level: dict[str, Any]) -> Mixture:
    return Mixture(make_agent(level["weaker"]), make_agent(level["stronger"]), level["share"])
