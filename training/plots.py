"""The learning curve of a run as a picture."""

from __future__ import annotations

import io
from collections.abc import Sequence

import matplotlib as mpl

mpl.use("Agg")  # no display is needed

from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from training.evaluation import PanelResult, Score

# Okabe and Ito's colours, told apart with every kind of colour vision.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")


def learning_curve(
    title: str, results: Sequence[PanelResult], best: PanelResult, final: dict[str, Score]
) -> bytes:
    """A PNG: scores over steps with their 95 % intervals, and the final scores of the best."""
    figure, (axes, side) = plt.subplots(
        1, 2, figsize=(9, 4.5), width_ratios=(5, 1), sharey=True, layout="constrained", dpi=150
    )
    steps = [r.steps / 1e6 for r in results]
    for colour, name in zip(_COLOURS * len(final), final, strict=False):
        scores = [r.scores[name] for r in results]
        low, high = [s.low for s in scores], [s.high for s in scores]
        axes.fill_between(steps, low, high, color=colour, alpha=0.2, linewidth=0)
        axes.plot(steps, [s.score for s in scores], "o-", ms=3, color=colour, label=name)
    axes.axvline(best.steps / 1e6, color="0.45", linestyle="--", linewidth=1, label="best policy")
    axes.set(xlabel="steps (plies in all games), millions", ylabel="score (win 1, draw ½)")
    axes.set_xlim(left=0)
    axes.legend(loc="lower right", title="score against", framealpha=1, edgecolor="none")
    _minutes_above(axes, results)
    _draw_final(side, final)
    bottom = min(s.low for r in results for s in r.scores.values())
    axes.set_ylim(min(0.4, bottom - 0.02), 1.01)
    for each in (axes, side):
        each.grid(axis="y", alpha=0.3)
        each.spines[["top", "right"]].set_visible(False)
        each.yaxis.set_major_formatter(PercentFormatter(1.0))
    figure.suptitle(title, fontsize=11)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    plt.close(figure)
    return buffer.getvalue()


def _minutes_above(axes: Axes, results: Sequence[PanelResult]) -> None:
    """A second scale above: the minutes into the training at every few evaluations."""
    if results[-1].steps == 0:
        return
    above = axes.twiny()
    above.spines[["right"]].set_visible(False)
    every = max(1, len(results) // 6)
    shown = results[::every]
    digits = 1 if results[-1].minutes >= 1 else 2
    above.set_xlim(axes.get_xlim())
    above.set_xticks([r.steps / 1e6 for r in shown], [f"{r.minutes:.{digits}f}" for r in shown])
    above.set_xlabel("minutes")


def _draw_final(side: Axes, final: dict[str, Score]) -> None:
    for x, (colour, s) in enumerate(zip(_COLOURS * len(final), final.values(), strict=False)):
        error = [[s.score - s.low], [s.high - s.score]]
        side.errorbar(x, s.score, yerr=error, fmt="o", color=colour, capsize=4)
        side.annotate(
            f"{100 * s.score:.1f}", (x, s.low), (0, -6), textcoords="offset points", ha="center",
            va="top", fontsize=8, color=colour,
        )  # fmt: skip
    side.set_xlim(-0.6, len(final) - 0.4)
    side.set_xticks(range(len(final)), list(final), rotation=30)
    side.set_title("best policy,\nnew openings", fontsize=9)
