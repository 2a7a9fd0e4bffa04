"""Uniformly random play."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boardenvs.game.contract import Game, Position
from boardenvs.game.state import IntArray, State
from boardenvs.search.analysis import Analysis, MoveAnalysis


@dataclass(frozen=True)
class RandomAgent:
    """Plays any legal action with the same probability."""

    def act(self, game: Game, state: State, rng: np.random.Generator | None = None) -> IntArray:
        return game.sample(state, np.random.default_rng(rng))

    def analyse(self, position: Position, rng: np.random.Generator) -> Analysis:
        """The same probability for each action, and no values."""
        actions = position.legal_actions()
        moves = tuple(
            MoveAnalysis(
                action=action,
                probability=1 / len(actions),
                line=(action,),
            )
            for action in actions
        )
        return Analysis(position=position, moves=moves)
