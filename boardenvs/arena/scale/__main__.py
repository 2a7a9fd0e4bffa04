"""Make the scales and levels of games anew: `python -m boardenvs.arena.scale`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console

from boardenvs import games
from boardenvs.agents import levels as levels_room
from boardenvs.arena.scale import scale as scale_room
from boardenvs.arena.scale.levels import find_levels
from boardenvs.arena.scale.make import PAIRS, measure
from boardenvs.game.contract import Game
from boardenvs.games.files import file_name
from boardenvs.utils.checks import is_whole
from boardenvs.utils.ending import ending_in_a_line
from boardenvs.utils.files import check_writable, write_atomically

_GAMES = ("othello", "othello_holes", "lines_of_action", "wolf_and_sheep")


def main(words: list[str] | None = None) -> None:
    """Measure the references of each game, find its levels, and write both into the package."""
    options = _parser().parse_args(words)
    console = Console()
    with ending_in_a_line():
        if not (is_whole(options.pairs, 1) and is_whole(options.seed, 0)):
            raise ValueError(
                f"--pairs is {options.pairs} and --seed {options.seed}: they must be 1 or more and "
                "0 or more"
            )
        made = {text: games.parse(text) for text in options.games}
        for game in made.values():
            for folder in (scale_room.FOLDER, levels_room.FOLDER):
                check_writable(_path(folder, game))
        for text, game in made.items():
            if options.levels:
                scale = scale_room.scale_of(game)
            else:
                scale = measure(
                    text,
                    options.work / file_name(game),
                    pairs=options.pairs,
                    seed=options.seed,
                    resume=options.resume,
                    workers=options.workers,
                    console=console,
                )
                _write(console, _path(scale_room.FOLDER, game), scale.to_json())
            levels = find_levels(game, scale, options.seed, console)
            head = {name: getattr(scale, name) for name in ("game", "made", "boardenvs", "seed")}
            _write(console, _path(levels_room.FOLDER, game), {**head, "levels": levels})


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m boardenvs.arena.scale", description=__doc__)
    parser.add_argument(
        "games", nargs="*", default=_GAMES, metavar="GAME", help="which games; default: all"
    )
    parser.add_argument(
        "--pairs",
        type=int,
        default=PAIRS,
        help="openings of each pairing of references, every one played twice; default: %(default)s",
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of all random choices")
    parser.add_argument(
        "--workers", type=int, help="processes of the round robin; default: one a core"
    )
    parser.add_argument(
        "--work",
        type=Path,
        default=Path("runs/scale"),
        help="the folder of the round robins' journals; default: %(default)s",
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--resume", action="store_true", help="go on with the journals there are")
    how.add_argument(
        "--levels", action="store_true", help="find the levels alone, on the scale there is"
    )
    return parser


def _path(folder: Path, game: Game) -> Path:
    return folder / f"{file_name(game)}.json"


def _write(console: Console, path: Path, values: Mapping[str, Any]) -> None:
    write_atomically(path, json.dumps(values, indent=1).encode() + b"\n")
    console.print(f"{path} is written", markup=False, soft_wrap=True)


if __name__ == "__main__":
    main()
