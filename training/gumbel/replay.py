"""A replay buffer of the positions played last, with the policy and the value to learn."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from boardenvs.game.game import Game
from boardenvs.game.state import (
    Array,
    BoolArray,
    FloatArray,
    IntArray,
    State,
    put,
    take,
)
from boardenvs.game.views import reorder

_OVER = -1  # in place of the number of a game


class ReplayBatch(NamedTuple):
    """B positions to learn from, as their movers see them, each under a random symmetry."""

    state: State
    policy: Array  # (B, A) float16: the improved policy
    has_policy: BoolArray  # (B,): whether to learn it
    value: Array  # (B,) float32: to the side to move


class ReplayBuffer:
    """The last `size` positions; positions of unfinished games wait for the result."""

    def __init__(self, game: Game, size: int, search_value: float) -> None:
        self.size = size
        self.added = 0  # positions ever added
        self._search_value = search_value
        self._state = game.empty(size)
        self._policy: Array = np.zeros((size, game.num_actions), np.float16)
        self._has_policy: BoolArray = np.zeros(size, np.bool_)
        self._value: Array = np.zeros(size, np.float32)
        self._game_number: IntArray = np.full(size, _OVER, np.int64)  # while it goes on
        self._game = game

    def add(
        self,
        state: State,
        policy: Array,
        has_policy: BoolArray,
        values: FloatArray,
        games: IntArray,
    ) -> None:
        """Add positions of the games with these numbers, and what the search found."""
        slots: IntArray = (self.added + np.arange(len(games))) % self.size
        self.added += len(games)
        put(self._state, slots, state)
        self._policy[slots] = policy
        self._has_policy[slots] = has_policy
        self._value[slots] = values
        self._game_number[slots] = games

    def finish(self, games: IntArray, results: FloatArray) -> None:
        """Add the results of games, 1, 0 or -1 for the first role."""
        slots = np.flatnonzero(np.isin(self._game_number, games))
        order = np.argsort(games)
        places = np.searchsorted(games, self._game_number[slots], sorter=order)
        of_first = results[order[places]]
        of_mover = np.where(self._state.to_move[slots] == 0, of_first, -of_first)
        share = self._search_value
        self._value[slots] = share * self._value[slots] + (1 - share) * of_mover
        self._game_number[slots] = _OVER

    @property
    def _filled(self) -> int:
        """The number of positions so far, at most `size`."""
        return min(self.added, self.size)

    def ready(self) -> IntArray:
        """Return the places of the positions that can be learnt."""
        return np.flatnonzero(self._game_number[: self._filled] == _OVER)

    def batch(self, slots: IntArray, rng: np.random.Generator) -> ReplayBatch:
        """Return the positions in these places, each under a random symmetry."""
        state, policy = take(self._state, slots), self._policy[slots]
        symmetries = rng.integers(len(self._game.symmetries), size=len(slots))
        state, views = self._game.views.by_movers(state, symmetries)
        reorder(policy, self._game.views.originals, views)
        return ReplayBatch(state, policy, self._has_policy[slots], self._value[slots])

    def snapshot(self) -> dict[str, Any]:
        """Return all of it, as arrays."""
        filled = self._filled
        return {
            "added": self.added,
            "state": self._game.packed(take(self._state, slice(filled))),
            "arrays": [x[:filled] for x in self._arrays()],
        }

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Go on from a `snapshot`."""
        self.added = snapshot["added"]
        filled = self._filled
        put(self._state, slice(filled), self._game.unpacked(snapshot["state"]))
        for x, y in zip(self._arrays(), snapshot["arrays"], strict=True):
            x[:filled] = y

    def _arrays(self) -> list[Array]:
        return [self._policy, self._has_policy, self._value, self._game_number]
