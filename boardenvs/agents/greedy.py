"""Greedy play: one ply of search."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boardenvs.game import Game
from boardenvs.perft import successors
from boardenvs.state import FloatArray, IntArray, State


@dataclass(frozen=True)
class GreedyAgent:
    """Wins at once where it can, does not lose at once where it can help it, and else takes the
    largest lead in points (`Game.lead`; in Othello discs) after its move.

    Where games have no points before their end (Lines of Action) all other moves are equal.
    Equal moves are drawn from uniformly.
    """

    def act(self, game: Game, state: State, rng: np.random.Generator) -> IntArray:
        rows, moves, after = successors(game, state)
        value = _value(game, after)
        # Sorted by row, then value, then chance, the last move of each row is the choice.
        order = np.lexsort((rng.random(len(rows)), value, rows))
        chosen = np.full(len(state.ply), game.noop, np.int64)
        chosen[rows[order]] = moves[order]  # of equal indices the last assignment stays
        return chosen


def _value(game: Game, after: State) -> FloatArray:
    """What a position is worth to the side that has just moved, (B,) float."""
    lead = -game.lead(after).astype(np.float64)
    decided = after.terminated & (lead != 0)
    lead[decided] *= np.inf
    return lead


__all__ = ["GreedyAgent"]
