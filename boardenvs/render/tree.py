"""The positions that can follow one, ply by ply, in one drawing: a game tree, for teaching."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from boardenvs.game.contract import Position
from boardenvs.game.look import Drawing, Ink, Placed, Polygon, Scene, Text
from boardenvs.render.geometry import GAP, LABEL, MARGIN, Cells, scene
from boardenvs.render.svg import write_svg
from boardenvs.render.view import view
from boardenvs.utils.checks import is_whole, quote

_INK = Ink("#808080")  # on any ground
_BETWEEN = 2.5  # from a board to the labels of those below it
_THICK = 0.12  # of a line, at its half
_UNIT = 16  # pixels of a square


@dataclass(frozen=True)
class GameTree:
    """A tree that shows itself in a notebook; `str` gives it as SVG.

    plies: how many rows of boards are below the position's own. moves: how many of a position's
    legal actions are followed at most, the first by number. ValueError where one is no whole
    number, `plies` from 0 to 6 and `moves` from 1 to 64.

        GameTree(games.make("othello").start(), plies=3, moves=3)
    """

    position: Position
    plies: int = 2
    moves: int = 4

    def __post_init__(self) -> None:
        for name, low, high in (("plies", 0, 6), ("moves", 1, 64)):
            if not is_whole(value := getattr(self, name), low, high):
                raise ValueError(f"{name} is {quote(value)}: it must be {low} to {high}")

    def __str__(self) -> str:
        game = self.position.game
        branch = self._branch(self.position, None, 0.0, 0)
        deepest = max(one.y for one in branch.placed)
        title = f"{self.plies} plies from {self.position!r}"
        size = branch.right, deepest + Cells(game.board, game.look.hexagons).size[1] + 2 * MARGIN
        return write_svg(Scene(*size, "#ffffff", title, tuple(branch.placed)), _UNIT)

    def _repr_svg_(self) -> str:
        return str(self)

    def _branch(
        self, position: Position, came: tuple[Position, int] | None, left: float, depth: int
    ) -> _Branch:
        """A position over what follows it, from `left` on; `came` is the position and the action
        that it comes from.
        """
        game, (before, action) = position.game, came or (None, None)
        picture = scene(view(game, position, action, before=before), caption=False)
        top = depth * (picture.height + LABEL + _BETWEEN) + LABEL
        actions = [] if position.is_over() or depth == self.plies else position.legal_actions()
        below: list[_Branch] = []
        for one in actions[: self.moves]:
            at = below[-1].right + GAP if below else left
            below.append(self._branch(position.step(one), (position, one), at, depth + 1))
        right = max(left + picture.width, *(branch.right for branch in below[-1:]), 0.0)
        x = (below[0].x + below[-1].x) / 2 if below else left
        middle, bottom = x + picture.width / 2, top + picture.height
        to_y = bottom + _BETWEEN
        placed = [_line(middle, bottom, one.x + picture.width / 2, to_y) for one in below]
        if action is not None:
            name = game.look.write(game.action_name(action, before), game.board.rows)
            text = Text(picture.width / 2, LABEL / 2, name, 0.95, _INK)
            placed.append(Placed("label", Drawing(picture.width, LABEL, (text,)), x, top - LABEL))
        placed += [one._replace(x=one.x + x, y=one.y + top) for one in picture.placed]
        return _Branch([*placed, *chain.from_iterable(one.placed for one in below)], x, right)


class _Branch(NamedTuple):
    placed: list[Placed]
    x: float  # of its uppermost board
    right: float  # where it ends


def _line(x: float, y: float, to_x: float, to_y: float) -> Placed:
    length = math.hypot(to_x - x, to_y - y)
    u, v = _THICK * (to_y - y) / length, _THICK * (x - to_x) / length  # across it
    corners = ((x - u, y - v), (x + u, y + v), (to_x + u, to_y + v), (to_x - u, to_y - v))
    return Placed("line", Drawing(1, 1, (Polygon(corners, _INK),)), 0, 0)
