"""Errors that name the value, what was wrong with it and what would be right."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from boardenvs.game import Game
    from boardenvs.state import Position


class IllegalActionError(ValueError):
    """An action that is no action of the game, or not legal in the position."""


class PositionError(ValueError):
    """A text or object that does not describe a position of the game."""


def illegal_action(game: Game, position: Position, action: int) -> IllegalActionError:
    """The error of an action that is not legal here, or no action at all."""
    if not 0 <= action < game.num_actions:
        return IllegalActionError(
            f"action {action} is out of range: actions are 0 to {game.num_actions - 1}"
        )
    legal = ", ".join(f"{a} ({game.action_name(a, position)})" for a in position.legal_actions())
    return IllegalActionError(
        f"action {action} ({game.action_name(action)}) is not legal for "
        f"{game.roles[position.to_move]} at ply {position.ply}; legal: "
        f"{legal or 'nothing, the game is over'}"
    )


def unknown(kind: str, name: object, known: Iterable[str]) -> str:
    """The message for a name that does not exist, with the nearest one that does."""
    names = sorted(known)
    near = difflib.get_close_matches(str(name), names, n=1, cutoff=0.4)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    listing = f"one of {', '.join(map(repr, names))}" if names else "none exists"
    return f"unknown {kind} {name!r}.{hint} Known: {listing}."


def is_whole(value: object, low: int, high: int | None = None) -> bool:
    """Whether a value is an int, no bool, from `low` to `high`."""
    if isinstance(value, bool) or not isinstance(value, int):
        return False
    return value >= low and (high is None or value <= high)


def check_name(kind: str, value: object, known: Iterable[str]) -> None:
    """ValueError where a value is none of the known names."""
    names = list(known)
    if value not in names:
        raise ValueError(unknown(kind, value, names))
