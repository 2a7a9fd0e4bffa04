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


class ReplayBatch(NamedTuple):
    """B positions to learn from, each under a random symmetry."""

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
        self._game_number: IntArray = np.full(size, -1, np.int64)
        self._ready: BoolArray = np.zeros(size, np.bool_)
        self._going_on: dict[int, list[int]] = {}  # the slots of each unfinished game
        self._game = game

    def add(
        self,
        state: State,
        policy: FloatArray,
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
        self._ready[slots] = False
        self._wait(slots)

    def _wait(self, slots: IntArray) -> None:
        """Keep the slots of each unfinished game."""
        for slot, game in zip(slots.tolist(), self._game_number[slots].tolist(), strict=True):
            self._going_on.setdefault(game, []).append(slot)

    def finish(self, game: int, result: float) -> None:
        """Add the result of a game, 1, 0 or -1 for the first role."""
        slots = np.array(self._going_on.pop(game, []), np.int64)
        slots = slots[self._game_number[slots] == game]  # others hold later games by now
        results = np.where(self._state.to_move[slots] == 0, result, -result)
        mixed = self._search_value * self._value[slots] + (1 - self._search_value) * results
        self._value[slots] = mixed
        self._ready[slots] = True

    @property
    def ready(self) -> int:
        """The number of positions that can be learnt."""
        return int(self._ready.sum())

    def sample(self, count: int, rng: np.random.Generator) -> ReplayBatch:
        """Draw this many positions that are ready, with replacement; there must be some."""
        filled = min(self.added, self.size)
        slots = np.empty(0, np.int64)
        while len(slots) < count:
            drawn = rng.integers(filled, size=count)
            slots = np.concatenate([slots, drawn[self._ready[drawn]]])
        slots = slots[:count]
        state, policy = take(self._state, slots), self._policy[slots]
        views, chosen = self._game.views, rng.integers(len(self._game.symmetries), size=count)
        policy = reorder(policy, views.originals, chosen)
        state = views.seen(state, chosen)
        return ReplayBatch(state, policy, self._has_policy[slots], self._value[slots])

    def snapshot(self) -> dict[str, Any]:
        """Return all of it, as arrays."""
        filled = min(self.added, self.size)
        return {
            "added": self.added,
            "state": self._game.packed(take(self._state, slice(filled))),
            "arrays": [x[:filled] for x in self._arrays()],
        }

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Go on from a `snapshot`."""
        self.added = snapshot["added"]
        filled = min(self.added, self.size)
        put(self._state, slice(filled), self._game.unpacked(snapshot["state"]))
        for x, y in zip(self._arrays(), snapshot["arrays"], strict=True):
            x[:filled] = y
        self._going_on = {}
        self._wait(np.flatnonzero(~self._ready[:filled]))

    def _arrays(self) -> list[Array]:
        return [self._policy, self._has_policy, self._value, self._game_number, self._ready]
