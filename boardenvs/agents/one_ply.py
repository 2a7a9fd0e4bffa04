"""Play by the value of the positions one ply ahead."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from boardenvs.game.contract import Game
from boardenvs.game.perft import successors
from boardenvs.game.state import FloatArray, IntArray, State


def act_by_value(
    game: Game, state: State, rng: np.random.Generator | None, value: Callable[[State], IntArray]
) -> IntArray:
    """The action that leaves the opponent the lowest `value`; ties are broken at random.

    A win at once is better than any value, a loss at once worse; the end of a game by its cap on
    plies counts as its end.
    """
    rows, moves, after = successors(game, state)
    worth: FloatArray = -value(after).astype(np.float64)
    lead = -game.lead(after).astype(np.float64)
    over = game.is_over(after)
    worth[over] = 0.0
    decided = over & (lead != 0)
    worth[decided] = lead[decided] * np.inf
    # Sorted by row, then value, then chance, the last move of each row is the choice.
    order = np.lexsort((np.random.default_rng(rng).random(len(rows)), worth, rows))
    chosen = np.full(len(state.ply), game.noop, np.int64)
    chosen[rows[order]] = moves[order]  # of equal indices the last assignment stays
    return chosen
