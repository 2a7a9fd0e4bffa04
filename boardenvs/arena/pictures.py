"""Pictures of a table: ratings with intervals, over CPU time too, and a heat map of scores."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.transforms import blended_transform_factory

from boardenvs.agents import AGENTS
from boardenvs.arena.report import interval_text, rating_text, time_text, title
from boardenvs.arena.results import Crosstable
from boardenvs.utils.pictures import BLUE, FAINT, INK, RULE, drawing, to_svg

# After Okabe and Ito, told apart with every kind of colour vision; one for each kind of agent, in
# the order of AGENTS.
_COLOURS = (
    "#999999", "#E69F00", "#009E73", BLUE, "#D55E00", "#CC79A7", "#56B4E9", "#4B3F8F",
    "#7F7F7F",
)  # fmt: skip
# From losing to winning, pale where both score half.
_SCORES = LinearSegmentedColormap.from_list(
    "scores", ["#b2561b", "#e9a66b", "#f6f4f1", "#7fb3d8", "#1b5f95"]
)
_MAX_NAME = 34


def ratings(table: Crosstable) -> bytes:
    """An SVG: a bar for each rating, the strongest on top, with its 95 % interval."""
    found, count, width = table.ratings, len(table.entrants), 9.0
    with drawing(width, 1.2 + 0.34 * count) as figure:
        figure.set_layout_engine("constrained", rect=(0, 0, 1 - 1.9 / width, 1))
        axes, rows = figure.subplots(), np.arange(count)
        axes.barh(rows, found.rating, height=0.66, color=_colours(table), alpha=0.85, zorder=2)
        axes.axvline(0, color=INK, linewidth=1, zorder=3)
        known = np.concatenate([found.rating, found.low, found.high])
        left, right = (float(f(known[np.isfinite(known)])) for f in (np.min, np.max))
        reach = 0.06 * max(100.0, right - left)
        across = blended_transform_factory(figure.transFigure, axes.transData)
        place: dict[str, Any] = {"ha": "right", "va": "center", "transform": across, "fontsize": 9}
        place["in_layout"] = False  # there is room for it
        for row in range(count):
            _draw_interval(axes, table, row, reach)
            axes.text(1 - 1.3 / width, row, rating_text(table, row), fontweight="bold", **place)
            axes.text(1 - 0.15 / width, row, interval_text(table, row), color=FAINT, **place)
        axes.set(
            xlim=(left - 1.5 * reach * (left < 0), right + 0.5 * reach), ylim=(count - 0.4, -0.6)
        )
        axes.set_yticks(rows, map(_name, table.entrants))
        axes.set_xlabel(f"Elo points above {_name(found.anchor)}, with 95 % bootstrap intervals")
        axes.grid(visible=False, axis="y")
        return _finished(figure, f"{title(table)}: ratings")


def _draw_interval(axes: Axes, table: Crosstable, row: int, reach: float) -> None:
    """A line from end to end, with an arrow where the interval has none."""
    found = table.ratings
    if table.entrants[row] == found.anchor:
        return
    for end, beyond, arrow in (
        (found.low[row], found.rating[row] - reach, "<"),
        (found.high[row], found.rating[row] + reach, ">"),
    ):
        bounded = np.isfinite(end)
        axes.plot(
            (found.rating[row], end if bounded else beyond), (row, row), color=INK, linewidth=1.3,
            marker="|" if bounded else arrow, markevery=[1], markersize=5, zorder=4,
        )  # fmt: skip


def cost(table: Crosstable) -> bytes:
    """An SVG: ratings over the CPU time a move, and a line along the players of which none is as
    strong at less cost.
    """
    timed = [
        (ms, i)
        for i, standing in enumerate(table.standings.values())
        if (ms := standing.ms_per_move) and standing.plays
    ]
    found, colours = table.ratings, _colours(table)
    best, best_times = list[float](), list[float]()
    with drawing(9.0, 5.4) as figure:
        axes = figure.subplots()
        for place, (ms, i) in enumerate(sorted(timed)):
            rating, ends = found.rating[i], np.array([found.low[i], found.high[i]])
            lengths = np.where(np.isfinite(ends), abs(ends - rating), 0)[:, None]
            axes.errorbar(
                ms, rating, lengths, color=colours[i], marker="o", linewidth=1.3, zorder=3
            )
            axes.annotate(
                _name(table.entrants[i]), (ms, rating), (6, (2, -2)[place % 2]), fontsize=8,
                textcoords="offset points", va=("bottom", "top")[place % 2], linespacing=1,
            )  # fmt: skip
            if not best or rating > best[-1]:
                best, best_times = [*best, rating], [*best_times, ms]
        axes.plot(best_times, best, color=FAINT, linewidth=1, linestyle="--", zorder=2)
        axes.set(
            xscale="log", xlabel="CPU time a move", ylabel=f"Elo points above {_name(found.anchor)}"
        )
        axes.xaxis.set_major_formatter(lambda ms, _: time_text(ms))
        axes.xaxis.set_minor_formatter("")
        axes.margins(x=0.18)
        said = f"{title(table)}: rating over CPU time, with 95 % bootstrap intervals"
        return _finished(figure, said)


def heatmap(table: Crosstable) -> bytes:
    """An SVG: the score of each row against each column in percent, the strongest first."""
    places, scores = np.arange(len(table.entrants)), table.scores
    side, names = 0.52 * len(places), list(map(_name, table.entrants))
    with drawing(3.6 + side, 2.3 + side) as figure:
        axes = figure.subplots()
        axes.grid(visible=False)
        axes.pcolormesh(
            places, places, np.ma.masked_invalid(scores), cmap=_SCORES.with_extremes(bad=RULE),
            vmin=0, vmax=1,
        )  # fmt: skip
        axes.set_aspect("equal")
        axes.invert_yaxis()
        for i, j in zip(*np.nonzero(np.isfinite(scores)), strict=True):
            share = scores[i, j]
            axes.text(
                j, i, _percent(share), ha="center", va="center", fontsize=9,
                # on their cells, light or dark around them
                color="black" if 0.14 <= share <= 0.86 else "white",
            )  # fmt: skip
        axes.set_xticks(places, names, rotation=50, ha="left", rotation_mode="anchor")
        axes.set_yticks(places, names)
        axes.xaxis.tick_top()
        said = "score of the row against the column in percent, draws as halves"
        axes.set_xlabel(said, labelpad=8)
        return _finished(figure, f"{title(table)}: scores")


def _colours(table: Crosstable) -> list[str]:
    """One colour for each kind of agent, the same in every table; the last for other labels."""
    kinds = {kind: _COLOURS[i % len(_COLOURS)] for i, kind in enumerate(AGENTS)}
    return [kinds.get(label.partition(":")[0], _COLOURS[-1]) for label in table.entrants]


def _name(label: str) -> str:
    """A label in lines that are short enough for a picture, broken after commas; what is too long
    for a line lacks its middle. Without formulas.
    """
    lines = [""]
    for part in re.findall(r"[^,]*,?", label):
        if lines[-1] and len(lines[-1] + part) > _MAX_NAME:
            lines.append("")
        lines[-1] += part
    half = _MAX_NAME // 2
    short = (x if len(x) <= _MAX_NAME else f"{x[: half - 1]}…{x[-half:]}" for x in lines)
    return "\n".join(short).replace("$", r"\$")


def _percent(share: float) -> str:
    """A share in whole percent; 100 and 0 are kept for what is exactly that."""
    if 0 < share < 0.01:
        return "<1"
    return ">99" if 0.99 < share < 1 else f"{100 * share:.0f}"


def _finished(figure: Figure, text: str) -> bytes:
    """The figure as SVG, under this title."""
    figure.suptitle(text, x=0.015, ha="left", fontsize=12.5)
    return to_svg(figure)
