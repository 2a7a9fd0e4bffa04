"""A game that was played: the game, its actions, and what is known about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from boardenvs.game.contract import Game, Position
from boardenvs.game.errors import IllegalActionError


@dataclass(frozen=True)
class Record:
    """One game. Nothing is checked here: see `make_record`, `replay` and `check`."""

    game: Game
    actions: tuple[int, ...]  # one a ply, noops included
    start: Position | None = None  # None: the game's own
    goal: tuple[float, float] | None = None  # by role; None where it is not known
    players: tuple[str, str] | None = None  # their names by role
    info: Mapping[str, Any] = field(default_factory=dict)  # anything that JSON can hold

    @property
    def first_position(self) -> Position:
        """Where the game began."""
        return self.start or self.game.start()

    def _repr_html_(self) -> str:
        """In a notebook: the game on a board to step through."""
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
    """The record of these actions, with the goal values that the rules give at its end.

    The goal is None where the game was not over. IllegalActionError as in `replay`.
    """
    record = Record(game, tuple(actions), start, None, players, info or {})
    last = replay(record)[-1]
    goal = last.result() if last.is_over() else None
    return Record(game, record.actions, start, goal, players, record.info)


def replay(record: Record) -> list[Position]:
    """Every position of a game of N plies, N + 1 in all.

    IllegalActionError names the ply, the action and what was legal.
    """
    return list(positions(record))


def positions(record: Record) -> Iterator[Position]:
    """The positions of `replay` one by one, up to the first illegal action, which raises."""
    game, position = record.game, record.first_position
    yield position
    for action in record.actions:
        if position.is_truncated():
            raise IllegalActionError(
                f"the game goes on at ply {position.ply}, where its cap of {game.max_plies} plies "
                "ended it"
            )
        if not (0 <= action < game.num_actions and position.is_legal(action)):
            raise position.illegal_action(action)
        position = position.step(action)
        yield position


def names(record: Record) -> list[str]:
    """The actions as players write them: "d3", "b1-b3", "pass".

    From an illegal action on there are no positions, and a move has its direction for a target.
    """
    game, found = record.game, list[str]()
    if not game.notation.needs_position:
        return [_standing_alone(game, action) for action in record.actions]
    try:
        for action, position in zip(record.actions, positions(record), strict=False):
            found.append(game.action_name(action, position))
    except IllegalActionError:
        pass
    return found + [game.action_name(action) for action in record.actions[len(found) :]]


def parse_names(game: Game, words: Sequence[str], start: Position | None = None) -> tuple[int, ...]:
    """The actions of these names.

    ValueError for text that is not an action, and for a move whose target is not where the piece
    would land.
    """
    actions = tuple(_parse_name(game, word) for word in words)
    written = [_standing_alone(game, action) for action in actions]
    if written != list(words):  # the position decides where moves end
        written_here = names(Record(game, actions, start))
        for ply, (word, alone, here) in enumerate(zip(words, written, written_here, strict=True)):
            if word not in (alone, here) and here != alone:
                raise ValueError(f"action {ply + 1} is written {word}, but that piece goes {here}")
    return actions


@lru_cache(1 << 16)
def _parse_name(game: Game, word: str) -> int:
    return game.parse_action(word)


@lru_cache(1 << 12)
def _standing_alone(game: Game, action: int) -> str:
    return game.action_name(action)
