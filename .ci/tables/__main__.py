"""Measure a game: its rating pool, the players `level:1` to `level:10`, and its exam.

    python .ci/tables othello                # all three
    python .ci/tables my_module:MyGame --only exam

The files go into the package, or into the folder that the game's class names as `files`.
"""

from __future__ import annotations

import datetime
import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import exam as exams
import levels as levelling
import pool as pooling
import typer

from boardenvs import games
from boardenvs.agents import levels as published
from boardenvs.arena import pools
from boardenvs.exams import positions
from boardenvs.games.files import file_name, path_of
from boardenvs.tablebase import Tablebase
from boardenvs.utils.checks import check_name
from boardenvs.utils.files import check_writable, write_atomically


def main(
    texts: Annotated[list[str], typer.Argument(metavar="GAME...", help="Games to measure.")],
    only: Annotated[str, typer.Option(help="pool, levels or exam.")] = "",
    seed: Annotated[int, typer.Option(help="Seed of all games.", min=0)] = 0,
    pairs: Annotated[int, typer.Option(help="Openings of each pairing of anchors.", min=1)] = 300,
    level_pairs: Annotated[int, typer.Option(help="Openings of two levels.", min=1)] = 1000,
    rounds: Annotated[int, typer.Option(help="Rounds of levels' matches, at most.", min=1)] = 10,
    exam_pairs: Annotated[int, typer.Option(help="Openings of games for exams.", min=1)] = 400,
    work: Annotated[Path, typer.Option(help="Folder of the pools' games.")] = Path("runs/pools"),
    resume: Annotated[bool, typer.Option("--resume", help="Resume the round robins.")] = False,
) -> None:
    """Measure games and write what was found; levels alone need a pool that is there."""
    check_name("value of --only", only, ("", "pool", "levels", "exam"))
    for text, game in [(text, _game_to_measure(text)) for text in texts]:
        if only in ("", "pool"):
            pool = pooling.measure(text, work / file_name(game), pairs, seed, resume=resume)
            _write(_new_file(pools.FOLDER, game, ".json"), asdict(pool))
            pools.rating_pool.cache_clear()
        if only in ("", "levels"):
            pool = pools.rating_pool(game)
            found = levelling.find_levels(game, pool, seed, level_pairs, rounds, typer.echo)
            head = {name: getattr(pool, name) for name in ("game", "made", "boardenvs", "seed")}
            players = [level[side] for level in found for side in ("weaker", "stronger")]
            values = {**head, "made_with": pooling.made_with(game, players), "levels": found}
            _write(_new_file(published.FOLDER, game, ".json"), values)
        if only in ("", "exam") and not Tablebase.covers(game):
            path = _new_file(positions.FOLDER, game, ".jsonl")
            today = datetime.datetime.now(datetime.UTC).date().isoformat()
            asked = exams.find_positions(game, seed, exam_pairs)
            write_atomically(path, exams.write_positions(game, asked, today))
            typer.echo(f"{path} is written")


def _game_to_measure(text: str) -> games.Game:
    """The game of a text, if it has a folder for files: told before hours of measuring."""
    try:
        game = games.parse(text)
        path_of(pools.FOLDER, game)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    return game


def _new_file(folder: Path, game: games.Game, ending: str) -> Path:
    """`path_of`, to be written later: its folder is made where a game's own has none yet. OSError,
    which names it, where it could not be written.
    """
    path = path_of(folder, game, ending)
    if game.files is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
    check_writable(path)
    return path


def _write(path: Path, values: dict[str, Any]) -> None:
    write_atomically(path, json.dumps(values, indent=1).encode() + b"\n")
    typer.echo(f"{path} is written")


if __name__ == "__main__":
    typer.run(main)
