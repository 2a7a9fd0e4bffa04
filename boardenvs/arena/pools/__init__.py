"""The published rating pool of each game: players of known strength, as they were measured once.

`boardenvs.arena.estimate` finds the rating of any player by games against them.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from boardenvs.game.game import Game
from boardenvs.games import make
from boardenvs.games.files import require_file

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Anchor:
    """A player of known strength, in Elo points above random play."""

    agent: str  # its text, see `boardenvs.make_agent`
    rating: float
    error: float  # the standard error that its own games leave


@dataclass(frozen=True)
class RatingPool:
    """The anchors of a game, the weakest first, and how they were measured."""

    game: str  # its text, see `boardenvs.games.parse`
    made: str  # the date
    boardenvs: str  # the version of the package
    seed: int
    pairs: int  # openings of each pairing, each played twice
    made_with: dict[str, str]  # digests of learnt files, by path in the package
    anchors: tuple[Anchor, ...]


@cache
def rating_pool(game: Game | str) -> RatingPool:
    """Return the published pool of a game; ValueError for a game without one."""
    game = make(game)
    advice = "`boardenvs arena` rates players in any game"
    path = require_file(FOLDER, game, "there is no rating pool", ".json", advice)
    values = json.loads(path.read_text(encoding="utf-8"))
    anchors = tuple(Anchor(**anchor) for anchor in values.pop("anchors"))
    return RatingPool(**values, anchors=anchors)


def published_ratings(game: Game, players: Collection[str]) -> dict[str, float]:
    """Return the ratings of the players that are anchors of the game's pool, if two are."""
    try:
        pool = rating_pool(game)
    except ValueError:  # no pool
        return {}
    ratings = {anchor.agent: anchor.rating for anchor in pool.anchors if anchor.agent in players}
    return ratings if len(ratings) > 1 else {}
