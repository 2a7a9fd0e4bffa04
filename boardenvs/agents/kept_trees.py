"""Trees that go on with the games of a match."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from boardenvs.game.contract import Game
from boardenvs.game.state import IntArray
from boardenvs.search.kept_tree import KeptTree

_Plies: TypeAlias = bytes  # the actions of a game from its start

# An agent with games in both roles is asked about each of them every other time.
_OLDEST = 2


class _Kept(NamedTuple):
    call: int
    tree: KeptTree


class KeptTrees:
    """What is known of the games of one match, from one move of an agent to its next.

    It is for the generator that the agent draws from in that match, and forgotten where another
    asks, so that a match goes the same way whatever was played before. Each thread has its own.
    Copies begin with nothing.
    """

    def __init__(self) -> None:
        self._of_thread = threading.local()

    def __reduce__(self) -> tuple[Callable[[], KeptTrees], tuple[()]]:
        return KeptTrees, ()

    def take(
        self, game: Game, rng: np.random.Generator, actions: IntArray
    ) -> list[KeptTree | None]:
        """What is known of each game that stands after these actions (B, P), see
        `HistoryAgent.act_after`; what has not been asked for in a while is forgotten.
        """
        mine = self._of_thread
        if getattr(mine, "game", None) is not game or mine.rng is not rng:
            mine.game, mine.rng, mine.calls, mine.kept = game, rng, 0, {}
        mine.calls += 1
        found = [_after_reply(mine.kept, row[row >= 0]) for row in actions]
        mine.kept = {
            plies: trees
            for plies, trees in mine.kept.items()
            if trees and mine.calls - trees[0].call < _OLDEST
        }
        return found

    def put(self, actions: IntArray, action: int, known: KeptTree | None) -> None:
        """Keep what is known after one more action in a game that stood after these, (P,)."""
        mine = self._of_thread
        if known is not None:
            plies = _plies([*actions[actions >= 0].tolist(), action])
            mine.kept.setdefault(plies, []).append(_Kept(mine.calls, known))


def _after_reply(kept: dict[_Plies, list[_Kept]], actions: IntArray) -> KeptTree | None:
    """Of games that went alike, each has a tree of its own."""
    before = kept.get(_plies(actions[:-1].tolist()))
    return before.pop(0).tree.after(int(actions[-1])) if before else None


def _plies(actions: list[int]) -> _Plies:
    return np.array(actions, np.int64).tobytes()
