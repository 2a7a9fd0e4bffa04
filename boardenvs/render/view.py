"""The contents of a picture of a position, independent of how it is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypedDict, Unpack

from boardenvs.board.bitboard import Board, from_squares
from boardenvs.game.game import Game
from boardenvs.game.look import Look
from boardenvs.game.position import Position


class View(NamedTuple):
    """The contents of a picture; sets of squares are bitboards."""

    board: Board
    look: Look
    sides: tuple[str, str]  # their names
    pieces: tuple[int, int]  # by role
    badges: tuple[int, ...]  # one for each badge of the look
    figures: tuple[int, ...]  # one for each figure of the look
    labels: Mapping[int, str] | None  # what is written in squares; None: nothing in this game
    holes: int
    marks: int  # squares that the last action left or entered
    targets: int  # squares that the side to move can play to, if wanted
    caption: str


class ShownInGame(TypedDict, total=False):
    """Options of pictures of whole games; see `view`."""

    legal: bool
    counts: bool


class Shown(ShownInGame, total=False):
    """Options of pictures of positions; see `view`."""

    before: Position | None
    labels: Mapping[int, str] | None


def view(
    game: Game,
    position: Position,
    last_action: int | None = None,
    *,
    before: Position | None = None,
    labels: Mapping[int, str] | None = None,
    legal: bool = False,
    counts: bool = False,
) -> View:
    """Return the contents of the picture of a position and of the action that led to it.

    before: the position before the action, without which some actions are marked at their source
    only. labels: what is written in squares, by default the game's own. legal: show the squares
    that can be played to. counts: show `Rules.standing` in the caption.
    """
    marks = 0 if last_action is None else from_squares(game.action_squares(last_action, before))
    actions = position.legal_actions() if legal else []
    return View(
        board=game.board,
        look=game.look,
        sides=game.sides,
        pieces=(position.pieces(0), position.pieces(1)),
        badges=tuple(game.badge(position, name) for name, _ in game.look.badges),
        figures=tuple(position.word(figure.word) for figure in game.look.figures),
        labels=game.labels(position) if labels is None else labels,
        holes=game.holes,
        marks=marks,
        targets=from_squares(
            square for action in actions for square in game.action_squares(action, position)[-1:]
        ),
        caption=_caption(position, game.sides, last_action == game.noop, counts),
    )


def views(
    game: Game,
    positions: Sequence[Position],
    actions: Sequence[int],
    **shown: Unpack[ShownInGame],
) -> list[View]:
    """Return the contents of the pictures of N + 1 positions of N actions."""
    plies = zip([None, *positions], [None, *actions], positions, strict=False)
    return [view(game, after, action, before=before, **shown) for before, action, after in plies]


def _caption(position: Position, sides: tuple[str, str], passed: bool, counts: bool) -> str:
    game = position.game
    numbers = zip(sides, game.standing(position), strict=True)
    ending = f": {', '.join(f'{side} {n}' for side, n in numbers)}" if counts else ""
    if not position.is_over():
        before = f"{sides[1 - position.to_move]} passed, " if passed else ""
        return f"{before}{sides[position.to_move]} {game.turn(position)}{ending}"
    first, second = position.result()
    winner = "" if first == second else sides[second > first]
    if reason := game.ending(position):
        return f"{winner.capitalize()} wins {reason}" if winner else f"Draw {reason}"
    if game.counts_points:
        points = position.points()
        ending = f": {max(points)}-{min(points)}"
    return (f"{winner} won" if winner else f"draw after {position.ply} plies") + ending
