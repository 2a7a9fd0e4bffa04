"""A recorded game: its rules, its actions, the players and the result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import zip_longest
from typing import Any

from boardenvs.game.errors import IllegalActionError
from boardenvs.game.game import Game
from boardenvs.game.position import Position
from boardenvs.game.rules import DRAW, LOSS, WIN
from boardenvs.game.session import GameSession

GOALS = (WIN, LOSS), (DRAW, DRAW), (LOSS, WIN)  # by role: won by the first, a draw, lost

_parse_name = lru_cache(1 << 16)(Game.parse_action)
_standing_alone = lru_cache(1 << 12)(Game.action_name)


@dataclass(frozen=True)
class Record:
    """One game. Nothing is checked here: see `make_record`, `replay` and `check`."""

    game: Game
    actions: tuple[int, ...]  # one a ply, noops included
    start: Position | None = None  # None: the game's own
    goal: tuple[float, float] | None = None  # by role; None: not known
    players: tuple[str, str] | None = None  # their names by role
    info: Mapping[str, Any] = field(default_factory=dict)  # anything that JSON can hold

    def _repr_html_(self) -> str:
        """Return a board to step through the game, for notebooks."""
        from boardenvs.records.page import write_page
        from boardenvs.render.page import to_frame

        return to_frame(write_page([self], legal=True))


def make_record(
    game: Game,
    actions: Sequence[int],
    *,
    start: Position | None = None,
    players: tuple[str, str] | None = None,
    info: Mapping[str, Any] | None = None,
) -> Record:
    """Return the record of these actions, with the goal values of the rules at its end.

    The goal is None if the game is not over. IllegalActionError as in `replay`.
    """
    record = Record(game, tuple(actions), start, None, players, info or {})
    return replace(record, goal=played(record).goal)


def replay(record: Record) -> list[Position]:
    """Return the N + 1 positions of a game of N plies.

    IllegalActionError names the ply, the action and what was legal.
    """
    return list(played(record).positions)


def played(record: Record) -> GameSession:
    """Return a recorded game after its last ply; IllegalActionError as in `replay`."""
    session, error = until_illegal(record)
    if error is not None:
        raise error
    return session


def until_illegal(record: Record) -> tuple[GameSession, IllegalActionError | None]:
    """Return the game up to the first illegal or unread action, and the error of that or None."""
    game = record.game
    session = GameSession(game, record.start, players=record.players, info=record.info)
    for action in record.actions:
        position = session.position
        if position.is_truncated():
            return session, IllegalActionError(
                f"the game goes on at ply {position.ply}, where its cap of {game.max_plies} plies "
                "ended it"
            )
        if not position.is_legal(action):
            return session, position.illegal_action(action)
        session.play(action)
    unread = record.info.get("unread")  # why a game of a file could not be read
    return session, IllegalActionError(unread) if unread else None


def names(record: Record) -> list[str]:
    """Return the actions in the game's notation: "d3", "b1-b3", "pass".

    Moves after an illegal action, where positions are unknown, have a direction for a target.
    """
    game = record.game
    if not game.notation.needs_position:
        return [_standing_alone(game, action) for action in record.actions]
    positions = until_illegal(record)[0].positions[: len(record.actions)]
    return [game.action_name(*pair) for pair in zip_longest(record.actions, positions)]


def parse_names(game: Game, words: Sequence[str], start: Position | None = None) -> tuple[int, ...]:
    """Return the actions of these names.

    ValueError for a text that is not an action, and for a move with a wrong target.
    """
    actions = tuple(_parse_name(game, word) for word in words)
    written = [_standing_alone(game, action) for action in actions]
    if written != list(words):  # the position decides where moves end
        written_here = names(Record(game, actions, start))
        for ply, (word, alone, here) in enumerate(zip(words, written, written_here, strict=True)):
            if word not in (alone, here) and here != alone:
                raise ValueError(f"action {ply + 1} is written {word}, but that piece goes {here}")
    return actions
