"""The style of pictures: drawn by matplotlib, readable on a light and on a dark page."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from boardenvs.utils.imports import extra

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK, FAINT, RULE, BLUE = "#1f2933", "#5f6b78", "#d5dbe1", "#0072b2"
# After Okabe and Ito: distinguishable with every kind of colour vision.
PALETTE = (BLUE, "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")

# In the page's dark colour scheme.
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
    """Yield a figure, sizes in inches, and within the block the style for drawing on it.

    ImportError without matplotlib.
    """
    with extra("arena"):
        import matplotlib
        from matplotlib.figure import Figure
    with matplotlib.rc_context(_STYLE):
        yield Figure(figsize=(width, height))


def to_svg(figure: Figure, title: str = "") -> bytes:
    """Return the figure as SVG on a transparent ground, with a title above it.

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
    for colour in _DARK:
        text = text.replace(colour, f"var(--c{colour[1:]}, {colour})")
    dark = "".join(f"--c{colour[1:]}: {_DARK[colour]};" for colour in _DARK)
    style = f"@media (prefers-color-scheme: dark) {{ svg {{{dark}}} }}"
    return text.replace("<defs>", f"<style>{style}</style><defs>", 1).encode()


def escaped(text: str) -> str:
    """Return the text for matplotlib, which takes what is between dollar signs for a formula."""
    return text.replace("$", r"\$")
