"""Uniformly random play."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boardenvs.game.contract import Game
from boardenvs.game.state import IntArray, State


@dataclass(frozen=True)
class RandomAgent:
    """Plays any legal action with the same probability."""

    def act(self, game: Game, state: State, rng: np.random.Generator | None = None) -> IntArray:
        return game.sample(state, np.random.default_rng(rng))
