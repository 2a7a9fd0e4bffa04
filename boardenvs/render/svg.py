"""Pictures as SVG documents."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from html import escape
from itertools import chain

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
    """Return the document; squares are `unit` pixels wide by default."""
    return _document(scene, drawings_of(scene), map(_use, scene.placed), unit)


def write_animation(scenes: Sequence[Scene], unit: int, seconds: float) -> str:
    """Return a document that shows scenes of equal size one after the other, and repeats.

    seconds: for each scene. Programs without animation show the first one.
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
    return _document(scenes[0], chain(*map(drawings_of, scenes)), lines, unit)


def write_drawing(drawing: Drawing) -> str:
    """Return a document of one drawing, which fills the space that it is given."""
    lines = [*_gradients([drawing]), *map(_shape, drawing.shapes)]
    return _svg(drawing.width, drawing.height, "", lines)


def write_layers(scene: Scene, drawings: Sequence[Drawing], layers: Sequence[str]) -> str:
    """Return the scene with empty groups of these classes on top, and definitions of the drawings:
    a script can fill the groups with `<use>` elements of their `id_of`.
    """
    body = [*map(_use, scene.placed), *(f'<g class="{layer}"></g>' for layer in layers)]
    return _document(scene, [*drawings_of(scene), *drawings], body, 64)


def id_of(key: object) -> str:
    """Return an id derived from the content, so that several documents can share a page."""
    return f"d{zlib.crc32(repr(key).encode()):08x}"


def drawings_of(scene: Scene) -> list[Drawing]:
    """Return the scene's drawings, from bottom to top."""
    return [placed.drawing for placed in scene.placed]


def _document(scene: Scene, used: Iterable[Drawing], body: Iterable[str], unit: int) -> str:
    """Return a document of the scene's size and title that defines the drawings used."""
    width, height, drawings = scene.width, scene.height, dict.fromkeys(used)
    lines = [
        f"<title>{escape(scene.title, quote=False)}</title>",
        "<defs>",
        *_gradients(drawings),
        *("\n".join([f'<g id="{id_of(d)}">', *map(_shape, d.shapes), "</g>"]) for d in drawings),
        "</defs>",
        *body,
    ]
    return _svg(width, height, f'width="{_n(width * unit)}" height="{_n(height * unit)}" ', lines)


def _svg(width: float, height: float, size: str, lines: Iterable[str]) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_n(width)} {_n(height)}" '
        f'{size}font-family="{FONT}" font-weight="bold" text-anchor="middle">'
    )
    return "\n".join([head, *lines, "</svg>\n"])


def _gradients(drawings: Iterable[Drawing]) -> list[str]:
    """Return the definitions of all glows in the drawings."""
    fx, fy = (0.5 + 0.5 * offset for offset in GLOW_AT)
    glows = dict.fromkeys(
        (shape.ink.colour, shape.glow)
        for drawing in drawings
        for shape in drawing.shapes
        if isinstance(shape, Circle) and shape.glow is not None
    )
    return [
        f'<radialGradient id="{id_of((colour, glow))}" fx="{_n(fx)}" fy="{_n(fy)}">'
        f'<stop stop-color="{glow}"/><stop offset="1" stop-color="{colour}"/></radialGradient>'
        for colour, glow in glows
    ]


def _use(placed: Placed) -> str:
    return (
        f'<use class="{escape(placed.what)}" href="#{id_of(placed.drawing)}" '
        f'x="{placed.x:.6g}" y="{placed.y:.6g}"/>'
    )


def _n(value: float) -> str:
    return f"{value:.4g}"


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
            fill = _fill(ink) if glow is None else f'fill="url(#{id_of((ink.colour, glow))})"'
            return f'<circle cx="{_n(x)}" cy="{_n(y)}" r="{_n(radius)}" {fill}/>'
        case Polygon(points, ink, edge):
            path = " ".join(f"{_n(x)},{_n(y)}" for x, y in points)
            stroke = f'stroke="{ink.colour}" stroke-width="{_n(2 * edge)}" stroke-linejoin="round"'
            return f'<polygon points="{path}" {_fill(ink)}{f" {stroke}" if edge else ""}/>'
        case Text(x, y, text, size, ink):
            # Capitals and digits are about 0.7 of the size high: centred without font metrics.
            return (
                f'<text x="{_n(x)}" y="{_n(y + 0.35 * size)}" font-size="{_n(size)}" '
                f"{_fill(ink)}>{escape(text, quote=False)}</text>"
            )
