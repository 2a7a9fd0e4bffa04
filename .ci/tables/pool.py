"""The rating pool of a game: its anchors meet in a round robin, whose games are kept."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import typer

import boardenvs
from boardenvs import games
from boardenvs.arena import make_settings, run_tournament
from boardenvs.arena.pools import Anchor, RatingPool
from boardenvs.arena.ratings import SCALE, expected_scores, fit
from boardenvs.arena.tournament import SETTINGS
from boardenvs.game.game import Game
from boardenvs.game.state import FloatArray
from boardenvs.games.files import find_file
from boardenvs.utils.version import __version__

# Anchors in every game that they can play: quick, and most of them final.
PLAYERS = (
    "random",
    "greedy",
    "positional",
    "alphabeta:depth=2",
    "alphabeta:depth=4",
    "trained:shield=true",
    "alphabeta:depth=1,evaluation=trained",
    "alphabeta:depth=2,evaluation=trained",
    "alphabeta:depth=4,evaluation=trained",
    "alphabeta:depth=5,evaluation=trained",
    "alphabeta:nodes=10000,evaluation=trained",
    "alphabeta:nodes=75000,evaluation=trained",
    "perfect",
)
# Anchors of a game without a heuristic.
PLAYOUTS = ("mcts:simulations=10", "mcts:simulations=40", "mcts:simulations=160")
# Players whose games take a tenth of a second or more.
_SLOW = {"lines_of_action": ("alphabeta:depth=5,evaluation=trained",)}
_PACKAGE = Path(boardenvs.__file__).parent
_ROUNDS = 30  # of fitting ratings and weighing by them; it converges long before


def measure(
    game: str, folder: Path, pairs: int, seed: int, *, resume: bool, workers: int | None = None
) -> RatingPool:
    """The pool of a game, by a round robin whose games are in the folder."""
    players = [player for player in PLAYERS if player not in _SLOW.get(game, ())]
    if not games.parse(game).has_heuristic:
        players += PLAYOUTS
    results = run_tournament(
        make_settings(players, [game], pairs=pairs, seed=seed),
        folder,
        resume=resume and (folder / SETTINGS).exists(),
        overwrite=not resume,
        workers=workers,
        watcher=lambda played, done, total: typer.echo(f"{game}: {done} of {total} pairings"),
    )
    table = results.tables[0]
    won, drawn, lost = np.moveaxis(table.counts, -1, 0)
    rating, error = fit_near(won + drawn / 2, won + drawn + lost)
    rating -= rating[table.entrants.index("random")]
    return RatingPool(
        game=table.name,
        made=datetime.datetime.now(datetime.UTC).date().isoformat(),
        boardenvs=__version__,
        seed=seed,
        pairs=pairs,
        made_with=made_with(games.parse(game), players),
        anchors=tuple(
            Anchor(table.entrants[i], round(float(rating[i]), 1), round(float(error[i]), 1))
            for i in np.argsort(rating, kind="stable")
        ),
    )


def digest(path: Path) -> str:
    """The beginning of a file's SHA-256: tables name what they were made with by it."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:8]


def made_with(game: Game, players: Iterable[str]) -> dict[str, str]:
    """The digests of the files that these players have learnt, by path in the package."""
    texts = list(players)
    is_used = {
        "agents/trained": any(text.startswith("trained") for text in texts),
        "search/trained": any("evaluation=trained" in text for text in texts),
    }
    paths = {folder: find_file(_PACKAGE / folder, game) for folder in is_used if is_used[folder]}
    return {f"{folder}/{path.name}": digest(path) for folder, path in paths.items() if path}


def fit_near(points: FloatArray, games: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Ratings (k,) of mean 0 and their standard errors, by the points of i against j, (k, k), and
    the number of their games.

    Each pairing is weighed by what its games tell of the ratings, p (1 - p) with the expected score
    p. So a rating is what `boardenvs.arena.estimate_rating` finds, which chooses its games so, and
    pairs of players far apart, where the model is least true, count least. An anchor's error is
    the one of its own games, with the others' ratings given.
    """
    weights = np.ones_like(points)
    for _ in range(_ROUNDS):
        rating = fit(points * weights)
        expected = expected_scores(rating, rating)
        weights = 4 * expected * (1 - expected)
    told = weights / 4
    error = SCALE * np.sqrt((games * told**3).sum(axis=1)) / (games * told**2).sum(axis=1)
    return rating, error
