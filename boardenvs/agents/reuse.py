"""What a search of one move keeps for the next one of the same game."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeAlias, TypeVar

import numpy as np

from boardenvs.game.contract import Game
from boardenvs.game.state import IntArray

_Plies: TypeAlias = bytes  # the actions of a game from its start
_Known = TypeVar("_Known")

# Calls: an agent with games in both roles is asked about each of them every other time.
_OLDEST = 2


class Reuse(Generic[_Known]):
    """What searches know of the games of one match, from one move of an agent to its next.

    They belong to the generator that the agent draws from in that match, and are dropped when
    another one asks, so that a match does not depend on earlier ones. Each thread has its own.
    Copies start empty.
    """

    def __init__(self) -> None:
        self._of_thread = threading.local()

    def __reduce__(self) -> tuple[Callable[[], Reuse[_Known]], tuple[()]]:
        return Reuse, ()

    def take(self, game: Game, rng: np.random.Generator, actions: IntArray) -> list[_Known | None]:
        """What was known of each game before the last of these actions (B, P), see
        `HistoryAgent.act_after`, or None; what was not asked for in a while is dropped.
        """
        mine = self._of_thread
        if getattr(mine, "game", None) is not game or mine.rng is not rng:
            mine.game, mine.rng, mine.calls, mine.known = game, rng, 0, {}
        mine.calls += 1
        found: list[_Known | None] = []
        for row in actions:
            plies = row[row >= 0].tolist()
            # Equal games have one each.
            before = mine.known.get(_plies(plies[:-1]))
            found.append(before.pop(0)[1] if before else None)
        mine.known = {
            plies: kept
            for plies, kept in mine.known.items()
            if kept and mine.calls - kept[0][0] < _OLDEST
        }
        return found

    def put(self, actions: IntArray, action: int, known: _Known | None) -> None:
        """Store what is known after one more action in a game that stood after these, (P,)."""
        mine = self._of_thread
        if known is not None:
            plies = _plies([*actions[actions >= 0].tolist(), action])
            mine.known.setdefault(plies, []).append((mine.calls, known))


def _plies(actions: list[int]) -> _Plies:
    return np.array(actions, np.int64).tobytes()
