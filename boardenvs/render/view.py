"""What there is to see in a position, square by square; where and how it is drawn comes later."""

from __future__ import annotations

from typing import NamedTuple, TypedDict

from boardenvs.board.bitboard import from_squares
from boardenvs.game.contract import Game, Position
from boardenvs.game.look import Look


class View(NamedTuple):
    """A position as it is shown; sets of squares are bitboards."""

    look: Look
    roles: tuple[str, str]
    pieces: tuple[int, int]  # by role
    badges: tuple[int, ...]  # those of the look
    holes: int
    marks: int  # the squares that the last action left or entered
    targets: int  # the squares that the side to move can play to, where asked for
    caption: str


class Shown(TypedDict, total=False):
    """What is shown beside the pieces; see `view`."""

    before: Position | None
    legal: bool
    counts: bool


def view(
    game: Game,
    position: Position,
    last_action: int | None = None,
    *,
    before: Position | None = None,
    legal: bool = False,
    counts: bool = False,
) -> View:
    """What is seen of a position, and of the action that led to it from the position `before`.

    `legal` has the squares that can be played to, `counts` the number of pieces in the caption.
    Without `before`, an action whose target depends on it is marked by its source alone.
    """
    marks = 0 if last_action is None else from_squares(game.action_squares(last_action, before))
    actions = position.legal_actions() if legal else []
    ends = [game.action_squares(action, position)[-1:] for action in actions]
    return View(
        look=game.look,
        roles=game.roles,
        pieces=(position.pieces(0), position.pieces(1)),
        badges=tuple(position.word(name) for name, _ in game.look.badges),
        holes=game.holes,
        marks=marks,
        targets=from_squares(square for end in ends for square in end),
        caption=_caption(game, position, last_action, counts),
    )


def _caption(game: Game, position: Position, last_action: int | None, counts: bool) -> str:
    first, second = game.roles
    pieces = (position.pieces(role).bit_count() for role in (0, 1))
    count = ", ".join(f"{role} {n}" for role, n in zip(game.roles, pieces, strict=True))
    if position.is_over():
        goals = position.result()
        score = count if counts else f"{first} {goals[0]:.0f}, {second} {goals[1]:.0f}"
        if not position.terminated:
            return f"stopped after {position.ply} plies: {score}"
        if goals[0] == goals[1]:
            return f"draw after {position.ply} plies: {score}"
        return f"{game.roles[goals[1] > goals[0]]} won: {score}"
    passed = f"{game.roles[1 - position.to_move]} passed, " if last_action == game.noop else ""
    to_move = f"{passed}{game.roles[position.to_move]} to move"
    return f"{to_move}: {count}" if counts else to_move
