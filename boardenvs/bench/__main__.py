"""`python -m boardenvs.bench`: random play, ours and other libraries', and search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from boardenvs.bench.measure import (
    Placements,
    bytes_per_board,
    measure,
    pin_to_one_core,
    placements,
)
from boardenvs.bench.report import Report, print_tables, write_json, write_picture
from boardenvs.bench.workloads import ours, peers, searches
from boardenvs.cli.command import function_of, usage_errors_as_values
from boardenvs.cli.console import make_console, make_progress
from boardenvs.game.contract import Game
from boardenvs.games import importable, parse, spec_of
from boardenvs.kernel.backend import Backend
from boardenvs.utils.checks import check_name
from boardenvs.utils.ending import ending_in_a_line
from boardenvs.utils.files import check_folder, file_name
from boardenvs.utils.threads import limit_jax

_SIZES = (1, 16, 256, 1024, 4096, 16384, 65536)
_MOST_BOARDS = 1 << 24
_PEER_SIZES = (16, 256, 1024, 4096)
_PROGRAM = "python -m boardenvs.bench"


def _option(text: str, metavar: str | None = None, **more: Any) -> Any:
    return typer.Option(help=text, metavar=metavar, **more)


@dataclass(frozen=True)
class Bench:
    """Measure the speed and memory of uniformly random play through every interface, and other
    libraries' where they are installed; and the speed of search.

    `--games`, `--sizes` and `--backends` may be given several times:

        python -m boardenvs.bench --games othello --sizes 1024 --sizes 4096 --no-peers
    """

    games: Annotated[list[str] | None, _option("What to play (all games).", "GAME")] = None
    sizes: Annotated[
        list[int] | None,
        _option(f"Boards in a batch ({', '.join(map(str, _SIZES))}).", "BOARDS"),
    ] = None
    backends: Annotated[
        list[str] | None,
        _option("What runs the rules: numpy, numba (those installed).", "BACKEND"),
    ] = None
    rounds: Annotated[int, _option("Interleaved rounds.", min=1)] = 5
    seconds: Annotated[float, _option("CPU seconds of each workload in a round.")] = 0.2
    placements: Annotated[
        int,
        _option("Places in memory that arrays of single rules are timed in; 0: none.", min=0),
    ] = 20
    peers: Annotated[bool, _option("Measure the other libraries too.")] = True
    jax: Annotated[
        bool, typer.Option("--jax", help="Measure random play in JAX instead, and in Pgx.")
    ] = False
    out: Annotated[Path, _option("Where the JSON file and the pictures go.", "FOLDER")] = Path(
        "runs/bench"
    )

    def run(self) -> None:
        """Measure, print the tables, write bench.json (jax.json) and a picture of each game."""
        with ending_in_a_line():  # typer would end an interruption itself
            self._measure()

    def _measure(self) -> None:
        made = {spec_of(game): game for game in map(parse, self.games or importable())}
        sizes, backends = self._checked()
        check_folder(self.out)
        pinned, console = pin_to_one_core(), make_console()
        clock: Literal["cpu", "wall"] = "cpu"
        setting: dict[str, Any] = {
            "rounds": self.rounds,
            "seconds": self.seconds,
            "one_core": pinned,
        }
        games = list(made.values())
        if self.jax:
            if pinned:  # processor time is what counts
                limit_jax(1)
            import jax

            from boardenvs.bench.jax import in_jax

            device = jax.devices()[0]
            setting["device"] = str(device)
            clock = "cpu" if device.platform == "cpu" else "wall"
            chosen = list(in_jax(games, sizes, peers=self.peers))
        else:
            chosen = [*ours(games, sizes, backends), *searches(games, backends)]
            if self.peers:
                chosen += peers(games, [size for size in _PEER_SIZES if size <= max(sizes)])
        with make_progress(console) as progress:
            results, errors = measure(chosen, self.rounds, self.seconds, progress, clock)
            placed, memory = list[Placements](), dict[str, dict[str, float]]()
            if not self.jax:
                placed = placements(games, backends, self.placements, progress)
                memory = {name: bytes_per_board(game) for name, game in made.items()}
        report = Report(results, placed, memory, errors, setting)
        print_tables(console, report)
        self.out.mkdir(parents=True, exist_ok=True)
        write_json(self.out / ("jax.json" if self.jax else "bench.json"), report)
        if not self.jax:
            self._write_pictures(report, made, console)
        console.print(f"the results are in {self.out}/")

    def _write_pictures(self, report: Report, games: dict[str, Game], console: Any) -> None:
        if find_spec("matplotlib") is None:
            console.print("no pictures: they need matplotlib, pip install 'boardenvs[bench]'")
            return
        played = [result for result in report.results if result.workload.unit == "plies"]
        for name in games:
            write_picture(self.out / f"{file_name(name)}.png", played, name)

    def _checked(self) -> tuple[list[int], list[Backend]]:
        """Sizes and backends; ValueError where a value is wrong, or JAX is missing."""
        known: list[Backend] = ["numpy", "numba"] if find_spec("numba") else ["numpy"]
        for name in self.backends or ():
            check_name("backend", name, known)
        sizes = self.sizes or (list(_SIZES) if not self.jax else [1024, 4096])
        for size in sizes:
            if not 1 <= size <= _MOST_BOARDS:
                raise ValueError(f"--sizes has {size}: it must be from 1 to {_MOST_BOARDS} boards")
        if not 0 < self.seconds < float("inf"):
            raise ValueError(f"--seconds is {self.seconds}: it must be a number above 0")
        if self.jax and not find_spec("jax"):
            raise ValueError("--jax needs JAX: pip install 'boardenvs[jax]'")
        return sizes, [name for name in known if name in (self.backends or known)]


app = typer.Typer(
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(function_of(Bench))


def main(words: Sequence[str] | None = None) -> None:
    """Run the benchmark with these words, by default those of the process."""
    with ending_in_a_line(), usage_errors_as_values():
        app(words, prog_name=_PROGRAM, standalone_mode=False)


if __name__ == "__main__":
    main()
