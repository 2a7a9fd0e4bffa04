"""Make the rating pools and levels of games anew: `python -m boardenvs.arena.pools`.

The anchors of a game meet in a round robin, whose journal is kept; then `levels` finds the players
`level:1` to `level:10` at even steps of what came of it.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import boardenvs
from boardenvs import games
from boardenvs.agents import levels as levels_package
from boardenvs.arena import pools
from boardenvs.arena.pairing import Played
from boardenvs.arena.pools import Anchor, RatingPool
from boardenvs.arena.pools.levels import find_levels
from boardenvs.arena.ratings import SCALE, expected_scores, fit
from boardenvs.arena.settings import make_settings
from boardenvs.arena.tournament import JOURNAL, run_tournament
from boardenvs.game.contract import Game
from boardenvs.game.state import FloatArray
from boardenvs.games.files import digest, file_name, find_file, new_file
from boardenvs.utils.ending import ending_in_a_line
from boardenvs.utils.files import write_atomically
from boardenvs.utils.version import __version__

GAMES = ("othello", "othello_holes", "lines_of_action", "wolf_and_sheep")

# Who is met in any game that it can play: quick players, from random play to the strongest, most of
# them such that they will not change.
PLAYERS = (
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
    "alphabeta:nodes=10000,evaluation=trained",
    "perfect",
)
# Those whose games take a tenth of a second or more.
_SLOW = {"lines_of_action": ("alphabeta:depth=5,evaluation=trained",)}
_PACKAGE = Path(boardenvs.__file__).parent
_RATED_0 = "random"
_ROUNDS = 30  # of fitting ratings and weighing by them, which settles long before


def main(
    texts: Annotated[
        list[str] | None, typer.Argument(metavar="GAME", help="Which games. Default: all.")
    ] = None,
    pairs: Annotated[
        int, typer.Option(help="Openings of each pairing of anchors, each played twice.", min=1)
    ] = 300,
    seed: Annotated[int, typer.Option(help="Seed of all random choices.", min=0)] = 0,
    workers: Annotated[
        int | None, typer.Option(help="Processes of the round robin. Default: one a core.")
    ] = None,
    work: Annotated[Path, typer.Option(help="The folder of the round robins' journals.")] = Path(
        "runs/pools"
    ),
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the journals that are there.")
    ] = False,
    levels: Annotated[
        bool, typer.Option("--levels", help="Find the levels alone, by the pool that is there.")
    ] = False,
) -> None:
    """Measure the anchors of each game, find its levels, and write both into the package, or into
    the folder that the game's class names as `files`.
    """
    with ending_in_a_line():
        made = {text: games.parse(text) for text in texts or GAMES}
        paths = {
            text: [
                new_file(folder, game, ".json") for folder in (pools.FOLDER, levels_package.FOLDER)
            ]
            for text, game in made.items()
        }
        for text, game in made.items():
            path_of_pool, path_of_levels = paths[text]
            if levels:
                pool = pools.rating_pool(game)
            else:
                folder = work / file_name(game)
                pool = measure(text, folder, pairs=pairs, seed=seed, resume=resume, workers=workers)
                _write(path_of_pool, asdict(pool))
            found = find_levels(game, pool, seed, typer.echo)
            head = {name: getattr(pool, name) for name in ("game", "made", "boardenvs", "seed")}
            players = [level[side] for level in found for side in ("weaker", "stronger")]
            content = {**head, "made_with": made_with(game, players), "levels": found}
            _write(path_of_levels, content)


def measure(
    game: str, folder: Path, *, pairs: int, seed: int, resume: bool, workers: int | None = None
) -> RatingPool:
    """Have the anchors of a game meet in a round robin, whose journal is in the folder."""
    players = [player for player in PLAYERS if player not in _SLOW.get(game, ())]
    if not games.parse(game).has_heuristic:
        players += pools.PLAYOUTS
    settings = make_settings(players, [game], pairs=pairs, seed=seed, anchor=_RATED_0)

    def show(played: Played | None, done: int, total: int) -> None:
        typer.echo(f"{game}: {done} of {total} pairings are played")

    results = run_tournament(
        settings,
        folder,
        resume=resume and (folder / JOURNAL).exists(),
        overwrite=not resume,
        workers=workers,
        watcher=show,
    )
    table = results.tables[0]
    won, drawn, lost = np.moveaxis(table.counts.sum(axis=2), -1, 0)
    rating, error = fit_near(won + drawn / 2, won + drawn + lost)
    rating -= rating[table.entrants.index(_RATED_0)]
    anchors = [
        Anchor(table.entrants[i], round(float(rating[i]), 1), round(float(error[i]), 1))
        for i in np.argsort(rating, kind="stable")
    ]
    return RatingPool(
        game=table.name,
        made=datetime.datetime.now(datetime.UTC).date().isoformat(),
        boardenvs=__version__,
        seed=seed,
        pairs=pairs,
        made_with=made_with(games.parse(game), players),
        anchors=tuple(anchors),
    )


def made_with(game: Game, players: Iterable[str]) -> dict[str, str]:
    """The digests of what these players have learnt of the game, by path in the package."""
    texts = list(players)
    folders = {
        "agents/trained": any(text.startswith("trained") for text in texts),
        "search/trained": any("evaluation=trained" in text for text in texts),
    }
    found = {}
    for folder, is_used in folders.items():
        path = find_file(_PACKAGE / folder, game)
        if is_used and path is not None:
            found[f"{folder}/{path.name}"] = digest(path)
    return found


def fit_near(points: FloatArray, games: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Ratings (k,) of mean 0 and their standard errors, by what i scored against j, (k, k), in so
    many games.

    Each pairing counts for as much as its games tell of the ratings, p (1 - p) where p is the
    expected score. So a rating is what `boardenvs.arena.estimate_rating` finds, which has its games
    so, and pairs of players far apart, of which the model is least true, count least. An anchor's
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


def _write(path: Path, values: Mapping[str, Any]) -> None:
    write_atomically(path, json.dumps(values, indent=1).encode() + b"\n")
    typer.echo(f"{path} is written")


if __name__ == "__main__":
    typer.run(main)
