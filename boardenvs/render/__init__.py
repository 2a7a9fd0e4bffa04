"""Pictures of positions: text, SVG and pixels, all after one description of what is where.

    print(render.to_ansi(game, position))

`view` says what there is to see, `geometry` where it is, `theme` how it looks; `ansi`, `svg` and
`raster` draw it. pygame is imported with the first picture in pixels, not before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from boardenvs.game.contract import Game
from boardenvs.game.shapes import Scene
from boardenvs.game.state import Position
from boardenvs.render.ansi import write_ansi
from boardenvs.render.geometry import scene, sheet
from boardenvs.render.raster import draw_rgb
from boardenvs.render.svg import write_animation, write_svg
from boardenvs.render.view import view
from boardenvs.render.window import Window


def to_ansi(
    game: Game,
    position: Position,
    last_action: int | None = None,
    *,
    before: Position | None = None,
    legal: bool = False,
) -> str:
    """The board as text with ANSI colours, readable without them too.

    `last_action` is marked; where its target depends on the position `before` it, the target is
    marked only if that is given. `legal` shows where the side to move can play to.
    """
    return write_ansi(view(game, position, last_action, before=before, legal=legal))


def to_svg(
    game: Game,
    position: Position,
    last_action: int | None = None,
    *,
    before: Position | None = None,
    legal: bool = False,
    caption: bool = True,
    unit: int = 64,
) -> str:
    """The board as a standalone SVG document; a square is `unit` pixels. See `to_ansi`."""
    seen = view(game, position, last_action, before=before, legal=legal)
    return write_svg(scene(seen, caption=caption), unit)


def to_rgb(
    game: Game,
    position: Position,
    last_action: int | None = None,
    *,
    before: Position | None = None,
    legal: bool = False,
    caption: bool = True,
    unit: int = 64,
) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """The board as pixels, (H, W, 3) uint8; a square is `unit` pixels. See `to_ansi`.

    Needs pygame: ImportError where it is missing.
    """
    seen = view(game, position, last_action, before=before, legal=legal)
    return draw_rgb(scene(seen, caption=caption), unit)


def to_svg_sheet(
    game: Game,
    positions: Sequence[Position],
    actions: Sequence[int],
    *,
    columns: int = 8,
    unit: int = 20,
) -> str:
    """Every position of a game on one sheet, as SVG; `actions` are those between them, N of N + 1.

    A board is labelled with the action that led to it.
    """
    labels = ["start"] + [
        f"{ply}. {game.action_name(action, before)}"
        for ply, (action, before) in enumerate(zip(actions, positions, strict=False), start=1)
    ]
    pictures = _pictures(game, positions, actions, caption=False)
    return write_svg(sheet(pictures, labels, columns), unit)


def to_svg_animation(
    game: Game,
    positions: Sequence[Position],
    actions: Sequence[int],
    *,
    unit: int = 40,
    seconds: float = 0.8,
) -> str:
    """A game that plays itself, again and again, as SVG; see `to_svg_sheet`.

    A position stays for so many seconds, the last one three times as long.
    """
    pictures = _pictures(game, positions, actions, caption=True)
    return write_animation([*pictures, *pictures[-1:] * 2], unit, seconds)


def _pictures(
    game: Game, positions: Sequence[Position], actions: Sequence[int], *, caption: bool
) -> list[Scene]:
    first = scene(view(game, positions[0]), caption=caption)
    return [first] + [
        scene(view(game, after, action, before=before), caption=caption)
        for before, action, after in zip(positions, actions, positions[1:], strict=False)
    ]


__all__ = ["Window", "to_ansi", "to_rgb", "to_svg", "to_svg_animation", "to_svg_sheet"]
