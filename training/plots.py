"""The pictures of a run."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence

import matplotlib as mpl
import numpy as np

mpl.use("Agg")  # no display is needed

from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter
from matplotlib.transforms import ScaledTranslation

from training.evaluation import Score, SuiteResult

# Okabe and Ito's colours, told apart with every kind of colour vision.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_POLICY, _OTHERS = "#0072B2", "0.45"


def learning_curve(
    title: str,
    results: Sequence[SuiteResult],
    best: SuiteResult,
    raw: Mapping[str, Score],
    shielded: Mapping[str, Score],
) -> bytes:
    """A PNG: scores on the evaluation suite over steps with their 95 % intervals, and those of the
    best policy against the report's opponents, raw and shielded.
    """
    figure, (axes, side) = plt.subplots(
        1, 2, figsize=(10, 5), width_ratios=(3, 2), sharey=True, layout="constrained", dpi=150
    )
    scale, unit = _unit(results[-1].steps)
    steps = [r.steps / scale for r in results]
    for colour, name in zip(_COLOURS * len(best.scores), best.scores, strict=False):
        scores = [r.scores[name] for r in results]
        low, high = [s.low for s in scores], [s.high for s in scores]
        axes.fill_between(steps, low, high, color=colour, alpha=0.2, linewidth=0)
        axes.plot(steps, [s.score for s in scores], "o-", ms=3, color=colour, label=name)
    exams = [r.exam for r in results if r.exam is not None]
    if len(exams) == len(results):
        axes.plot(steps, exams, "s:", ms=3, color="black", label="exam, moves that keep the value")
    axes.axvline(best.steps / scale, color="0.45", linestyle="--", linewidth=1, label="best policy")
    axes.set(xlabel=f"steps (actions of the learner), {unit}", ylabel="score (win 1, draw ½)")
    axes.set_xlim(left=0)
    # Under the axes, where no data can be, and below their own label.
    below = axes.transAxes + ScaledTranslation(0, -0.6, figure.dpi_scale_trans)
    axes.legend(
        title="evaluation suite", ncols=2, loc="upper left", bbox_to_anchor=(0, 0),
        bbox_transform=below, borderaxespad=0, alignment="left", edgecolor="none", fontsize=9,
    )  # fmt: skip
    _minutes_above(axes, results, scale)
    _draw_report(side, raw, shielded)
    shown = [s for r in results for s in r.scores.values()]
    bottom = min([s.low for s in [*shown, *raw.values(), *shielded.values()]] + exams)
    axes.set_ylim(min(0.4, bottom - 0.02), 1.02)
    for each in (axes, side):
        each.grid(axis="y", alpha=0.3)
        each.spines[["top", "right"]].set_visible(False)
        each.yaxis.set_major_formatter(PercentFormatter(1.0))
    return _png(figure, title)


def _unit(steps: float) -> tuple[float, str]:
    """What to count so many steps in, and its name."""
    return (1e6, "millions") if steps >= 1e6 else (1e3, "thousands")


def _minutes_above(axes: Axes, results: Sequence[SuiteResult], scale: float) -> None:
    """A second scale above: the minutes into the training at every few evaluations."""
    if results[-1].steps == 0:
        return
    above = axes.twiny()
    above.spines[["right"]].set_visible(False)
    shown = _spread(results)
    digits = 1 if results[-1].minutes >= 1 else 2
    above.set_xlim(axes.get_xlim())
    above.set_xticks([r.steps / scale for r in shown], [f"{r.minutes:.{digits}f}" for r in shown])
    above.set_xlabel("minutes")


def _spread(results: Sequence[SuiteResult]) -> list[SuiteResult]:
    """Some of them, at steps so far from each other that their minutes have room side by side."""
    apart, shown = results[-1].steps / 10, [results[0]]
    for result in results[1:]:
        if result.steps - shown[-1].steps >= apart:
            shown.append(result)
    return shown


def _draw_report(side: Axes, raw: Mapping[str, Score], shielded: Mapping[str, Score]) -> None:
    for shift, label, fill, scores in (
        (-0.12, "as it is", "black", raw),
        (0.12, "shielded", "white", shielded),
    ):
        places = [i + shift for i in range(len(scores))]
        middle = [s.score for s in scores.values()]
        below = [s.score - s.low for s in scores.values()]
        above = [s.high - s.score for s in scores.values()]
        side.errorbar(
            places, middle, yerr=[below, above], fmt="o", color="black", mfc=fill, capsize=3,
            label=label,
        )  # fmt: skip
    side.set_xlim(-0.6, len(raw) - 0.4)
    side.set_xticks(range(len(raw)), list(raw), rotation=35, ha="right")
    side.legend(
        title="best policy against the report's opponents", title_fontsize=9, fontsize=9, ncols=2,
        loc="lower center", bbox_to_anchor=(0.5, 1), edgecolor="none",
    )  # fmt: skip


def rating_scale(
    title: str,
    ratings: Mapping[str, tuple[float, float | None, float | None]],
    marked: Sequence[str],
) -> bytes:
    """A PNG: ratings (rating, low, high), the strongest first, with their intervals; an arrow
    where nothing bounds one.
    """
    figure, axes = plt.subplots(
        figsize=(7, 1.4 + 0.36 * len(ratings)), layout="constrained", dpi=150
    )
    names = list(ratings)[::-1]
    for y, name in enumerate(names):
        rating, low, high = ratings[name]
        colour = _POLICY if name in marked else _OTHERS
        ends = [
            rating - (rating if low is None else low),
            (rating if high is None else high) - rating,
        ]
        axes.errorbar(rating, y, xerr=[[max(0, e)] for e in ends], fmt="o", color=colour, capsize=3)
        for end, arrow, shift in (
            (low, "\N{LEFTWARDS ARROW}", -12),
            (high, "\N{RIGHTWARDS ARROW}", 12),
        ):
            if end is None:  # nothing bounds it there
                axes.annotate(
                    arrow, (rating, y), (shift, 0), textcoords="offset points", ha="center",
                    va="center", color=colour,
                )  # fmt: skip
        axes.annotate(
            f"{rating:.0f}", (rating, y), (0, 6), textcoords="offset points", ha="center",
            fontsize=8, color=colour,
        )  # fmt: skip
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(-0.6, len(names) - 0.3)
    axes.set_xlabel("rating in Elo points, random play is 0")
    axes.grid(axis="x", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    return _png(figure, title)


_SMOOTHED = 0.04  # of all updates: how many go into a mean

# What the picture of a training shows, one field each: its heading and the metrics in it. Not every
# way of training has all of them.
_FIELDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("entropy, nats", ("train/entropy",)),
    ("explained variance", ("train/explained_variance",)),
    ("value loss", ("train/value_loss",)),
    ("approximate KL", ("train/approx_kl",)),
    ("clip fraction", ("train/clip_fraction",)),
    ("plies a game", ("games/plies",)),
    ("games that end in a wipe-out", ("games/wiped_out",)),
    ("steps a second", ("speed/steps_per_second",)),
)


def metrics_over_steps(title: str, metrics: Sequence[Mapping[str, float]]) -> bytes:
    """A PNG: what the training logged, over steps; the scores against its opponents last."""
    scores = tuple(
        name for name in metrics[0]
        if name.startswith("games/") and name not in ("games/plies", "games/wiped_out")
    )  # fmt: skip
    fields = [field for field in _FIELDS if field[1][0] in metrics[0]]
    if scores:
        fields.append(("score against", scores))
    rows = (len(fields) + 2) // 3
    figure, grid = plt.subplots(
        rows, 3, figsize=(10, 2.3 * rows), sharex=True, layout="constrained", dpi=150, squeeze=False
    )
    scale, unit = _unit(metrics[-1]["steps"])
    steps = [f["steps"] / scale for f in metrics]
    width = round(len(metrics) * _SMOOTHED) | 1  # odd: as many before as after
    for axes, (heading, names) in zip(grid.flat, fields, strict=False):
        for colour, name in zip(_COLOURS * len(names), names, strict=False):
            values = [f[name] for f in metrics]
            axes.plot(steps, values, color=colour, lw=0.6, alpha=0.4)
            axes.plot(
                steps, _smoothed(values, width), color=colour, lw=1.8,
                label=name.removeprefix("games/"),
            )  # fmt: skip
        axes.set_title(heading, fontsize=9)
        if names == scores:
            axes.set(ylim=(-0.05, 1.05), yticks=np.arange(6) / 5)
            figure.legend(
                *axes.get_legend_handles_labels(), title="score against", fontsize=8, ncols=3,
                loc="outside lower center", edgecolor="none",
            )  # fmt: skip
        else:
            axes.set_ylim(*_usual(values))
        axes.grid(alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=8)
    for axes in grid.flat[len(fields) :]:
        axes.set_visible(False)
    for axes in grid.flat[max(0, len(fields) - 3) : len(fields)]:  # the last of each column
        axes.tick_params(labelbottom=True)
        axes.set_xlabel(f"steps, {unit}", fontsize=8)
    means = f"\nthick: means over {width} updates, thin: each update" if width > 1 else ""
    return _png(figure, f"{title}{means}")


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
    padded = np.array(values, float)
    known = np.isfinite(padded)
    box = np.ones(width)
    sums = np.convolve(np.where(known, padded, 0.0), box, "full")
    counts = np.convolve(known, box, "full")
    begin = (width - 1) // 2
    inner = slice(begin, begin + len(padded))
    with np.errstate(invalid="ignore"):
        means: list[float] = (sums[inner] / counts[inner]).tolist()
    return means


def _png(figure: Figure, title: str) -> bytes:
    figure.suptitle(title, fontsize=11)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    plt.close(figure)
    return buffer.getvalue()
