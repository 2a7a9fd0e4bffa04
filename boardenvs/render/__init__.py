"""Pictures of positions: text, SVG and pixels, all after one description of what is where.

    print(render.to_ansi(game, position))

`view` says what there is to see, `geometry` where it is, `theme` how it looks; `ansi`, `svg` and
`raster` draw it. pygame is imported with the first picture in pixels, not before.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from boardenvs.game import Game
from boardenvs.render.ansi import write_ansi
from boardenvs.render.geometry import scene
from boardenvs.render.raster import draw_rgb
from boardenvs.render.svg import write_svg
from boardenvs.render.view import view
from boardenvs.render.window import Window
from boardenvs.state import Position


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
    return write_ansi(
        view(game, position, last_action, before=before, legal=legal), game.board_look
    )


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
    return write_svg(scene(seen, game.board_look, caption=caption), unit)


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
    return draw_rgb(scene(seen, game.board_look, caption=caption), unit)


__all__ = ["Window", "to_ansi", "to_rgb", "to_svg"]
