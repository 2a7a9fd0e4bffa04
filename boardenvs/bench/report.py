"""What comes out: tables, a JSON file and a picture of each game."""

from __future__ import annotations

import json
import os
import platform
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from rich.console import Console

from boardenvs.arena.report import game_title
from boardenvs.bench.measure import Measurement, Placements
from boardenvs.report import ReportTable
from boardenvs.report.figures import FAINT, drawing, to_png
from boardenvs.utils.files import write_atomically
from boardenvs.utils.version import processor, version

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PACKAGES = (
    *("boardenvs", "numpy", "numba", "jax", "jaxlib", "optax"),
    *("open_spiel", "pettingzoo", "pgx", "ludax", "envpool"),
)


class Report(NamedTuple):
    """All that was measured in a run."""

    results: list[Measurement]
    placements: list[Placements]
    memory: dict[str, dict[str, float]]  # bytes a board, by game
    errors: dict[str, str]  # of what did not run, by name
    setting: dict[str, Any]  # of the run


def ratio(result: Measurement, results: list[Measurement]) -> float | None:
    """How many times as fast as its counterpart in another library; None where none has run.

    Of one board that is OpenSpiel's State loop of the game, or else of Othello; of PettingZoo's
    interfaces its connect_four; in JAX the best of Pgx, of the same unit and number of boards, and
    of Othello alone, the only game that both have.
    """
    w = result.workload
    if w.interface in ("play", "PPO") or w.interface.startswith("pgx.Env"):
        counterparts = [("Pgx", "othello", "", w.unit, w.boards)] * (w.game == "othello")
    elif w.interface in ("raw_env", "env"):
        counterparts = [("PettingZoo", "connect_four", w.interface, "plies", 1)]
    else:
        counterparts = [
            ("OpenSpiel", game, "State loop", "plies", 1) for game in (w.game, "othello")
        ]
    for library, game, interface, unit, boards in counterparts:
        medians = [
            r.median
            for r in results
            if (r.workload.library, r.workload.game, r.workload.unit, r.workload.boards)
            == (library, game, unit, boards)
            and interface in ("", r.workload.interface)
        ]
        if medians and w.unit == unit:
            return result.median / max(medians)
    return None


def print_tables(console: Console, report: Report) -> None:
    """What was measured, and what did not run."""
    played = [r for r in report.results if r.workload.unit == "plies"]
    others = [r for r in report.results if r.workload.unit != "plies"]
    console.print(_speeds("Uniformly random play", played, report.results))
    if others:
        console.print(_speeds("Search, or updates of PPO", others, report.results))
    if report.placements:
        rows = [
            {
                "game": p.game,
                "rule": p.rule,
                "backend": p.backend,
                "places": len(p.nanoseconds),
                "fastest": _number(min(p.nanoseconds)),
                "median": _number(p.median),
                "slowest": _number(max(p.nanoseconds)),
                "ratio": f"{p.worst:.2f}",
            }
            for p in report.placements
        ]
        title = "Single rules by the placement of their arrays, ns of processor time a board"
        console.print(ReportTable(rows, title))
    if report.memory:
        sizes = [
            {"game": game} | {name: round(size) for name, size in row.items()}
            for game, row in report.memory.items()
        ]
        console.print(ReportTable(sizes, "Bytes a board, peak during a step included"))
    for name, error in report.errors.items():
        console.print(f"not run: {name}: {error}", style="yellow")


def _speeds(title: str, results: list[Measurement], all_results: list[Measurement]) -> ReportTable:
    """Measurements as a table, with a line between libraries, games and backends."""
    rows: list[dict[str, object] | None] = []
    kinds = lambda r: (r.workload.library, r.workload.game, r.workload.backend)  # noqa: E731
    for _, group in groupby(results, kinds):
        rows += [
            {
                "library": r.workload.library,
                "game": r.workload.game,
                "what": r.workload.interface,
                "backend": r.workload.backend,
                "boards": r.workload.boards,
                "unit": r.workload.unit,
                "a second": _number(r.median),
                "IQR": f"{r.iqr:.0%}",
                "on the clock": _number(float(np.median(r.wall))),
                "set up in": f"{r.setup:.1f} s",
                "ratio": f"{times:.1f}" if (times := ratio(r, all_results)) else "",
            }
            for r in group
        ]
        rows.append(None)
    clock = "CPU second" if all(r.clock == "cpu" for r in results) else "second"
    return ReportTable(rows, f"{title}, a {clock} (medians)")


def _number(value: float) -> str:
    return f"{value:,.{0 if value >= 1000 else 1}f}"


def write_json(path: Path, report: Report) -> None:
    """All that was measured, and the machine and versions that it belongs to."""
    document = {
        "setting": report.setting,
        "machine": {"processor": processor(), "cores": os.cpu_count()},
        "python": platform.python_version(),
        "versions": {name: version(name) for name in _PACKAGES},
        "results": [
            {
                **{name: getattr(r.workload, name) for name in
                   ("library", "game", "interface", "backend", "boards", "unit")},
                "per_cpu_second": r.cpu,
                "per_wall_second": r.wall,
                "median": r.median,
                "iqr": r.iqr,
                "seconds_to_set_up": r.setup,
                "ratio": ratio(r, report.results),
            }
            for r in report.results
        ],
        "placements": [
            {**p._asdict(), "median": p.median, "slowest_to_median": p.worst}
            for p in report.placements
        ],
        "bytes_per_board": report.memory,
        "not_run": report.errors,
    }  # fmt: skip
    write_atomically(path, json.dumps(document, indent=1).encode())


_COLOURS = {
    "numpy": "#2a6fbb",
    "numba": "#d1495b",
    "OpenSpiel": FAINT,
    "Pgx": "#e09f3e",
    "Ludax": "#3d9d94",
    "EnvPool": "#6a994e",
    "PettingZoo": "#9a7aa0",
}


def write_picture(path: Path, results: list[Measurement], game: str) -> None:
    """Plies a second by batch size of one game, peers included, on logarithmic axes."""
    with drawing(9, 5.6) as figure:
        _draw_lines(figure.subplots(), results, game)
        write_atomically(path, to_png(figure))


def _draw_lines(axes: Axes, results: list[Measurement], game: str) -> None:
    from matplotlib.ticker import EngFormatter

    styles = {"kernel": "-o", "vec_env": "--s", "SB3 VecEnv": ":^"}
    lines: dict[tuple[str, str, str], list[Measurement]] = {}
    for r in results:
        w = r.workload
        # Those of `raw_env` and `env` lie on top of each other.
        if w.game == game and w.interface != "raw_env":
            kind = w.backend if w.library == "boardenvs" else w.library
            lines.setdefault((w.library, w.interface, str(kind)), []).append(r)
    for (library, interface, kind), line in lines.items():
        colour = _COLOURS[kind]
        label = f"{interface}, {kind}" if library == "boardenvs" else f"{library} {interface}"
        if interface == "env":
            label = f"PettingZoo AEC {label}"
        speeds = [r.median for r in line]
        if len(line) == 1:
            axes.axhline(speeds[0], color=colour, linewidth=1.2, linestyle=(0, (1, 2)))
            axes.text(1.1, speeds[0] * 1.08, label, color=colour, fontsize=9)
            continue
        boards = [r.workload.boards for r in line]
        lows, highs = ([extreme(r.cpu) for r in line] for extreme in (min, max))
        axes.plot(
            boards, speeds, styles.get(interface, "-.D"), markersize=4.5, color=colour, label=label
        )
        axes.fill_between(boards, lows, highs, color=colour, alpha=0.12, linewidth=0)
    axes.set(xscale="log", yscale="log", xlabel="boards in the batch", ylabel="plies a CPU second")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.set_major_formatter(EngFormatter(sep=""))
    axes.set_title(f"{game_title(game)}: random play on one core")
    if axes.get_legend_handles_labels()[0]:  # with several batch sizes
        axes.legend(loc="lower right")
