"""Measures a game's references anew: a round robin by the arena, and from it the scale."""

from __future__ import annotations

import datetime
from pathlib import Path

import numpy as np
from rich.console import Console

from boardenvs.arena.report.display import Display
from boardenvs.arena.scale.scale import Reference, Scale
from boardenvs.arena.tournament.ratings import SCALE, expected_scores, fit
from boardenvs.arena.tournament.run import JOURNAL, run_tournament
from boardenvs.arena.tournament.settings import make_settings
from boardenvs.game.state import FloatArray
from boardenvs.utils.version import __version__

# Who is met in any game that it can play: quick players, from random play to the strongest, most of
# them such that they will not change.
REFERENCES = (
    "random",
    "greedy",
    "positional",
    "alphabeta:depth=2",
    "alphabeta:depth=4",
    "trained",
    "alphabeta:depth=1,evaluation=trained",
    "alphabeta:depth=2,evaluation=trained",
    "alphabeta:depth=4,evaluation=trained",
    "alphabeta:depth=5,evaluation=trained",
    "perfect",
)
# Those whose games take a tenth of a second or more.
_SLOW = {"lines_of_action": ("alphabeta:depth=5,evaluation=trained",)}
ANCHOR = "random"
PAIRS = 300
_ROUNDS = 30  # of fitting ratings and weighing by them, which settles long before


def measure(
    game: str,
    folder: Path,
    *,
    pairs: int,
    seed: int,
    resume: bool,
    workers: int | None,
    console: Console,
) -> Scale:
    """Have the references of a game meet in a round robin, whose journal is in the folder."""
    entrants = [agent for agent in REFERENCES if agent not in _SLOW.get(game, ())]
    settings = make_settings(entrants, [game], pairs=pairs, seed=seed, anchor=ANCHOR)
    with Display(console) as display:
        results = run_tournament(
            settings,
            folder,
            resume=resume and (folder / JOURNAL).exists(),
            overwrite=not resume,
            workers=workers,
            watcher=display,
        )
    table = results.tables[0]
    won, drawn, lost = np.moveaxis(table.counts, -1, 0)
    rating, error = fit_near(won + drawn / 2, won + drawn + lost)
    rating -= rating[table.entrants.index(ANCHOR)]
    references = [
        Reference(table.entrants[i], round(float(rating[i]), 1), round(float(error[i]), 1))
        for i in np.argsort(rating, kind="stable")
    ]
    return Scale(
        game=table.name,
        made=datetime.datetime.now(datetime.UTC).date().isoformat(),
        boardenvs=__version__,
        seed=seed,
        pairs=pairs,
        references=tuple(references),
    )


def fit_near(points: FloatArray, games: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Ratings (k,) of mean 0 and their standard errors, by what i scored against j, (k, k), in so
    many games.

    Each pairing counts for as much as its games tell of the ratings, p (1 - p) where p is the
    expected score. So a rating is what `boardenvs.arena.scale.place` finds, which has its games
    so, and pairs of players far apart, of which the model is least true, count least. A reference's
    error is what its own games leave, were the others' ratings known.
    """
    weights = np.ones_like(points)
    for _ in range(_ROUNDS):
        rating = fit(points * weights)
        expected = expected_scores(rating, rating)
        weights = 4 * expected * (1 - expected)
    told = weights / 4
    error = SCALE * np.sqrt((games * told**3).sum(axis=1)) / (games * told**2).sum(axis=1)
    return rating, error
