"""Pictures of positions as text, SVG and pixels.

    print(render.to_ansi(game, position))

`view` decides on the contents, `geometry` on places and colours; `ansi`, `svg` and `raster` draw
it, and `page` has a board to step through games. pygame is imported with the first picture in
pixels.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Unpack

from boardenvs.game.game import Game
from boardenvs.game.position import Position
from boardenvs.render.ansi import write_ansi
from boardenvs.render.geometry import NOTEBOOK_UNIT, scene
from boardenvs.render.page import ShownGame, to_frame, to_page
from boardenvs.render.raster import Pixels, Window, draw_rgb, write_gif
from boardenvs.render.svg import write_animation, write_svg
from boardenvs.render.view import Shown, ShownInGame, view, views


def to_ansi(
    game: Game,
    position: Position,
    last_action: int | None = None,
    *,
    colour: bool | None = None,
    **shown: Unpack[Shown],
) -> str:
    """Return the board as text, in ANSI colours for a terminal, readable without them too.

    last_action: is marked, at its target only if `before`, the position before it, is given.
    legal: show the squares that can be played to. counts: show how many pieces both sides have.
    colour: None for colours if standard output is a terminal, unless the variable $NO_COLOR is set
    (https://no-color.org).
    """
    contents, own = view(game, position, last_action, **shown), game.text_of(position)
    if own is not None:
        return f"{own}\n{contents.caption}"
    if colour is None:
        colour = not os.environ.get("NO_COLOR") and sys.stdout is not None and sys.stdout.isatty()
    return write_ansi(contents, colour)


def to_svg(
    game: Game,
    position: Position,
    last_action: int | None = None,
    *,
    caption: bool = True,
    unit: int = 64,
    **shown: Unpack[Shown],
) -> str:
    """Return the board as an SVG document with squares of `unit` pixels. See `to_ansi`."""
    return write_svg(scene(view(game, position, last_action, **shown), caption=caption), unit)


def to_rgb(
    game: Game,
    position: Position,
    last_action: int | None = None,
    *,
    caption: bool = True,
    unit: int = 64,
    **shown: Unpack[Shown],
) -> Pixels:
    """Return the board as pixels, (H, W, 3) uint8, with squares of `unit` pixels. See `to_ansi`.

    ImportError if pygame is missing.
    """
    return draw_rgb(scene(view(game, position, last_action, **shown), caption=caption), unit)


def to_svg_animation(
    game: Game,
    positions: Sequence[Position],
    actions: Sequence[int],
    *,
    unit: int = 40,
    seconds: float = 0.8,
    **shown: Unpack[ShownInGame],
) -> str:
    """Return the N + 1 positions of N actions as an animated SVG that repeats; see `to_ansi`.

    seconds: for each position; the last one stays three times as long.
    """
    pictures = list(map(scene, views(game, positions, actions, **shown)))
    return write_animation([*pictures, *pictures[-1:] * 2], unit, seconds)


def to_gif(
    game: Game,
    positions: Sequence[Position],
    actions: Sequence[int],
    *,
    unit: int = 40,
    seconds: float = 0.8,
    **shown: Unpack[ShownInGame],
) -> bytes:
    """Return a game as an animated GIF; see `to_svg_animation`.

    ImportError if pygame or Pillow is missing.
    """
    pictures = map(scene, views(game, positions, actions, **shown))
    return write_gif([draw_rgb(picture, unit) for picture in pictures], seconds)


__all__ = [
    "NOTEBOOK_UNIT",
    "ShownGame",
    "Window",
    "to_ansi",
    "to_frame",
    "to_gif",
    "to_page",
    "to_rgb",
    "to_svg",
    "to_svg_animation",
]
