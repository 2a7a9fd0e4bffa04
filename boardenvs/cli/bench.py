"""`boardenvs bench`: the speed of random play and search, beside other libraries'."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from boardenvs.games import importable, parse, spec_of
from boardenvs.kernel import get_backend

if TYPE_CHECKING:
    from boardenvs.kernel.backend import Backend

_SIZES = (1, 16, 256, 1024, 4096, 16384, 65536)
_JAX_SIZES = (1024, 4096)
_PEER_SIZES = (16, 256, 1024, 4096)
_MOST_BOARDS = 1 << 24


@dataclass(frozen=True)
class BenchCommand:
    """Measure the speed of uniformly random play through every interface, of other libraries that
    are installed, and of search.

    `--games` and `--sizes` may be given several times.

    ```
    boardenvs bench --games othello --sizes 1024 --sizes 4096 --no-peers
    ```
    """

    games: Annotated[list[str] | None, Option(metavar="GAME", help="Games. Default: all.")] = None
    sizes: Annotated[
        list[int] | None,
        Option(metavar="BOARDS", help=f"Boards. Default: {', '.join(map(str, _SIZES))}."),
    ] = None
    rounds: Annotated[int, Option(metavar="N", help="Interleaved rounds.", min=1)] = 5
    seconds: Annotated[float, Option(help="CPU seconds of a workload in a round.")] = 0.2
    peers: Annotated[bool, Option(help="Measure other libraries too.")] = True
    jax: Annotated[bool, Option("--jax", help="Measure random play in JAX instead.")] = False
    out: Annotated[
        Path, Option(metavar="FOLDER", help="Folder of the JSON file and the pictures.")
    ] = Path("runs/bench")

    def run(self) -> None:
        """Measure, print the tables, and write bench.json (jax.json) and pictures."""
        from boardenvs.bench.measure import measure, pin_to_one_core
        from boardenvs.bench.report import Report, print_tables, write_json, write_picture
        from boardenvs.bench.workloads import ours, peers, searches
        from boardenvs.utils.console import make_console, make_progress
        from boardenvs.utils.files import check_folder, safe_name
        from boardenvs.utils.threads import limit_jax

        games = [parse(text) for text in self.games or importable()]
        sizes = sorted(self.sizes or (_JAX_SIZES if self.jax else _SIZES))
        for size in sizes:
            if not 1 <= size <= _MOST_BOARDS:
                raise ValueError(f"--sizes has {size}: it must be from 1 to {_MOST_BOARDS} boards")
        if not 0 < self.seconds < float("inf"):
            raise ValueError(f"--seconds is {self.seconds}: it must be a number above 0")
        if self.jax and not find_spec("jax"):
            raise ValueError("--jax needs JAX: pip install 'boardenvs[jax]'")
        check_folder(self.out)
        setting = {**asdict(self), "out": str(self.out), "one_core": pin_to_one_core()}
        console, clock = make_console(), time.process_time
        if self.jax:
            limit_jax(1)
            import jax

            from boardenvs.bench.jax import in_jax

            setting["device"] = str(jax.devices()[0])
            if jax.devices()[0].platform != "cpu":
                clock = time.perf_counter
            chosen = list(in_jax(games, sizes, peers=self.peers))
        else:
            backends: list[Backend] = ["numpy"]
            if get_backend() == "numba":
                backends.append("numba")
            chosen = [*ours(games, sizes, backends), *searches(games, backends)]
            if self.peers:
                chosen += peers(games, [size for size in _PEER_SIZES if size <= max(sizes)])
        with make_progress(console) as progress:
            errors = measure(chosen, self.rounds, self.seconds, progress, clock)
        report = Report([w for w in chosen if w.rates], errors, setting)
        print_tables(console, report)
        self.out.mkdir(parents=True, exist_ok=True)
        write_json(self.out / ("jax.json" if self.jax else "bench.json"), report)
        if find_spec("matplotlib") and not self.jax:
            for name in map(spec_of, games):
                write_picture(self.out / f"{safe_name(name)}.png", report.results, name)
        console.print(f"the results are in {self.out}/")
