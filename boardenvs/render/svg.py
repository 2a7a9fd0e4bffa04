"""A scene as a standalone SVG document."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from xml.sax.saxutils import escape, quoteattr

from boardenvs.game.look import (
    GLOW_AT,
    Circle,
    Drawing,
    Ink,
    Placed,
    Polygon,
    Rect,
    Scene,
    Shape,
    Text,
)

FONT = "Helvetica, Arial, sans-serif"


def write_svg(scene: Scene, unit: int) -> str:
    """The document; a square is `unit` pixels wide where nothing else sets the size."""
    return _document(scene, _used(scene), map(_use, scene.placed), unit)


def write_animation(scenes: Sequence[Scene], unit: int, seconds: float) -> str:
    """A document that shows the scenes, all of one size, one after the other, again and again.

    Each stays for so many seconds. What cannot move shows the first.
    """
    count, total = len(scenes), _n(len(scenes) * seconds)
    lines = []
    for i, scene in enumerate(scenes):
        changes = {0.0: "hidden", i / count: "visible", (i + 1) / count: "hidden"}
        changes.pop(1.0, None)  # nothing changes at the end of the animation
        lines += [
            f'<g visibility="{"hidden" if i else "visible"}">',
            f'<animate attributeName="visibility" calcMode="discrete" dur="{total}s" '
            f'repeatCount="indefinite" keyTimes="{";".join(map(_n, changes))}" '
            f'values="{";".join(changes.values())}"/>',
            *map(_use, scene.placed),
            "</g>",
        ]
    return _document(scenes[0], [d for scene in scenes for d in _used(scene)], lines, unit)


def write_drawing(drawing: Drawing) -> str:
    """A document of one drawing, which fills whatever space it is shown in."""
    glows = dict.fromkeys(
        (shape.ink.colour, shape.glow)
        for shape in drawing.shapes
        if isinstance(shape, Circle) and shape.glow is not None
    )
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" '
        f'viewBox="0 0 {_n(drawing.width)} {_n(drawing.height)}" '
        f'font-family="{FONT}" font-weight="bold" text-anchor="middle">',
        *(_gradient(*glow) for glow in glows),
        *map(_shape, drawing.shapes),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def write_layers(scene: Scene, drawings: Sequence[Drawing], layers: Sequence[str]) -> str:
    """The scene with empty groups of these classes on top, for a script to fill with `<use>`s of
    the drawings by their `drawing_id`.
    """
    body = [*map(_use, scene.placed), *(f'<g class="{layer}"></g>' for layer in layers)]
    return _document(scene, [*_used(scene), *drawings], body, 64)


def drawing_id(drawing: Drawing) -> str:
    """The id of a drawing in the definitions of any document."""
    return _id(drawing)


def _document(scene: Scene, used: Iterable[Drawing], body: Iterable[str], unit: int) -> str:
    """A document of the scene's size and title, with the drawings used in its definitions."""
    width, height = scene.width, scene.height
    drawings = dict.fromkeys(used)
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
        *body,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _used(scene: Scene) -> list[Drawing]:
    return [p.drawing for p in scene.placed]


def _use(placed: Placed) -> str:
    return (
        f'<use class={quoteattr(placed.what)} href="#{_id(placed.drawing)}" '
        f'x="{placed.x:.6g}" y="{placed.y:.6g}"/>'
    )


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
