"""The value of a game over its plies, drawn by matplotlib."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

from boardenvs.game.rules import MAX_VALUE
from boardenvs.games.notation import MoveNotation
from boardenvs.play.review import Review, ReviewedPly
from boardenvs.report.figures import BLUE, INK, RULE, drawing, to_png, to_svg
from boardenvs.search.analysis import Unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMATS = {"png": to_png, "svg": to_svg}

_LOSS = "#D55E00"  # after Okabe and Ito
_MARKED = 3  # of each unit, the largest losses
_UNITS: dict[Unit, str] = {
    "score": "expected result",
    "margin": "points ahead",
    "heuristic": "heuristic",
}


def draw_graph(review: Review, file_format: str, notation: MoveNotation | None = None) -> bytes:
    """A PNG or SVG: the value before each ply, for the first role, with the largest losses marked.

    Values of different units have axes of their own, one below the other. ImportError where
    matplotlib is missing; ValueError where the agent has no values.
    """
    notation = notation or MoveNotation(review.record.game)
    plies = [ply for ply in review.plies if ply.before is not None]
    units = list(dict.fromkeys(ply.analysis.unit for ply in plies))
    if not units:
        raise ValueError("there is nothing to draw: this analyst has no values, only choices")
    with drawing(9.0, 1.0 + 2.2 * len(units)) as figure:
        all_axes = figure.subplots(len(units), sharex=True, squeeze=False)[:, 0]
        for axes, unit in zip(all_axes, units, strict=True):
            of_unit = [ply for ply in plies if ply.analysis.unit == unit]
            edge = _edge(of_unit) if unit == "heuristic" else math.inf
            _draw_values(axes, of_unit, edge)
            axes.set_ylabel(f"{_UNITS[unit]}\nfor {notation.sides[0]}")
            if unit == "score":
                axes.set_ylim(-1.2, 1.2)
            for ply in review.largest_losses(_MARKED, unit=unit):
                name = notation.write(ply.action, ply.analysis.position)
                _mark(axes, ply, f"{ply.number}. {name}", edge)
        all_axes[-1].set(xlabel="ply", xlim=(0, len(review.plies) + 1))
        return FORMATS[file_format](figure)


def _edge(plies: list[ReviewedPly]) -> float:
    """Where wins and losses that are proven are drawn: beyond all values of the heuristic."""
    values = [abs(value) for ply in plies for value in (ply.before, ply.after) if value is not None]
    return 1.25 * max((value for value in values if value < MAX_VALUE), default=1.0) or 1.0


def _draw_values(axes: Axes, plies: list[ReviewedPly], edge: float) -> None:
    """A line for each run of plies of this unit, with values beyond the edge on it."""
    for _, group in itertools.groupby(enumerate(plies), lambda pair: pair[1].number - pair[0]):
        run = [ply for _, ply in group]
        axes.plot(
            [ply.number for ply in run], [_for_first(ply, ply.before, edge) for ply in run],
            color=BLUE, linewidth=1.6, marker="o", markersize=2.5, zorder=3,
        )  # fmt: skip
    if any(abs(ply.before or 0.0) > edge for ply in plies):
        for end, text in ((edge, "won"), (-edge, "lost")):
            axes.axhline(end, color=RULE, linewidth=1.2, linestyle="--")
            axes.annotate(text, (0, end), (2, 2), fontsize=8, textcoords="offset points")
    axes.axhline(0, color=INK, linewidth=0.8)


def _mark(axes: Axes, ply: ReviewedPly, label: str, edge: float) -> None:
    """From the value before a move to the one after it."""
    before, after = (_for_first(ply, value, edge) for value in (ply.before, ply.after))
    axes.plot(
        [ply.number, ply.number], [before, after], color=_LOSS, linewidth=2.2, zorder=4,
        solid_capstyle="round",
    )  # fmt: skip
    axes.annotate(
        label, (ply.number, after), color=_LOSS, fontsize=8, ha="center",
        va="top" if after < before else "bottom", textcoords="offset points",
        xytext=(0, -4 if after < before else 4), zorder=5,
    )  # fmt: skip


def _for_first(ply: ReviewedPly, value: float | None, edge: float) -> float:
    """A value to the side that played the ply, as one to the first role, up to the edge."""
    value = min(max(value or 0.0, -edge), edge)
    return value if ply.role == 0 else -value
