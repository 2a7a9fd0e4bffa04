"""`python -m boardenvs.bench`: random play, ours and other libraries', and search."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

from boardenvs.bench import jax
from boardenvs.bench.measure import measure, pin_to_one_core
from boardenvs.bench.memory import bytes_per_board
from boardenvs.bench.peers import peers
from boardenvs.bench.placement import placements
from boardenvs.bench.report import Figures, print_tables, write_json, write_picture
from boardenvs.bench.search import searches
from boardenvs.bench.workloads import workloads
from boardenvs.cli.console import make_console, make_progress
from boardenvs.game.contract import Game
from boardenvs.games import GAMES, parse, spec_of
from boardenvs.utils.ending import ending_in_a_line
from boardenvs.utils.files import check_folder, file_name

_SIZES = [1, 16, 256, 1024, 4096, 16384, 65536]
_MOST_BOARDS = 1 << 24
_PEER_SIZES = [16, 256, 1024, 4096]


def main(words: Sequence[str] | None = None, prog: str = "python -m boardenvs.bench") -> None:
    """Measure, print the tables, write bench.json and a picture of each game.

    `words` are the arguments of the command named `prog`, by default those of the process.
    """
    with ending_in_a_line():
        arguments = _parser(prog).parse_args(words)
        games = {spec_of(game): game for game in map(parse, arguments.games)}
        _check(arguments)
        check_folder(arguments.out)
        _run(arguments, games)


def _run(arguments: argparse.Namespace, games: dict[str, Game]) -> None:
    pinned = pin_to_one_core()
    console = make_console()
    if arguments.jax:
        jax.run(list(games.values()), arguments, console, pinned)
        return
    chosen = list(workloads(list(games.values()), arguments.sizes, arguments.backends))
    chosen += searches(list(games.values()), arguments.backends)
    if not arguments.no_peers:
        chosen += peers([size for size in _PEER_SIZES if size <= max(arguments.sizes)])
    with make_progress(console) as progress:
        results, errors = measure(chosen, arguments.rounds, arguments.seconds, progress)
        task = progress.task_ids[0]
        placed = placements(
            list(games.values()),
            arguments.backends if arguments.placements else [],
            arguments.placements,
            lambda name: progress.update(task, description=name),
        )
    figures = Figures(
        played=[result for result in results if result.workload.unit == "plies"],
        searched=[result for result in results if result.workload.unit != "plies"],
        placements=placed,
        memory={name: bytes_per_board(game) for name, game in games.items()},
        errors=errors,
        setting={"rounds": arguments.rounds, "seconds": arguments.seconds, "one_core": pinned},
    )
    print_tables(console, figures)
    arguments.out.mkdir(parents=True, exist_ok=True)
    write_json(arguments.out / "bench.json", figures)
    if find_spec("matplotlib"):
        for name in games:
            write_picture(arguments.out / f"{file_name(name)}.png", figures.played, name)
    else:
        console.print("no pictures: they need matplotlib, pip install 'boardenvs[bench]'")
    console.print(f"the figures are in {arguments.out}/")


def _check(arguments: argparse.Namespace) -> None:
    """ValueError where a number is out of its range, or JAX is asked for and missing."""
    for size in arguments.sizes:
        if not 1 <= size <= _MOST_BOARDS:
            raise ValueError(f"--sizes has {size}: it must be from 1 to {_MOST_BOARDS} boards")
    if arguments.jax and not find_spec("jax"):
        raise ValueError("--jax needs JAX: pip install 'boardenvs[jax]'")
    if arguments.rounds < 1:
        raise ValueError(f"--rounds is {arguments.rounds}: it must be 1 or more")
    if arguments.placements < 0:
        raise ValueError(f"--placements is {arguments.placements}: it must be 0 or more")
    if not 0 < arguments.seconds < float("inf"):
        raise ValueError(f"--seconds is {arguments.seconds}: it must be a number above 0")


class _Parser(argparse.ArgumentParser):
    """One that says what is wrong in a line, as the other commands do."""

    def error(self, message: str) -> NoReturn:
        raise ValueError(f"{message.removeprefix('argument ')}. See {self.prog} --help.")


def _parser(prog: str) -> argparse.ArgumentParser:
    parser = _Parser(
        prog=prog,
        description="Measure the speed and memory of uniformly random play through every "
        "interface, and other libraries' where they are installed; and the speed of search.",
        epilog=f"example: {prog} --games othello --sizes 1024 4096 --no-peers",
    )
    add = parser.add_argument
    add("--games", nargs="+", default=list(GAMES), metavar="GAME", help="what to play (all games)")
    sizes = f"boards in a batch ({', '.join(map(str, _SIZES))})"
    add("--sizes", nargs="+", type=int, default=_SIZES, metavar="BOARDS", help=sizes)
    add(
        "--backends",
        nargs="+",
        choices=["numpy", "numba"],
        default=_backends(),
        metavar="BACKEND",
        help="what runs the rules: numpy, numba (those installed)",
    )
    add("--rounds", type=int, default=5, help="interleaved rounds (5)")
    seconds = "CPU seconds of each workload in a round (0.2)"
    add("--seconds", type=float, default=0.2, help=seconds)
    places = "places in memory that the arrays of single rules are timed in; 0: none (20)"
    add("--placements", type=int, default=20, metavar="PLACES", help=places)
    add("--no-peers", action="store_true", help="leave the other libraries out")
    add("--jax", action="store_true", help="measure random play and PPO in JAX instead, and Pgx's")
    out = "where bench.json and the pictures go (runs/bench)"
    add("--out", type=Path, default=Path("runs/bench"), metavar="FOLDER", help=out)
    return parser


def _backends() -> list[str]:
    return ["numpy", "numba"] if find_spec("numba") else ["numpy"]


if __name__ == "__main__":
    main()
