"""Pictures of positions: text, SVG and pixels, all after one description of what is where.

    print(render.to_ansi(game, position))

`view` says what there is to see, `geometry` where it is and in which colours; `ansi`, `svg` and
`raster` draw it, and `page` has a board to step through games. pygame is imported with
the first picture in pixels, not before.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Unpack

from boardenvs.game.contract import Game, Position
from boardenvs.game.look import Scene
from boardenvs.render.ansi import write_ansi
from boardenvs.render.geometry import NOTEBOOK_UNIT, scene, sheet
from boardenvs.render.page import ShownGame, to_frame, to_page
from boardenvs.render.raster import Pixels, Window, draw_rgb, write_gif
from boardenvs.render.svg import write_animation, write_svg
from boardenvs.render.tree import GameTree
from boardenvs.render.view import Shown, ShownInGame, view


def to_ansi(
    game: Game,
    position: Position,
    last_action: int | None = None,
    *,
    colour: bool | None = None,
    **shown: Unpack[Shown],
) -> str:
    """The board as text with ANSI colours, readable without them too.

    `last_action` is marked; where its target depends on the position `before` it, the target is
    marked only if that is given. `legal=True` shows where the side to move can play to, and
    `counts=True` how many pieces both sides have. Othello is shown as its players know it, in black
    and white and with rows counted from the top; `rule_sheet=True` shows it as its rule sheet does,
    in black and red and with rows counted from the bottom. Without a `colour` of True or False, the
    variable $NO_COLOR turns colours off where it is set to anything (https://no-color.org).
    """
    seen = view(game, position, last_action, **shown)
    return write_ansi(seen, not os.environ.get("NO_COLOR") if colour is None else colour)


def to_svg(
    game: Game,
    position: Position,
    last_action: int | None = None,
    *,
    caption: bool = True,
    unit: int = 64,
    **shown: Unpack[Shown],
) -> str:
    """The board as a standalone SVG document; a square is `unit` pixels. See `to_ansi`."""
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
    """The board as pixels, (H, W, 3) uint8; a square is `unit` pixels. See `to_ansi`.

    Needs pygame: ImportError where it is missing.
    """
    return draw_rgb(scene(view(game, position, last_action, **shown), caption=caption), unit)


def to_svg_sheet(
    game: Game,
    positions: Sequence[Position],
    actions: Sequence[int],
    *,
    columns: int = 8,
    unit: int = 20,
    legal: bool = False,
    rule_sheet: bool = False,
) -> str:
    """Every position of a game on one sheet, as SVG; `actions` are those between them, N of N + 1.

    A board is labelled with the action that led to it. See `to_ansi`.
    """
    look = game.look.chosen(rule_sheet)
    labels = ["start"] + [
        f"{ply}. {look.write(game.action_name(action, before), game.board.rows)}"
        for ply, (action, before) in enumerate(zip(actions, positions, strict=False), start=1)
    ]
    scenes = _scenes(game, positions, actions, caption=False, legal=legal, rule_sheet=rule_sheet)
    return write_svg(sheet(scenes, labels, columns), unit)


def to_svg_animation(
    game: Game,
    positions: Sequence[Position],
    actions: Sequence[int],
    *,
    unit: int = 40,
    seconds: float = 0.8,
    **shown: Unpack[ShownInGame],
) -> str:
    """A game that plays itself, again and again, as SVG; see `to_svg_sheet` and `to_ansi`.

    A position stays for so many seconds, the last one three times as long.
    """
    pictures = _scenes(game, positions, actions, **shown)
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
    """`to_svg_animation` as an animated GIF.

    Needs pygame and Pillow: ImportError where one is missing.
    """
    pictures = _scenes(game, positions, actions, **shown)
    return write_gif([draw_rgb(picture, unit) for picture in pictures], seconds)


@dataclass(frozen=True)
class Picture:
    """A position that shows itself: a picture in a notebook, text elsewhere.

    The parameters are those of `to_svg`.
    """

    game: Game
    position: Position
    last_action: int | None = None
    before: Position | None = None
    legal: bool = False
    counts: bool = False
    rule_sheet: bool = False

    def __str__(self) -> str:
        return to_ansi(**vars(self), colour=False)

    def _repr_svg_(self) -> str:
        return to_svg(**vars(self), unit=NOTEBOOK_UNIT)


def _scenes(
    game: Game,
    positions: Sequence[Position],
    actions: Sequence[int],
    *,
    caption: bool = True,
    **shown: Unpack[ShownInGame],
) -> list[Scene]:
    """A picture of each position of a game."""
    plies = zip([None, *positions], [None, *actions], positions, strict=False)
    seen = (view(game, after, action, before=before, **shown) for before, action, after in plies)
    return [scene(one, caption=caption) for one in seen]


__all__ = [
    "NOTEBOOK_UNIT",
    "GameTree",
    "Picture",
    "ShownGame",
    "Window",
    "to_ansi",
    "to_frame",
    "to_gif",
    "to_page",
    "to_rgb",
    "to_svg",
    "to_svg_animation",
    "to_svg_sheet",
]
