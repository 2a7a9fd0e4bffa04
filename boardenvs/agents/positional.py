"""Play by the heuristic one ply ahead."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boardenvs.agents.base import check_heuristic
from boardenvs.agents.one_ply import act_by_value, analyse_by_value
from boardenvs.game.contract import Game, Position
from boardenvs.game.state import IntArray, State
from boardenvs.search.analysis import Analysis


@dataclass(frozen=True)
class PositionalAgent:
    """Wins at once where it can, does not lose at once where it can help it, and else takes the
    best position by the game's heuristic (`Game.evaluate`) after its move.

    In the Othello family these are the square weights that the literature compares with. Equal
    moves are drawn from uniformly.
    """

    def check_game(self, game: Game) -> None:
        """ValueError for a game without a heuristic."""
        check_heuristic(self, game)

    def act(self, game: Game, state: State, rng: np.random.Generator | None = None) -> IntArray:
        return act_by_value(game, state, rng, game.values)

    def analyse(self, position: Position, rng: np.random.Generator) -> Analysis:
        """By the heuristic after each move."""
        return analyse_by_value(position, rng, position.game.values)
