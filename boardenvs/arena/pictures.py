"""Pictures of a crosstable: ratings, and ratings over CPU time."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from boardenvs.agents import AGENTS
from boardenvs.arena.player import time_text
from boardenvs.arena.report import interval_text, rating_text, title
from boardenvs.arena.results import Crosstable
from boardenvs.game.state import FloatArray
from boardenvs.report.figures import FAINT, INK, PALETTE, drawing, escaped, to_svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Annotation

# One for each kind of agent, in the order of AGENTS.
_COLOURS = ("#999999", *PALETTE, "#4B3F8F", "#7F7F7F")
_MAX_NAME = 34


def ratings(table: Crosstable) -> bytes:
    """Return an SVG: a bar for each rating, the strongest on top, with its 95 % interval."""
    entrants, places = table.entrants, range(len(table.entrants))
    with drawing(9.0, 1.2 + 0.34 * len(entrants)) as figure:
        axes = figure.subplots()
        axes.barh(
            places, table.ratings.rating, 0.66, color=list(map(_colour, entrants)), alpha=0.85,
            xerr=_lengths(table), error_kw={"ecolor": INK, "capsize": 3}, zorder=2,
        )  # fmt: skip
        for i in places:
            text = f"  {rating_text(table, i)} ({interval_text(table, i)})"
            axes.text(1, i, text, transform=axes.get_yaxis_transform(), va="center", fontsize=9)
        axes.set_yticks(places, [escaped(_name(label)) for label in entrants])
        axes.set(ylim=(len(entrants) - 0.4, -0.6), xlabel=f"{_scale(table)}, with 95 % intervals")
        axes.grid(visible=False, axis="y")
        return to_svg(figure, f"{title(table)}: ratings")


def cost(table: Crosstable) -> bytes:
    """Return an SVG: ratings over CPU time per move, and a line along the players that no other
    player beats in both.
    """
    timed = sorted(
        (ms, i)
        for i, standing in enumerate(table.standings.values())
        if (ms := standing.stats.ms_per_move) and standing.plays
    )
    ratings, lengths = table.ratings, _lengths(table)
    best = [
        (ms, ratings.rating[i])
        for n, (ms, i) in enumerate(timed)
        if all(ratings.rating[j] < ratings.rating[i] for _, j in timed[:n])
    ]
    with drawing(9.0, 5.4) as figure:
        axes = figure.subplots()
        names = []
        for ms, i in timed:
            rating, colour = ratings.rating[i], _colour(table.entrants[i])
            axes.errorbar(
                ms, rating, lengths[:, [i]], color=colour, marker="o", linewidth=1.3, zorder=3
            )
            text = escaped(_name(table.entrants[i]))
            names.append(
                axes.annotate(
                    text, (ms, rating), (0, 0), "data", "offset points", fontsize=8, linespacing=1
                )
            )
        if best:
            axes.plot(*zip(*best, strict=True), color=FAINT, linewidth=1, linestyle="--", zorder=2)
        axes.set(
            xscale="log", xlabel="CPU time per move",
            ylabel=_scale(table),
        )  # fmt: skip
        axes.xaxis.set_major_formatter(lambda ms, _: time_text(ms))
        axes.xaxis.set_minor_formatter("")
        axes.margins(x=0.18)
        figure.draw_without_rendering()  # which lays it out
        _place(names, axes)
        return to_svg(
            figure, f"{title(table)}: rating over CPU time, with 95 % bootstrap intervals"
        )


def _place(names: Sequence[Annotation], axes: Axes) -> None:
    """Move each name beside its point, to where it hides no point, line or other name."""
    from matplotlib.transforms import Bbox

    paths = [line.get_path() for line in axes.lines]
    paths += [path for bars in axes.collections for path in bars.get_paths()]
    drawn = [axes.transData.transform(path.interpolated(30).vertices) for path in paths]
    taken = [Bbox([point - 3, point + 3]) for points in drawn for point in points]

    def put(name: Annotation, x: int, y: int) -> Bbox:
        name.xyann = x, y
        name.set(ha=("right", "center", "left")[np.sign(x) + 1], va="bottom" if y > 0 else "top")
        return name.get_window_extent()

    for name in names:
        hidden = {}
        for place in itertools.product((6, -6, 0), (2, -2, 9, -9)):
            box = put(name, *place)
            outside = box.x0 < axes.bbox.x0 or box.x1 > axes.bbox.x1
            hidden[place] = box.count_overlaps(taken) + len(taken) * outside
        taken.append(put(name, *min(hidden, key=lambda place: hidden[place])))


def _lengths(table: Crosstable) -> FloatArray:
    """Return the distances from ratings to the ends of intervals, (2, k); 0 without an end."""
    ratings = table.ratings
    lengths = np.abs(np.stack([ratings.low, ratings.high]) - ratings.rating)
    return np.where(np.isfinite(lengths), lengths, 0.0)


def _scale(table: Crosstable) -> str:
    of = "of the rating pool" if table.scale == "rating" else f"above {table.ratings.anchors[0]}"
    return escaped(f"Elo points {of}")


def _colour(label: str) -> str:
    """Return the colour of the label's kind of agent, the same in every table."""
    kinds = dict(zip(AGENTS, _COLOURS * len(AGENTS), strict=False))
    return kinds.get(label.partition(":")[0], _COLOURS[-1])


def _name(label: str) -> str:
    """Return the label, broken after commas into lines short enough for a picture; a longer line
    loses its middle.
    """
    lines = [""]
    for part in re.findall(r"[^,]*,?", label):
        if lines[-1] and len(lines[-1] + part) > _MAX_NAME:
            lines.append("")
        lines[-1] += part
    half = _MAX_NAME // 2
    return "\n".join(x if len(x) <= _MAX_NAME else f"{x[: half - 1]}…{x[-half:]}" for x in lines)
