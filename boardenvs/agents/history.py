"""The games so far, for players that use more than a position."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from inspect import signature
from typing import Any, TypeVar

import numpy as np

from boardenvs.game.session import GameSession
from boardenvs.game.state import IntArray

_Result = TypeVar("_Result")


@dataclass(frozen=True)
class History:
    """The games so far of B boards."""

    actions: IntArray  # (B, P) int32: row i has the plies of game i from its start, -1 after them
    # In a match: what the agent keeps of each game from one of its moves to the next, {} at first.
    memory: Sequence[dict[str, Any]] | None = None

    def plies(self, row: int) -> list[int]:
        """Return the actions of a game so far."""
        return [action for action in self.actions[row].tolist() if action >= 0]

    def of_rows(self, rows: Sequence[int]) -> History:
        """Return a copy with these rows only, and their memory itself."""
        return History(
            self.actions[rows].copy(), self.memory and [self.memory[row] for row in rows]
        )


def history_of(session: GameSession) -> History | None:
    """Return the history of one game; None if it began elsewhere than at the game's start."""
    if session.start != session.game.start():
        return None
    return History(np.array([session.actions], np.int32))


def with_history(
    function: Callable[..., _Result], history: History | None
) -> Callable[..., _Result]:
    """Return a function that passes on the history, if it has a parameter `history`."""
    with suppress(ValueError):  # functions of C may not say what they take
        if "history" in signature(function).parameters:
            return partial(function, history=history)
    return function
