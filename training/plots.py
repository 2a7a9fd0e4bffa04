"""The pictures of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter
from matplotlib.transforms import ScaledTranslation

from boardenvs.report.figures import (
    BLUE,
    FAINT,
    INK,
    PALETTE,
    IntervalRow,
    draw_intervals,
    drawing,
    to_svg,
)
from training.evaluation import Score, SuiteResult


def learning_curve(
    title: str,
    results: Sequence[SuiteResult],
    best: SuiteResult,
    raw: Mapping[str, Score],
    shielded: Mapping[str, Score],
) -> bytes:
    """An SVG: scores on the evaluation suite over steps with their 95 % intervals, and those of the
    best policy against the report's opponents, raw and shielded.
    """
    with drawing(10, 5) as figure:
        axes, side = figure.subplots(1, 2, width_ratios=(3, 2), sharey=True)
        scale, unit = _unit(results[-1].steps)
        steps = [r.steps / scale for r in results]
        for colour, name in zip(PALETTE * len(best.scores), best.scores, strict=False):
            found = [r.scores[name] for r in results]
            low, scores, high = np.array([(s.low, s.score, s.high) for s in found]).T
            axes.fill_between(steps, low, high, color=colour, alpha=0.2, linewidth=0)
            axes.plot(steps, scores, "o-", ms=3, color=colour, label=name)
        exams = [r.exam for r in results if r.exam is not None]
        if len(exams) == len(results):
            axes.plot(steps, exams, "s:", ms=3, color=INK, label="exam, moves that keep the value")
        axes.axvline(best.steps / scale, color=FAINT, ls="--", lw=1, label="best policy")
        axes.set(xlabel=f"steps (actions of the learner), {unit}", ylabel="score (win 1, draw ½)")
        axes.set_xlim(left=0)
        # Under the axes, where no data can be, and below their own label.
        below = axes.transAxes + ScaledTranslation(0, -0.6, figure.dpi_scale_trans)
        axes.legend(
            title="evaluation suite", ncols=2, loc="upper left", bbox_to_anchor=(0, 0),
            bbox_transform=below, borderaxespad=0, alignment="left",
        )  # fmt: skip
        _minutes_above(axes, steps, [r.minutes for r in results])
        _draw_report(side, raw, shielded)
        lows = [
            s.low for found in (*(r.scores for r in results), raw, shielded) for s in found.values()
        ]
        axes.set_ylim(min(0.4, min(lows + exams) - 0.02), 1.02)
        axes.yaxis.set_major_formatter(PercentFormatter(1.0))
        return to_svg(figure, title)


def _unit(steps: float) -> tuple[float, str]:
    """What to count so many steps in, and its name."""
    return (1e6, "millions") if steps >= 1e6 else (1e3, "thousands")


def _minutes_above(axes: Axes, steps: Sequence[float], minutes: Sequence[float]) -> None:
    """A second scale above: the minutes into the training."""
    if not steps[-1] * minutes[-1]:
        return
    places, times = ([*x, 2 * x[-1]] for x in (steps, minutes))  # then on as fast as before
    there, back = partial(np.interp, xp=places, fp=times), partial(np.interp, xp=times, fp=places)
    above = axes.secondary_xaxis("top", functions=(there, back))
    above.set_xlabel("minutes")
    above.spines["top"].set_visible(False)


def _draw_report(side: Axes, raw: Mapping[str, Score], shielded: Mapping[str, Score]) -> None:
    for shift, label, fill, shown in (
        (-0.12, "as it is", INK, raw),
        (0.12, "shielded", "none", shielded),
    ):
        low, scores, high = np.array([(s.low, s.score, s.high) for s in shown.values()]).T
        side.errorbar(
            np.arange(len(raw)) + shift, scores, yerr=(scores - low, high - scores), fmt="o",
            capsize=3, color=INK, mfc=fill, label=label,
        )  # fmt: skip
    side.grid(visible=False, axis="x")
    side.set_xlim(-0.6, len(raw) - 0.4)
    side.set_xticks(range(len(raw)), list(raw), rotation=35, ha="right")
    side.legend(
        title="best policy against the report's opponents", title_fontsize=9, ncols=2,
        loc="lower center", bbox_to_anchor=(0.5, 1),
    )  # fmt: skip


def rating_scale(
    title: str,
    ratings: Mapping[str, tuple[float, float | None, float | None]],
    marked: Sequence[str],
) -> bytes:
    """An SVG: ratings (rating, low, high), the strongest first, with their intervals; an arrow
    at an open end.
    """
    rows = []
    for name, (rating, low, high) in ratings.items():
        ends = ("?" if end is None else f"{end:.0f}" for end in (low, high))
        rows.append(
            IntervalRow(
                name,
                rating,
                -np.inf if low is None else low,
                np.inf if high is None else high,
                (f"{rating:.0f}", " to ".join(ends)),
                BLUE if name in marked else FAINT,
            )
        )
    label = "rating in Elo points, random play is 0, with 95 % intervals"
    return draw_intervals(title, rows, label)


_SMOOTHED = 0.04  # of all updates: how many go into a mean

# What the picture of a training shows, one field each: the metric and its heading. Not every way of
# training has all of them.
_FIELDS = {
    "train/entropy": "entropy, nats",
    "train/explained_variance": "explained variance",
    "train/value_loss": "value loss",
    "train/approx_kl": "approximate KL",
    "train/clip_fraction": "clip fraction",
    "games/plies": "plies a game",
    "games/wiped_out": "games that end in a wipe-out",
    "speed/steps_per_second": "steps a second",
}


def metrics_over_steps(title: str, metrics: Sequence[Mapping[str, float]]) -> bytes:
    """An SVG: what the training logged, over steps; the scores against its opponents last."""
    fields = {heading: [name] for name, heading in _FIELDS.items() if name in metrics[0]}
    scores = [n for n in metrics[0] if n.startswith("games/") and n not in _FIELDS]
    if scores:
        fields["score against"] = scores
    rows = (len(fields) + 2) // 3
    with drawing(10, 2.3 * rows) as figure:
        grid = figure.subplots(rows, 3, sharex=True, squeeze=False)
        scale, unit = _unit(metrics[-1]["steps"])
        steps = [f["steps"] / scale for f in metrics]
        width = round(len(metrics) * _SMOOTHED) | 1  # odd: as many before as after
        for axes in grid.flat[len(fields) :]:
            axes.set_visible(False)
        shown = zip(grid.flat, fields.items(), strict=False)
        for place, (axes, (heading, names)) in enumerate(shown):
            for colour, name in zip(PALETTE * len(names), names, strict=False):
                values = [f[name] for f in metrics]
                smooth, label = _smoothed(values, width), name.removeprefix("games/")
                axes.plot(steps, values, color=colour, lw=0.6, alpha=0.4)
                axes.plot(steps, smooth, color=colour, lw=1.8, label=label)
            if names is scores:
                axes.set(ylim=(-0.05, 1.05), yticks=np.arange(6) / 5)
                figure.legend(
                    *axes.get_legend_handles_labels(), title=heading, fontsize=9, ncols=3,
                    loc="outside lower center",
                )  # fmt: skip
            else:
                axes.set_ylim(*_usual(values))
            axes.set_title(heading, fontsize=9)
            axes.tick_params(labelsize=9)
            if place >= len(fields) - 3:  # the last of each column
                axes.tick_params(labelbottom=True)
                axes.set_xlabel(f"steps, {unit}", fontsize=9)
        means = f"\nthick: means over {width} updates, thin: each update" if width > 1 else ""
        return to_svg(figure, f"{title}{means}")


def _usual(values: Sequence[float]) -> tuple[float, float]:
    """The range of all but one in a hundred at either end, so that the first updates, which are
    often far off, do not squeeze what comes after them.
    """
    known = [v for v in values if np.isfinite(v)] or [0.0]
    low, high = np.quantile(known, (0.01, 0.99))
    margin = 0.1 * ((high - low) or abs(high) or 1.0)
    return low - margin, high + margin


def _smoothed(values: Sequence[float], width: int) -> list[float]:
    """The means over so many values around each, fewer at the ends; nan counts as no value."""
    known, window = np.isfinite(values), np.ones(width)
    sums = np.convolve(np.where(known, values, 0.0), window, "same")
    with np.errstate(invalid="ignore"):
        smooth: list[float] = (sums / np.convolve(known, window, "same")).tolist()
    return smooth
