"""Uniformly random play."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boardenvs.agents.explain import Explanation, MoveExplanation
from boardenvs.game.contract import Game, Position
from boardenvs.game.state import IntArray, State


@dataclass(frozen=True)
class RandomAgent:
    """Plays any legal action with the same probability."""

    def act(self, game: Game, state: State, rng: np.random.Generator | None = None) -> IntArray:
        return game.sample(state, np.random.default_rng(rng))

    def explain(self, game: Game, position: Position, rng: np.random.Generator) -> Explanation:
        """The same probability for each action, and no values."""
        actions = position.legal_actions()
        moves = tuple(
            MoveExplanation(
                action=action,
                name=game.action_name(action, position),
                probability=1 / len(actions),
                line=(action,),
            )
            for action in actions
        )
        return Explanation(unit="score", moves=moves, line=moves[0].line)
