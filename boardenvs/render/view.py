"""What there is to see in a position, square by square; where and how it is drawn comes later."""

from __future__ import annotations

from typing import NamedTuple, TypedDict

from boardenvs.board.bitboard import Board, from_squares
from boardenvs.game.contract import Game, Position
from boardenvs.game.look import Look


class View(NamedTuple):
    """A position as it is shown; sets of squares are bitboards."""

    board: Board
    look: Look
    sides: tuple[str, str]  # as the look names them
    pieces: tuple[int, int]  # by role
    badges: tuple[int, ...]  # those of the look
    holes: int
    marks: int  # the squares that the last action left or entered
    targets: int  # the squares that the side to move can play to, where asked for
    caption: str


class ShownInGame(TypedDict, total=False):
    """What is shown beside the pieces in the pictures of a whole game; see `view`."""

    legal: bool
    counts: bool
    rule_sheet: bool


class Shown(ShownInGame, total=False):
    """What is shown beside the pieces of a position."""

    before: Position | None


def view(
    game: Game,
    position: Position,
    last_action: int | None = None,
    *,
    before: Position | None = None,
    legal: bool = False,
    counts: bool = False,
    rule_sheet: bool = False,
) -> View:
    """What is seen of a position, and of the action that led to it from the position `before`.

    `legal` has the squares that can be played to, `counts` the number of pieces in the caption.
    Without `before`, an action whose target depends on it is marked by its source alone.
    `rule_sheet` has the rule sheet's look and names where people know the game by others.
    """
    look = game.look.chosen(rule_sheet)
    sides = look.sides or game.roles
    marks = 0 if last_action is None else from_squares(game.action_squares(last_action, before))
    actions = position.legal_actions() if legal else []
    ends = [game.action_squares(action, position)[-1:] for action in actions]
    return View(
        board=game.board,
        look=look,
        sides=sides,
        pieces=(position.pieces(0), position.pieces(1)),
        badges=tuple(position.word(name) for name, _ in look.badges),
        holes=game.holes,
        marks=marks,
        targets=from_squares(square for end in ends for square in end),
        caption=_caption(position, sides, last_action == game.noop, counts),
    )


def _caption(position: Position, sides: tuple[str, str], passed: bool, counts: bool) -> str:
    first, second = sides
    pieces = [position.pieces(role).bit_count() for role in (0, 1)]
    count = ", ".join(f"{side} {n}" for side, n in zip(sides, pieces, strict=True))
    if position.is_over():
        goals = position.result()
        goal = f"goal {goals[0]:.0f}-{goals[1]:.0f}"
        score = count if counts else f"{first} {goals[0]:.0f}, {second} {goals[1]:.0f}"
        by_points = position.game.margin_counts
        if by_points:
            points = position.points()
            score = f"{max(points)}-{min(points)}, {goal}"
        if not position.terminated:
            return f"stopped after {position.ply} plies: {score}"
        if goals[0] == goals[1]:
            return f"draw after {position.ply} plies: {score}"
        return f"{sides[goals[1] > goals[0]]} won{' ' if by_points else ': '}{score}"
    to_move = f"{sides[position.to_move]} to move"
    if passed:
        to_move = f"{sides[1 - position.to_move]} passed, {to_move}"
    return f"{to_move}: {count}" if counts else to_move
