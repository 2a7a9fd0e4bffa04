"""The style of pictures: drawn by matplotlib, readable on a light and on a dark page."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from boardenvs.utils.imports import extra

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, FAINT, RULE, BLUE = "#1f2933", "#5f6b78", "#d5dbe1", "#0072b2"
# After Okabe and Ito: distinguishable with every kind of colour vision.
PALETTE = (BLUE, "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")

_NAMES = {INK: "--ink", FAINT: "--faint", RULE: "--rule", BLUE: "--blue"}
_DARK = {INK: "#e8ebee", FAINT: "#a3adb8", RULE: "#454d55", BLUE: "#3d9fe0"}

# For matplotlib's rc_context: faint lines instead of frames and ticks. An inch is 96 pixels of a
# page, so 9 points are 12 pixels.
_STYLE: dict[Any, Any] = {
    **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor"), INK),
    **dict.fromkeys(("xtick.color", "ytick.color"), INK),
    "axes.facecolor": "none",
    "legend.facecolor": "none",
    "legend.edgecolor": "none",
    "legend.fontsize": 9,
    **dict.fromkeys((f"axes.spines.{side}" for side in ("left", "right", "top", "bottom")), False),
    **dict.fromkeys((f"{axis}tick.{kind}.size" for axis in "xy" for kind in ("major", "minor")), 0),
    "axes.axisbelow": True,
    "axes.grid": True,
    "figure.constrained_layout.use": True,
    "grid.color": RULE,
}


@contextmanager
def drawing(width: float, height: float) -> Iterator[Figure]:
    """A figure, sizes in inches, and within the block the style for drawing on it.

    ImportError without matplotlib.
    """
    with extra("arena"):
        import matplotlib
        from matplotlib.figure import Figure
    with matplotlib.rc_context(_STYLE):
        yield Figure(figsize=(width, height))


def to_png(figure: Figure) -> bytes:
    """The figure on white; the same figure gives the same bytes."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=150, metadata={"Software": None})
    return buffer.getvalue()


def to_svg(figure: Figure, title: str = "") -> bytes:
    """The figure as SVG on a transparent ground, with a title above it.

    INK, FAINT, RULE and BLUE change with the page's colour scheme. The same figure gives the same
    bytes.
    """
    import matplotlib

    if title:
        figure.suptitle(escaped(title), x=0.015, ha="left", fontsize=12)
    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "boardenvs"}):
        figure.savefig(buffer, format="svg", facecolor="none", metadata={"Date": None})
    text = buffer.getvalue()
    for colour, name in _NAMES.items():
        text = text.replace(colour, f"var({name})")
    light, dark = (
        "".join(f"{name}: {colours[colour]};" for colour, name in _NAMES.items())
        for colours in ({c: c for c in _NAMES}, _DARK)
    )
    style = f"svg {{{light}}} @media (prefers-color-scheme: dark) {{ svg {{{dark}}} }}"
    return text.replace("<defs>", f"<style>{style}</style><defs>", 1).encode()


def escaped(text: str) -> str:
    """The text for matplotlib, which would take what stands between dollar signs for a formula."""
    return text.replace("$", r"\$")


class IntervalRow(NamedTuple):
    """A value with its interval; an open end is -inf or inf."""

    name: str
    value: float
    low: float
    high: float
    texts: tuple[str, str]  # the value and the interval, shown at the right edge
    colour: str = BLUE


def draw_intervals(
    title: str,
    rows: Sequence[IntervalRow],
    label: str,
) -> bytes:
    """An SVG: a bar for each value, the first on top, with an arrow at an open end."""
    width = 9.0
    values = np.array([row[1:4] for row in rows])
    known = values[np.isfinite(values)]
    left, right = min(float(known.min()), 0.0), max(float(known.max()), 0.0)
    reach = 0.06 * ((right - left) or 1.0)
    with drawing(width, 1.2 + 0.34 * len(rows)) as figure:
        figure.set_layout_engine("constrained", rect=(0, 0, 1 - 1.9 / width, 1))
        axes = figure.subplots()
        for place, row in enumerate(rows):
            axes.barh(place, row.value, height=0.66, color=row.colour, alpha=0.85, zorder=2)
            _draw_interval(axes, row, place, reach)
            _draw_texts(axes, row.texts, place)
        axes.axvline(0, color=INK, linewidth=1, zorder=3)
        limits = left - 1.5 * reach * (left < 0), right + 0.5 * reach
        axes.set(xlim=limits, ylim=(len(rows) - 0.4, -0.6), xlabel=escaped(label))
        axes.set_yticks(range(len(rows)), [escaped(row.name) for row in rows])
        axes.grid(visible=False, axis="y")
        return to_svg(figure, title)


def _draw_interval(axes: Axes, row: IntervalRow, place: int, reach: float) -> None:
    """A line from end to end."""
    if row.low == row.high:
        return
    for end, beyond, arrow in (
        (row.low, row.value - reach, "<"),
        (row.high, row.value + reach, ">"),
    ):
        bounded = np.isfinite(end)
        axes.plot(
            (row.value, end if bounded else beyond), (place, place), color=INK, linewidth=1.3,
            marker="|" if bounded else arrow, markevery=[1], markersize=5, zorder=4,
        )  # fmt: skip


def _draw_texts(axes: Axes, texts: tuple[str, str], place: int) -> None:
    """The value and the interval at the figure's right edge."""
    from matplotlib.transforms import blended_transform_factory

    figure = axes.figure
    across = blended_transform_factory(figure.transFigure, axes.transData)
    width = figure.get_figwidth()  # type: ignore[union-attr]  # no subfigures here
    for text, inches, look in (
        (texts[0], 1.3, {"fontweight": "bold"}),
        (texts[1], 0.15, {"color": FAINT}),
    ):
        axes.text(
            1 - inches / width, place, text, ha="right", va="center", transform=across,
            fontsize=9, in_layout=False, **look,  # type: ignore[arg-type]
        )  # fmt: skip
