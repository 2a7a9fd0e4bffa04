"""What comes out: tables, a JSON file and a picture of each game."""

from __future__ import annotations

import io
import json
import os
import platform
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from boardenvs.arena.report import game_title
from boardenvs.bench.measure import Measurement, Placements
from boardenvs.utils.files import write_atomically
from boardenvs.utils.version import processor, version

_PACKAGES = (
    *("boardenvs", "numpy", "numba", "jax", "jaxlib", "optax"),
    *("open_spiel", "pettingzoo", "pgx", "envpool"),
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
        best = [
            r.median
            for r in results
            if (r.workload.library, r.workload.unit, r.workload.boards) == ("Pgx", w.unit, w.boards)
        ]
        return result.median / max(best) if best and w.game == "othello" else None
    if w.unit != "plies":
        return None
    wanted = [("OpenSpiel", w.game, "State loop"), ("OpenSpiel", "othello", "State loop")]
    if w.interface in ("raw_env", "env"):
        wanted = [("PettingZoo", "connect_four", w.interface)]
    medians = {
        (r.workload.library, r.workload.game, r.workload.interface): r.median for r in results
    }
    return next((result.median / medians[key] for key in wanted if key in medians), None)


def print_tables(console: Console, report: Report) -> None:
    """What was measured, and what did not run."""
    played = [r for r in report.results if r.workload.unit == "plies"]
    others = [r for r in report.results if r.workload.unit != "plies"]
    console.print(_speeds("Uniformly random play", played, report.results))
    if others:
        console.print(_speeds("Search, or updates of PPO", others, report.results))
    if report.placements:
        rows = [
            (p.game, p.rule, p.backend, len(p.nanoseconds), min(p.nanoseconds), p.median,
             max(p.nanoseconds), f"{p.worst:.2f}")
            for p in report.placements
        ]  # fmt: skip
        title = "Single rules by the placement of their arrays, ns of processor time a board"
        names = ("game", "rule", "backend", "places", "fastest", "median", "slowest", "ratio")
        console.print(_table(title, names, [rows]))
    if report.memory:
        columns = list(next(iter(report.memory.values())))
        sizes = [(game, *map(round, row.values())) for game, row in report.memory.items()]
        title = "Bytes a board, peak during a step included"
        console.print(_table(title, ("game", *columns), [sizes]))
    for name, error in report.errors.items():
        console.print(f"not run: {name}: {error}", style="yellow")


def _speeds(title: str, results: list[Measurement], all_results: list[Measurement]) -> Table:
    """Measurements as a table, with a line between libraries, games and backends."""
    names = ("library", "game", "what", "backend", "boards", "unit", "a second", "IQR", "on the "
             "clock", "set up in", "ratio")  # fmt: skip
    sections = []
    kinds = lambda r: (r.workload.library, r.workload.game, r.workload.backend)  # noqa: E731
    for _, group in groupby(results, kinds):
        sections.append(
            [
                (
                    *(r.workload.library, r.workload.game, r.workload.interface),
                    *(r.workload.backend or "", r.workload.boards, r.workload.unit, r.median),
                    *(f"{r.iqr:.0%}", float(np.median(r.wall)), f"{r.setup:.1f} s"),
                    f"{times:.1f}" if (times := ratio(r, all_results)) else "",
                )
                for r in group
            ]
        )
    clock = "CPU second" if all(r.clock == "cpu" for r in results) else "second"
    return _table(f"{title}, a {clock} (medians)", names, sections)


def _table(title: str, names: Sequence[str], sections: Iterable[Sequence[Any]]) -> Table:
    """Rows of texts and numbers in sections; numbers stand at the right."""
    table = Table(*names, title=title)
    for rows in sections:
        for row in rows:
            cells = []
            for column, cell in zip(table.columns, row, strict=True):
                if not isinstance(cell, str):
                    column.justify = "right"
                    cell = f"{cell:,}" if isinstance(cell, int) else f"{cell:,.{_digits(cell)}f}"
                cells.append(cell)
            table.add_row(*cells)
        table.add_section()
    return table


def _digits(value: float) -> int:
    return 0 if value >= 1000 else 1


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
