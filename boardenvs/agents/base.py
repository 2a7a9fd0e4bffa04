"""What an agent is."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from boardenvs.game import Game
from boardenvs.state import IntArray, State


class Agent(Protocol):
    """Chooses actions for many boards at once."""

    def act(self, game: Game, state: State, rng: np.random.Generator) -> IntArray:
        """A legal action for each row, (B,) int64; noop where the game is terminated.

        All chance comes from `rng`: the same state and generator give the same actions.
        """
        ...
