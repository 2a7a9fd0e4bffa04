"""What comes out: tables, a JSON file and a picture of each game."""

from __future__ import annotations

import io
import json
import os
import platform
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from boardenvs.arena.report import game_title
from boardenvs.bench.measure import Measurement
from boardenvs.bench.placement import Placements
from boardenvs.utils.files import write_atomically
from boardenvs.utils.version import processor, version

_PACKAGES = ("boardenvs", "numpy", "numba", "open_spiel", "pettingzoo", "pgx", "jax", "envpool")


def ratio(result: Measurement, results: list[Measurement]) -> float | None:
    """How many times OpenSpiel's State loop of the game, or of Othello where that has not run;
    PettingZoo interfaces: how many times its connect_four's.
    """
    w = result.workload
    wanted = [("OpenSpiel", w.game, "State loop"), ("OpenSpiel", "othello", "State loop")]
    if w.interface in ("raw_env", "env"):
        wanted = [("PettingZoo", "connect_four", w.interface)]
    medians = {
        (r.workload.library, r.workload.game, r.workload.interface): r.median for r in results
    }
    return next((result.median / medians[key] for key in wanted if key in medians), None)


def _speed_table(results: list[Measurement]) -> Table:
    """All measurements."""
    table = Table(title="Uniformly random play, plies a CPU second (medians)")
    for name in ("library", "game", "interface", "backend"):
        table.add_column(name)
    for name in ("boards", "plies/s", "spread", "wall", "ns a ply", "ratio"):
        table.add_column(name, justify="right")
    last = None
    for result in results:
        w, times = result.workload, ratio(result, results)
        if last not in (None, (w.library, w.game, w.backend)):
            table.add_section()
        last = (w.library, w.game, w.backend)
        table.add_row(
            w.library,
            w.game,
            w.interface,
            w.backend or "",
            f"{w.boards:,}",
            f"{result.median:,.0f}",
            f"{result.spread:.0%}",
            f"{np.median(result.wall):,.0f}",
            f"{1e9 / result.median:,.0f}",
            f"{times:.1f}" if times else "",
        )
    table.caption = (
        "ratio: to OpenSpiel's State loop of the game, or else of Othello; raw_env and "
        "env: to PettingZoo's connect_four"
    )
    return table


def _search_table(results: list[Measurement]) -> Table:
    """Nodes and simulations."""
    table = Table(title="Search, nodes or simulations a CPU second (medians)")
    for name in ("game", "search", "backend"):
        table.add_column(name)
    table.add_column("positions at once", justify="right")
    table.add_column("counted")
    for name in ("a CPU second", "spread", "wall"):
        table.add_column(name, justify="right")
    for result in results:
        w = result.workload
        table.add_row(
            w.game,
            w.interface,
            w.backend or "",
            f"{w.boards:,}",
            w.unit,
            f"{result.median:,.0f}",
            f"{result.spread:.0%}",
            f"{np.median(result.wall):,.0f}",
        )
    return table


def _placement_table(placements: list[Placements]) -> Table:
    """Single rules, wherever their arrays lie."""
    table = Table(
        title="Single rules by the placement of their arrays, ns of processor time a board"
    )
    for name in ("game", "rule", "backend"):
        table.add_column(name)
    for name in ("places", "fastest", "median", "slowest", "slowest/median"):
        table.add_column(name, justify="right")
    for p in placements:
        fastest, slowest = min(p.nanoseconds), max(p.nanoseconds)
        figures = (f"{x:.1f}" for x in (fastest, p.median, slowest))
        table.add_row(
            p.game, p.rule, p.backend, str(len(p.nanoseconds)), *figures, f"{p.worst:.2f}"
        )
    return table


def _memory_table(memory: dict[str, dict[str, float]]) -> Table:
    """Bytes a board by game and interface."""
    table = Table(title="Bytes a board, peak during a step included")
    table.add_column("game")
    columns = list(next(iter(memory.values())))
    for name in columns:
        table.add_column(name, justify="right")
    for game, row in memory.items():
        table.add_row(game, *(f"{row[name]:,.0f}" for name in columns))
    return table


class Figures(NamedTuple):
    """All that was measured in a run."""

    played: list[Measurement]
    searched: list[Measurement]
    placements: list[Placements]
    memory: dict[str, dict[str, float]]  # bytes a board, by game
    errors: dict[str, str]  # of what did not run, by name
    setting: dict[str, Any]  # of the run


def print_tables(console: Console, figures: Figures) -> None:
    """The figures, and what did not run."""
    console.print(_speed_table(figures.played))
    if figures.searched:
        console.print(_search_table(figures.searched))
    if figures.placements:
        console.print(_placement_table(figures.placements))
    console.print(_memory_table(figures.memory))
    for name, error in figures.errors.items():
        console.print(f"not run: {name}: {error}", style="yellow")


def write_json(path: Path, figures: Figures) -> None:
    """All figures, and the machine and versions they belong to."""
    document = {
        "setting": figures.setting,
        "machine": {"processor": processor(), "cores": os.cpu_count()},
        "python": platform.python_version(),
        "versions": {name: version(name) for name in _PACKAGES},
        "results": [_played(result, figures.played) for result in figures.played],
        "search": [_searched(result) for result in figures.searched],
        "placements": [_placed(placed) for placed in figures.placements],
        "bytes_per_board": figures.memory,
        "not_run": figures.errors,
    }
    write_atomically(path, json.dumps(document, indent=1).encode())


def _played(result: Measurement, results: list[Measurement]) -> dict[str, Any]:
    return {
        "library": result.workload.library,
        "game": result.workload.game,
        "interface": result.workload.interface,
        "backend": result.workload.backend,
        "boards": result.workload.boards,
        "plies_per_cpu_second": result.cpu,
        "plies_per_wall_second": result.wall,
        "median": result.median,
        "spread": result.spread,
        "ratio": ratio(result, results),
    }


def _searched(result: Measurement) -> dict[str, Any]:
    return {
        "game": result.workload.game,
        "search": result.workload.interface,
        "backend": result.workload.backend,
        "positions": result.workload.boards,
        "unit": result.workload.unit,
        "per_cpu_second": result.cpu,
        "per_wall_second": result.wall,
        "median": result.median,
        "spread": result.spread,
    }


def _placed(placed: Placements) -> dict[str, Any]:
    return {
        "game": placed.game,
        "rule": placed.rule,
        "backend": placed.backend,
        "ns_a_board": placed.nanoseconds,
        "median": placed.median,
        "slowest_to_median": placed.worst,
    }


def write_picture(path: Path, results: list[Measurement], game: str) -> None:
    """Plies a second by batch size of one game, peers included, on logarithmic axes."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt
    from matplotlib.ticker import FuncFormatter

    figure, axes = plt.subplots(figsize=(9, 5.6), dpi=120)
    colours = {"numpy": "#2a6fbb", "numba": "#d1495b", None: "#777777"}
    styles = {"kernel": ("-", "o"), "vec_env": ("--", "s"), "SB3 VecEnv": (":", "^")}
    labels = []
    for key, line in _lines(results, game).items():
        library, interface, backend = key
        style, marker = styles.get(interface, ("-.", "D"))
        colour = colours[backend] if library == "boardenvs" else _PEERS[library]
        x, y, low, high = (np.array(v) for v in zip(*line, strict=True))
        label = f"{interface}, {backend}" if library == "boardenvs" else f"{library} {interface}"
        if interface in ("raw_env", "env"):
            if interface == "raw_env":  # the two lie on top of each other
                continue
            label = f"PettingZoo AEC {label}"
        if len(x) == 1:
            axes.axhline(y[0], color=colour, linewidth=1.2, linestyle=(0, (1, 2)))
            labels.append((y[0], label, colour))
            continue
        axes.plot(x, y, style, marker=marker, markersize=4.5, color=colour, label=label)
        axes.fill_between(x, low, high, color=colour, alpha=0.12, linewidth=0)
    axes.set(xscale="log", yscale="log", xlabel="boards in the batch", ylabel="plies a CPU second")
    for y_value, label, colour in labels:
        axes.text(1.1, y_value * 1.08, label, color=colour, fontsize=8)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:,.0f}"))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda v, _: _short(v)))
    axes.grid(which="major", alpha=0.25)
    axes.set_title(f"{game_title(game)}: random play on one core")
    if axes.get_legend_handles_labels()[0]:  # with several batch sizes
        axes.legend(fontsize=8, frameon=False, loc="lower right")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    figure.tight_layout()
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    write_atomically(path, buffer.getvalue())
    plt.close(figure)


_PEERS = {"OpenSpiel": "#5f5f5f", "Pgx": "#e09f3e", "EnvPool": "#6a994e", "PettingZoo": "#9a7aa0"}


def _lines(
    results: list[Measurement], game: str
) -> dict[tuple[str, str, str | None], list[tuple[float, float, float, float]]]:
    """By library, interface and backend: boards, median, lowest and highest round."""
    lines: dict[tuple[str, str, str | None], list[tuple[float, float, float, float]]] = {}
    for r in results:
        w = r.workload
        if w.game == game:
            key = (w.library, w.interface, w.backend)
            lines.setdefault(key, []).append((w.boards, r.median, min(r.cpu), max(r.cpu)))
    return lines


def _short(value: float) -> str:
    for unit, name in ((1e6, "M"), (1e3, "k")):
        if value >= unit:
            return f"{value / unit:g}{name}"
    return f"{value:g}"
