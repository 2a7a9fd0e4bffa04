"""Finds the players `level:1` to `level:10` of `boardenvs.agents.levels`: even steps in strength.

Between two players there are players of every strength: mixtures of the two. Such mixtures lead,
many steps from one reference to the next, from the weakest reference to the strongest that is quick
and will not change. Each plays those near it on this ladder, and a Bradley-Terry fit of these games
says how long the steps are. Levels are at equal distances on it, so what one scores against the one
below is about the same everywhere; then each is placed on the scale.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track

from boardenvs.agents import make_agent
from boardenvs.agents.levels import LEVELS, Mixture
from boardenvs.arena.playing.match import play_match
from boardenvs.arena.playing.openings import same_winner
from boardenvs.arena.scale.place import place
from boardenvs.arena.scale.scale import Scale
from boardenvs.arena.tournament.ratings import fit
from boardenvs.game.contract import Game
from boardenvs.game.state import FloatArray

# What levels are made of: quick players that will not change, so no networks. In a solved game all
# levels are perfect play with mistakes, the fewer the higher: who wins hangs on single mistakes
# there, and players of one rating may win all games, or none, against another.
_INGREDIENTS = (
    "random",
    "greedy",
    "positional",
    "alphabeta:depth=2",
    "alphabeta:depth=4",
    "alphabeta:depth=1,evaluation=trained",
    "alphabeta:depth=2,evaluation=trained",
    "alphabeta:depth=4,evaluation=trained",
)
_SOLVED = ("random", "perfect")
_STEPS = 30  # of the ladder, about
# Steps away on the ladder is who is met: about as far as levels will be apart.
_NEAR = (2, 3, 4, 5)
_LADDER_PAIRS = 100  # of openings, for each two that meet
_GAMES = 600  # that place a level on the scale
_PAIRS = 200  # against the level below


def find_levels(game: Game, scale: Scale, seed: int, console: Console) -> list[dict[str, Any]]:
    """The levels as `boardenvs.agents.levels` reads them, measured."""
    ladder = _ladder(scale)
    strength = _strengths(game, ladder, seed, console)
    levels: list[dict[str, Any]] = []
    for number in track(range(LEVELS), f"{scale.game}: levels", console=console, transient=True):
        wanted = strength[0] + (strength[-1] - strength[0]) * number / (LEVELS - 1)
        level = _between(ladder, strength, wanted)
        levels.append(level | _rating(game, scale, level, seed + number))
        if number:
            levels[-1]["beats_level_below"] = _score(game, level, levels[-2], seed)
    return levels


def _ladder(scale: Scale) -> list[dict[str, Any]]:
    """Mixtures, each a little stronger than the one before."""
    solved = any(r.agent == _SOLVED[-1] for r in scale.references)
    steps = [r for r in scale.references if r.agent in (_SOLVED if solved else _INGREDIENTS)]
    length = (steps[-1].rating - steps[0].rating) / _STEPS
    ladder = []
    for weaker, stronger in itertools.pairwise(steps):
        count = max(round((stronger.rating - weaker.rating) / length), 1)
        shares = np.arange(count) / count
        if solved:
            shares = 1 - (1 - shares) ** 2  # a few mistakes make the difference there
        ladder += [_level(weaker.agent, stronger.agent, share) for share in shares.tolist()]
    return [*ladder, _level(steps[-2].agent, steps[-1].agent, 1.0)]


def _strengths(game: Game, ladder: list[dict[str, Any]], seed: int, console: Console) -> FloatArray:
    """The Elo points of each player of the ladder, by games with those near it, ascending."""
    points = np.zeros((len(ladder), len(ladder)))
    players = [_mixture(level) for level in ladder]
    meetings = [(i + d, i) for d in _NEAR for i in range(len(ladder) - d)]
    for upper, lower in track(meetings, "the ladder", console=console, transient=True):
        match = play_match(
            game,
            players[upper],
            players[lower],
            _LADDER_PAIRS,
            keep=same_winner,
            seed=seed + len(ladder) * upper + lower,
        )
        points[upper, lower] = match.scores.sum()
        points[lower, upper] = match.games - points[upper, lower]
    strengths: FloatArray = np.maximum.accumulate(fit(points))
    return strengths


def _between(ladder: list[dict[str, Any]], strength: FloatArray, wanted: float) -> dict[str, Any]:
    """The mixture of this strength, between two of the ladder."""
    above = min(max(int(np.searchsorted(strength, wanted)), 1), len(ladder) - 1)
    low, high = ladder[above - 1], ladder[above]
    way = (wanted - strength[above - 1]) / max(strength[above] - strength[above - 1], 1e-9)
    # The first of a pair's mixtures is the weaker player alone, as is the last of the pair before.
    end = high["share"] if high["weaker"] == low["weaker"] else 1.0
    share = low["share"] + (end - low["share"]) * float(way)
    return _level(low["weaker"], low["stronger"], round(share, 3))


def _rating(game: Game, scale: Scale, level: dict[str, Any], seed: int) -> dict[str, Any]:
    """Where it is on the scale."""
    share, names = level["share"], (level["weaker"], level["stronger"])
    same = names[int(share)] if share in (0, 1) else None
    found = place(game, _mixture(level), scale, games=_GAMES, seconds=None, without=same, seed=seed)
    figures = {"rating": found.rating, "low": found.low, "high": found.high}
    return {name: None if x is None else round(x, 1) for name, x in figures.items()}


def _score(game: Game, level: dict[str, Any], below: dict[str, Any], seed: int) -> dict[str, Any]:
    """How it does against the level below."""
    match = play_match(game, _mixture(level), _mixture(below), _PAIRS, keep=same_winner, seed=seed)
    figures = dict(zip(("score", "low", "high"), (match.score, *match.interval), strict=True))
    return {**{name: round(x, 3) for name, x in figures.items()}, "games": match.games}


def _level(weaker: str, stronger: str, share: float) -> dict[str, Any]:
    return {"weaker": weaker, "stronger": stronger, "share": share}


def _mixture(level: dict[str, Any]) -> Mixture:
    return Mixture(make_agent(level["weaker"]), make_agent(level["stronger"]), level["share"])
