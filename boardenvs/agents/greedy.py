"""Greedy play: the most points after the next ply."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boardenvs.agents.one_ply import act_by_value, analyse_by_value
from boardenvs.game.contract import Game, Position
from boardenvs.game.state import IntArray, State
from boardenvs.search.analysis import Analysis


@dataclass(frozen=True)
class GreedyAgent:
    """Wins at once where it can, does not lose at once where it can help it, and else takes the
    largest margin in points (`Game.score_margin`; in Othello discs) after its move.

    Where games have no points before their end (Lines of Action) all other moves are equal.
    Equal moves are drawn from uniformly.
    """

    def act(self, game: Game, state: State, rng: np.random.Generator | None = None) -> IntArray:
        return act_by_value(game, state, rng, game.score_margin)

    def analyse(self, position: Position, rng: np.random.Generator) -> Analysis:
        """By the margin after each move; of one that ends the game, by its result."""
        return analyse_by_value(position, rng, position.game.score_margin)
