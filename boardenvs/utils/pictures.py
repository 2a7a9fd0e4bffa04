"""Drawings of matplotlib as SVG: readable in light and in dark, wherever they are shown."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK, FAINT, RULE, BLUE = "#1f2933", "#5f6b78", "#d5dbe1", "#0072b2"
_NAMES = {INK: "--ink", FAINT: "--faint", RULE: "--rule", BLUE: "--blue"}
_DARK = {INK: "#e8ebee", FAINT: "#a3adb8", RULE: "#454d55", BLUE: "#3d9fe0"}

# For matplotlib's rc_context. An inch is 96 pixels of a page, a point 4/3: 9 points are 12 pixels.
STYLE: dict[Any, Any] = {
    **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor"), INK),
    **dict.fromkeys(("xtick.color", "ytick.color"), INK),
    "axes.facecolor": "none",
    "legend.facecolor": "none",
    "legend.edgecolor": "none",
    "legend.fontsize": 9,
}


def to_svg(figure: Figure) -> bytes:
    """The figure without a ground, its INK, FAINT, RULE and BLUE such that they stand out from a
    light and from a dark one. The same figure gives the same bytes.
    """
    import matplotlib

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
