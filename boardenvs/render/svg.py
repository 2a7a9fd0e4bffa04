"""A scene as a standalone SVG document."""

from __future__ import annotations

import zlib
from xml.sax.saxutils import escape, quoteattr

from boardenvs.render.shapes import GLOW_AT, Circle, Drawing, Ink, Polygon, Rect, Scene, Shape, Text

FONT = "Helvetica, Arial, sans-serif"


def write_svg(scene: Scene, unit: int) -> str:
    """The document; a square is `unit` pixels wide where nothing else sets the size."""
    width, height = scene.width, scene.height
    drawings = dict.fromkeys(placed.drawing for placed in scene.placed)
    glows = dict.fromkeys(
        (shape.ink.colour, shape.glow)
        for drawing in drawings
        for shape in drawing.shapes
        if isinstance(shape, Circle) and shape.glow is not None
    )
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_n(width)} {_n(height)}" '
        f'width="{_n(width * unit)}" height="{_n(height * unit)}" '
        f'font-family="{FONT}" font-weight="bold" text-anchor="middle">',
        f"<title>{escape(scene.title)}</title>",
        "<defs>",
        *(_gradient(*glow) for glow in glows),
        *(_group(drawing) for drawing in drawings),
        "</defs>",
        *(
            f'<use class={quoteattr(p.what)} href="#{_id(p.drawing)}" x="{_n(p.x)}" y="{_n(p.y)}"/>'
            for p in scene.placed
        ),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _id(key: object) -> str:
    """A name made of the content: several documents can stand in one page."""
    return f"d{zlib.crc32(repr(key).encode()):08x}"


def _n(value: float) -> str:
    return f"{value:.4g}"


def _gradient(colour: str, glow: str) -> str:
    fx, fy = (0.5 + 0.5 * offset for offset in GLOW_AT)
    return (
        f'<radialGradient id="{_id((colour, glow))}" fx="{_n(fx)}" fy="{_n(fy)}">'
        f'<stop stop-color="{glow}"/><stop offset="1" stop-color="{colour}"/></radialGradient>'
    )


def _group(drawing: Drawing) -> str:
    shapes = "\n".join(map(_shape, drawing.shapes))
    return f'<g id="{_id(drawing)}">\n{shapes}\n</g>'


def _fill(ink: Ink) -> str:
    opacity = "" if ink.opacity == 1 else f' fill-opacity="{_n(ink.opacity)}"'
    return f'fill="{ink.colour}"{opacity}'


def _shape(shape: Shape) -> str:
    match shape:
        case Rect(x, y, width, height, ink, radius):
            rounded = f' rx="{_n(radius)}"' if radius else ""
            return (
                f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="{_n(height)}"'
                f"{rounded} {_fill(ink)}/>"
            )
        case Circle(x, y, radius, ink, glow):
            fill = _fill(ink) if glow is None else f'fill="url(#{_id((ink.colour, glow))})"'
            return f'<circle cx="{_n(x)}" cy="{_n(y)}" r="{_n(radius)}" {fill}/>'
        case Polygon(points, ink):
            path = " ".join(f"{_n(x)},{_n(y)}" for x, y in points)
            return f'<polygon points="{path}" {_fill(ink)}/>'
        case Text(x, y, text, size, ink):
            # Capitals and digits are about 0.7 of the size high: centred without font metrics.
            return (
                f'<text x="{_n(x)}" y="{_n(y + 0.35 * size)}" font-size="{_n(size)}" '
                f"{_fill(ink)}>{escape(text)}</text>"
            )
