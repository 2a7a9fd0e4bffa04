"""Play by the value of the positions one ply ahead."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from boardenvs.agents.explain import Explanation, MoveExplanation, Unit, chosen_first
from boardenvs.game.contract import Game, Position, stack
from boardenvs.game.perft import successors
from boardenvs.game.rules import MAX_VALUE
from boardenvs.game.state import FloatArray, IntArray, State

Value: TypeAlias = Callable[[State], IntArray]


def act_by_value(
    game: Game, state: State, rng: np.random.Generator | None, value: Value
) -> IntArray:
    """The action that leaves the opponent the lowest `value`; ties are broken at random.

    A win at once is better than any value, a loss at once worse; the end of a game by its cap on
    plies counts as its end.
    """
    rows, moves, after = successors(game, state)
    worth = _worth(game, after, value)
    # Sorted by row, then value, then chance, the last move of each row is the choice.
    order = np.lexsort((np.random.default_rng(rng).random(len(rows)), worth, rows))
    chosen = np.full(len(state.ply), game.noop, np.int64)
    chosen[rows[order]] = moves[order]  # of equal indices the last assignment stays
    return chosen


def explain_by_value(
    game: Game, position: Position, rng: np.random.Generator, value: Value, unit: Unit
) -> Explanation:
    """The values by which `act_by_value` chooses."""
    state = stack([position])
    chosen = int(act_by_value(game, state, rng, value)[0])
    _, actions, after = successors(game, state)
    worth = _worth(game, after, value)
    if unit == "margin":
        shown: FloatArray = -game.score_margin(after).astype(np.float64)
    else:
        shown = np.clip(worth, -MAX_VALUE, MAX_VALUE)
    moves = [
        MoveExplanation(
            action=action,
            name=game.action_name(action, position),
            value=float(shown[place]),
            line=(action,),
            plies=1 if np.isinf(worth[place]) else None,
        )
        for place, action in enumerate(actions.tolist())
    ]
    best_first = chosen_first((moves[place] for place in np.argsort(-worth, kind="stable")), chosen)
    wins = best_first[0].plies == 1 and bool(worth.max() > 0)
    return Explanation(
        value=best_first[0].value,
        unit=unit,
        exact=wins,
        outcome="win" if wins else None,
        plies=1 if wins else None,
        moves=best_first,
        line=best_first[0].line,
        positions=len(moves),
    )


def _worth(game: Game, after: State, value: Value) -> FloatArray:
    """What each position is worth to the side that has just moved, infinite where that decides the
    game, (B,).
    """
    worth: FloatArray = -value(after).astype(np.float64)
    lead = -game.score_margin(after).astype(np.float64)
    over = game.is_over(after)
    worth[over] = 0.0
    decided = over & (lead != 0)
    worth[decided] = lead[decided] * np.inf
    return worth
