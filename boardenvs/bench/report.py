"""The results of a benchmark: tables, a JSON file and a picture of each game."""

from __future__ import annotations

import json
import os
import platform
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.console import Console

from boardenvs.arena.report import game_title
from boardenvs.bench.measure import Workload
from boardenvs.report import ReportTable
from boardenvs.report.figures import FAINT, drawing, to_png
from boardenvs.utils.files import write_atomically
from boardenvs.utils.version import processor, version

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PACKAGES = "boardenvs numpy numba jax open_spiel pettingzoo pgx ludax envpool"
_COLOURS = {
    "numpy": "#2a6fbb",
    "numba": "#d1495b",
    "OpenSpiel": FAINT,
    "Pgx": "#e09f3e",
    "Ludax": "#3d9d94",
    "EnvPool": "#6a994e",
    "PettingZoo": "#9a7aa0",
}
_STYLES = {"kernel": "-o", "vec_env": "--s", "SB3 VecEnv": ":^"}


class Report(NamedTuple):
    """All results of a run."""

    results: list[Workload]
    errors: dict[str, str]  # by name of the workload
    setting: dict[str, Any]  # options of the run


def print_tables(console: Console, report: Report) -> None:
    """Print all results, and the errors of workloads that did not run."""
    by_unit = {"Uniformly random play": True, "Search": False}
    for title, is_play in by_unit.items():
        rows = _rows([w for w in report.results if (w.unit == "plies") == is_play])
        if rows:
            console.print(ReportTable(rows, f"{title}, medians of the rounds"))
    for name, error in report.errors.items():
        console.print(f"not run: {name}: {error}", style="yellow")


def _rows(results: list[Workload]) -> list[dict[str, object] | None]:
    """Rows of a table, with a line between libraries, games and backends."""
    rows: list[dict[str, object] | None] = []
    for _, group in groupby(results, lambda w: (w.library, w.game, w.backend)):
        rows += [
            {
                "library": w.library,
                "game": w.game,
                "interface": w.interface,
                "backend": w.backend,
                "boards": w.boards,
                "unit": w.unit,
                "per second": f"{w.median:,.{0 if w.median >= 1000 else 1}f}",
                "range": f"{min(w.rates) / w.median:.0%} to {max(w.rates) / w.median:.0%}",
                "set up in": f"{w.setup:.1f} s",
            }
            for w in group
        ]
        rows.append(None)
    return rows


def write_json(path: Path, report: Report) -> None:
    """Write all results with the machine and the versions of libraries."""
    document = {
        "setting": report.setting,
        "machine": {"processor": processor(), "cores": os.cpu_count()},
        "python": platform.python_version(),
        "versions": {name: version(name) for name in _PACKAGES.split()},
        "results": [
            {k: v for k, v in vars(w).items() if k != "start"} | {"median": w.median}
            for w in report.results
        ],
        "not_run": report.errors,
    }
    write_atomically(path, json.dumps(document, indent=1).encode())


def write_picture(path: Path, results: list[Workload], game: str) -> None:
    """Draw plies per second by batch size, other libraries included, on logarithmic axes."""
    shown = [
        w
        for w in results
        # The lines of `raw_env` and `env` coincide.
        if w.game == game and w.unit == "plies" and w.interface != "raw_env"
    ]
    with drawing(11, 5.6) as figure:
        from matplotlib.ticker import EngFormatter

        axes = figure.subplots()
        for key in dict.fromkeys((w.library, w.interface, w.backend) for w in shown):
            _draw_line(axes, [w for w in shown if (w.library, w.interface, w.backend) == key])
        axes.set(
            xscale="log",
            yscale="log",
            xlabel="boards in the batch",
            ylabel="plies per CPU second",
            title=f"{game_title(game)}: random play on one core",
        )
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.yaxis.set_major_formatter(EngFormatter(sep=""))
        figure.legend(loc="outside right upper")
        write_atomically(path, to_png(figure))


def _draw_line(axes: Axes, line: list[Workload]) -> None:
    """Draw one interface with all batch sizes; with a single size a level line."""
    first = line[0]
    label = f"{first.interface}, {first.backend or first.library}"
    if first.interface == "env":
        label = f"PettingZoo AEC {label}"
    colour, speeds = _COLOURS[first.backend or first.library], [w.median for w in line]
    if len(line) == 1:
        axes.axhline(speeds[0], color=colour, linewidth=1.2, linestyle=(0, (1, 2)), label=label)
        return
    boards, style = [w.boards for w in line], _STYLES.get(first.interface, "-.D")
    axes.plot(boards, speeds, style, markersize=4.5, color=colour, label=label)
    lows, highs = ([extreme(w.rates) for w in line] for extreme in (min, max))
    axes.fill_between(boards, lows, highs, color=colour, alpha=0.12, linewidth=0)
