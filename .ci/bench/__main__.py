"""Measure random play and search beside other libraries, as README and comparison.md show them.

    python .ci/bench                                           # six minutes
    python .ci/bench --games chess --sizes 4096 --no-others
    python .ci/bench --jax --sizes 4096                        # on a GPU by the clock
    python .ci/bench --self-play --games connect_four --games othello --games hex

The results go to bench.json (jax.json, self_play.json), Othello's random play to bench_othello.png
too.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import time
from pathlib import Path
from typing import Annotated

import typer
from jax_play import in_jax
from self_play import by_search
from typer import Option
from workloads import Workload, ours, peers, searches

from boardenvs.bench import measure
from boardenvs.games import parse
from boardenvs.kernel import get_backend
from boardenvs.report import ReportTable
from boardenvs.report.figures import FAINT, drawing
from boardenvs.utils.console import make_console
from boardenvs.utils.files import write_atomically
from boardenvs.utils.threads import limit_jax
from boardenvs.utils.version import processor, version

GAMES = ["othello", "othello_holes", "wolf_and_sheep", "lines_of_action"]
SIZES = [1, 16, 256, 1024, 4096, 16384, 65536]
PEER_SIZES = [16, 256, 1024, 4096]
PACKAGES = "boardenvs numpy numba torch jax mctx open_spiel pettingzoo pgx ludax envpool"
COLOURS = {"numpy": "#2a6fbb", "numba": "#d1495b", "OpenSpiel": FAINT, "Pgx": "#e09f3e",
           "Ludax": "#3d9d94", "EnvPool": "#6a994e", "PettingZoo": "#9a7aa0"}  # fmt: skip
STYLES = {"rules": "-o", "vec_env": "--s", "SB3 VecEnv": ":^"}


def main(
    games: Annotated[list[str], Option(metavar="GAME")] = GAMES,
    sizes: Annotated[list[int], Option(metavar="BOARDS")] = SIZES,
    rounds: Annotated[int, Option(help="Rounds in which all take turns.", min=1)] = 5,
    seconds: Annotated[float, Option(help="Of a workload in a round.")] = 0.2,
    others: Annotated[bool, Option(help="Measure other libraries too.")] = True,
    jax: Annotated[bool, Option("--jax", help="Measure random play in JAX instead.")] = False,
    self_play: Annotated[bool, Option("--self-play", help="Measure self-play by search.")] = False,
    out: Annotated[Path, Option(metavar="FOLDER")] = Path("runs/bench"),
) -> None:
    """Measure, print a table and write the results."""
    if hasattr(os, "sched_setaffinity"):  # one core, for later threads too
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    own, clock = [parse(text) for text in games], time.process_time
    if jax:
        limit_jax()
        workloads, on_device = in_jax(own, sizes, others=others)
        clock = time.perf_counter if on_device else clock
    elif self_play:
        workloads = [*by_search(own, others=others)]
    else:
        backends = ["numpy", "numba"] if get_backend() == "numba" else ["numpy"]
        workloads = [*ours(own, sizes, backends), *searches(own, backends)]
        if others:
            workloads += peers(own, [size for size in PEER_SIZES if size <= max(sizes)])
    workloads = [workload for workload in workloads if workload.is_ready()]
    plays = [workload.play for workload in workloads]
    for workload, rates in zip(workloads, measure(plays, rounds, seconds, clock), strict=True):
        workload.rates = rates
    make_console().print(ReportTable([row(workload) for workload in workloads]))
    out.mkdir(parents=True, exist_ok=True)
    document = {
        "setting": {"rounds": rounds, "seconds": seconds},
        "machine": {"processor": processor(), "cores": os.cpu_count()},
        "versions": {"python": platform.python_version()}
        | {p: version(p) for p in PACKAGES.split()},
        "results": [row(workload) | {"rates": workload.rates} for workload in workloads],
    }
    name = "jax" if jax else "self_play" if self_play else "bench"
    write_atomically(out / f"{name}.json", json.dumps(document, indent=1).encode())
    if name == "bench":
        draw(out / "bench_othello.png", [w for w in workloads if w.game == "othello"])


def row(workload: Workload) -> dict[str, object]:
    rates = workload.rates
    return {
        "library": workload.library,
        "game": workload.game,
        "interface": workload.interface,
        "backend": workload.backend,
        "boards": workload.boards,
        "unit": workload.unit,
        "a second": round(statistics.median(rates), 1),
        "range": f"{min(rates):,.0f} to {max(rates):,.0f}",
    }


def draw(path: Path, workloads: list[Workload]) -> None:
    """Draw plies a second by batch size; what has one size is a level line."""
    lines: dict[tuple[str, str], list[Workload]] = {}
    for workload in workloads:
        if workload.unit == "plies":
            key = workload.interface, workload.backend or workload.library
            lines.setdefault(key, []).append(workload)
    with drawing(11, 5.6) as figure:
        from matplotlib.ticker import EngFormatter

        axes = figure.subplots()
        for (interface, kind), line in lines.items():
            boards, colour = [w.boards for w in line], COLOURS[kind]
            label = f"{'PettingZoo AEC ' * (interface == 'env')}{interface}, {kind}"
            speeds, lows, highs = (
                [of(w.rates) for w in line] for of in (statistics.median, min, max)
            )
            if len(line) == 1:
                axes.axhline(speeds[0], color=colour, lw=1.2, ls=(0, (1, 2)), label=label)
                continue
            style = STYLES.get(interface, "-.D")
            axes.plot(boards, speeds, style, markersize=4.5, color=colour, label=label)
            axes.fill_between(boards, lows, highs, color=colour, alpha=0.12, linewidth=0)
        axes.set(
            xscale="log",
            yscale="log",
            xlabel="boards in the batch",
            ylabel="plies per CPU second",
            title="Othello: random play on one core",
        )
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.yaxis.set_major_formatter(EngFormatter(sep=""))
        figure.legend(loc="outside right upper")
        figure.savefig(path, dpi=150, metadata={"Software": None})


if __name__ == "__main__":
    typer.run(main)
