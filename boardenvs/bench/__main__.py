"""`python -m boardenvs.bench`: random play through every interface, and other libraries'."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from boardenvs.bench.measure import measure, pin_to_one_core
from boardenvs.bench.memory import bytes_per_board
from boardenvs.bench.peers import peers
from boardenvs.bench.report import memory_table, speed_table, write_json, write_picture
from boardenvs.bench.workloads import workloads
from boardenvs.errors import unknown
from boardenvs.games import GAMES

_SIZES = [1, 16, 256, 1024, 4096, 16384, 65536]
_PEER_SIZES = [16, 256, 1024, 4096]


def main() -> None:
    """Measure, print the tables, write bench.json and a picture of each game."""
    arguments = _parser().parse_args()
    for game_id in arguments.games:
        if game_id not in GAMES:
            raise SystemExit(unknown("game", game_id, GAMES))
    pinned = pin_to_one_core()
    chosen = list(workloads(arguments.games, arguments.sizes, arguments.backends))
    if not arguments.no_peers:
        chosen += peers([size for size in _PEER_SIZES if size <= max(arguments.sizes)])
    console = Console()
    if not console.is_terminal:
        console = Console(width=120)  # a log file has no width to adapt to
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as progress:
        task = progress.add_task("", total=len(chosen) * (arguments.rounds + 1))
        results, errors = measure(
            chosen,
            arguments.rounds,
            arguments.seconds,
            lambda name: progress.update(task, advance=1, description=name),
        )
    memory = {game_id: bytes_per_board(game_id) for game_id in arguments.games}
    console.print(speed_table(results))
    console.print(memory_table(memory))
    for name, error in errors.items():
        console.print(f"[yellow]not run:[/] {name}: {error}")
    arguments.out.mkdir(parents=True, exist_ok=True)
    setting = {"rounds": arguments.rounds, "seconds": arguments.seconds, "one_core": pinned}
    write_json(arguments.out / "bench.json", results, memory, setting, errors)
    for game_id in arguments.games:
        write_picture(arguments.out / f"{game_id}.png", results, game_id)
    console.print(f"figures and pictures are in {arguments.out}/")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m boardenvs.bench", description=__doc__)
    parser.add_argument("--games", nargs="+", default=list(GAMES), metavar="GAME")
    parser.add_argument("--sizes", nargs="+", type=int, default=_SIZES, metavar="BOARDS")
    parser.add_argument(
        "--backends", nargs="+", choices=["numpy", "numba"], default=_backends(), metavar="BACKEND"
    )
    parser.add_argument("--rounds", type=int, default=5, help="interleaved rounds (5)")
    parser.add_argument(
        "--seconds", type=float, default=0.2, help="CPU seconds of each workload in a round (0.2)"
    )
    parser.add_argument("--no-peers", action="store_true", help="leave the other libraries out")
    parser.add_argument("--out", type=Path, default=Path("runs/bench"), metavar="FOLDER")
    return parser


def _backends() -> list[str]:
    from importlib.util import find_spec

    return ["numpy", "numba"] if find_spec("numba") else ["numpy"]


if __name__ == "__main__":
    main()
