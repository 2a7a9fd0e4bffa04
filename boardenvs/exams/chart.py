"""Draws the marks of an exam: the share of moves that keep the value, by kind."""

from __future__ import annotations

import io
from collections.abc import Sequence

from boardenvs.exams.marking import Marked

_INK, _RULE, _DOT = "#1f2933", "#d5dbe1", "#0072B2"  # after Okabe and Ito


def draw(agent: str, marked: Sequence[Marked]) -> bytes:
    """An SVG with a row for each kind of each game. ImportError where matplotlib is missing."""
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError('drawings need matplotlib: pip install "boardenvs[arena]"') from error
    matplotlib.rcParams["svg.hashsalt"] = "boardenvs"
    rows = [(f"{m.game}: {mark.kind}", mark) for m in marked for mark in m.marks]
    figure = Figure(figsize=(8.0, 1.0 + 0.28 * len(rows)), layout="constrained")
    axes = figure.subplots()
    for place, (_, mark) in enumerate(rows):
        axes.plot([mark.low, mark.high], [place, place], color=_DOT, linewidth=2)
        axes.plot([mark.kept], [place], "o", color=_DOT, markersize=5)
    axes.set_yticks(range(len(rows)), [name.replace("_", " ") for name, _ in rows], color=_INK)
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.set_xlabel("share of moves that keep the value, with 95 % intervals", color=_INK)
    axes.set_title(agent, color=_INK)
    axes.grid(axis="x", color=_RULE)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    buffer = io.BytesIO()
    # No date in it: the same marks give the same file.
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()
