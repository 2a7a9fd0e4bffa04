"""A position that shows itself."""

from __future__ import annotations

from dataclasses import dataclass

from boardenvs.game.contract import Game, Position
from boardenvs.render.ansi import write_ansi
from boardenvs.render.geometry import scene
from boardenvs.render.svg import write_svg
from boardenvs.render.view import View, view


@dataclass(frozen=True)
class Picture:
    """A position with its game, which a position alone does not know: a picture in a notebook, text
    elsewhere. The parameters are those of `to_svg`.
    """

    game: Game
    position: Position
    last_action: int | None = None
    before: Position | None = None
    legal: bool = False
    counts: bool = False

    def __str__(self) -> str:
        return write_ansi(self._view(), colour=False)

    def _repr_svg_(self) -> str:
        return write_svg(scene(self._view()), 48)

    def _view(self) -> View:
        return view(
            self.game,
            self.position,
            self.last_action,
            before=self.before,
            legal=self.legal,
            counts=self.counts,
        )
