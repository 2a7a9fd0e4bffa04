"""What there is to see in a position, square by square; where and how it is drawn comes later."""

from __future__ import annotations

import re
from typing import NamedTuple

from boardenvs.board.bitboard import from_squares
from boardenvs.game.contract import Game
from boardenvs.game.state import Position


class View(NamedTuple):
    """A position as it is shown; sets of squares are bitboards."""

    roles: tuple[str, str]
    pieces: tuple[int, int]  # by role
    holes: int
    marks: int  # the squares that the last action left or entered
    targets: int  # the squares that the side to move can play to, where asked for
    caption: str


def view(
    game: Game,
    position: Position,
    last_action: int | None = None,
    *,
    before: Position | None = None,
    legal: bool = False,
) -> View:
    """What is seen of a position, and of the action that led to it from the position `before`.

    Without `before`, an action whose target depends on it is marked by its source alone.
    """
    marks = 0 if last_action is None else from_squares(_squares(game, last_action, before))
    actions = position.legal_actions() if legal else []
    ends = [_squares(game, action, position)[-1:] for action in actions]
    return View(
        roles=game.roles,
        pieces=(position.pieces(0), position.pieces(1)),
        holes=game.holes,
        marks=marks,
        targets=from_squares(square for end in ends for square in end),
        caption=_caption(game, position, last_action),
    )


def _squares(game: Game, action: int, before: Position | None) -> list[int | str]:
    """The squares that the action's name speaks of, in its order: source and target, or target."""
    return list(re.findall("[a-h][1-8]", game.action_name(action, before)))


def _caption(game: Game, position: Position, last_action: int | None) -> str:
    first, second = game.roles
    over = position.terminated
    if over or game.is_truncated(position):
        goals = game.result(position)
        score = f"{first} {goals[0]:.0f}, {second} {goals[1]:.0f}"
        if not over:
            return f"stopped after {position.ply} plies: {score}"
        if goals[0] == goals[1]:
            return f"draw: {score}"
        return f"{game.roles[goals[1] > goals[0]]} won: {score}"
    passed = f"{game.roles[1 - position.to_move]} passed, " if last_action == game.noop else ""
    return f"{passed}{game.roles[position.to_move]} to move"
