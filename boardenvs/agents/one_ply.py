"""Play by the value of the positions one ply ahead."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from boardenvs.game.contract import Game, Position, stack
from boardenvs.game.perft import successors
from boardenvs.game.rules import MAX_VALUE
from boardenvs.game.state import FloatArray, IntArray, State, for_movers
from boardenvs.search.analysis import OUTCOMES, Analysis, MoveAnalysis

Value: TypeAlias = Callable[[State], IntArray]


def act_by_value(
    game: Game, state: State, rng: np.random.Generator | None, value: Value
) -> IntArray:
    """The action that leaves the opponent the lowest `value`; ties are broken at random.

    A win at once is better than any value, a loss at once worse; the end of a game by its cap on
    plies counts as its end.
    """
    rows, moves, after = successors(game, state)
    values = _values_after(game, state.to_move[rows], after, value)
    # Sorted by row, then value, then chance, the last move of each row is the choice.
    order = np.lexsort((np.random.default_rng(rng).random(len(rows)), values, rows))
    chosen = np.full(len(state.ply), game.noop, np.int64)
    chosen[rows[order]] = moves[order]  # of equal indices the last assignment stays
    return chosen


def analyse_by_value(position: Position, rng: np.random.Generator, value: Value) -> Analysis:
    """The values by which `act_by_value` chooses, its choice first."""
    game, state = position.game, stack([position])
    chosen = int(act_by_value(game, state, rng, value)[0])
    rows, actions, after = successors(game, state)
    values = _values_after(game, state.to_move[rows], after, value)
    over = game.is_over(after)
    moves = [
        MoveAnalysis(
            action=action,
            value=float(np.clip(value, -MAX_VALUE, MAX_VALUE)),
            outcome=OUTCOMES[np.sign(value)] if ends else None,
            plies=1 if ends else None,
            line=(action,),
        )
        for action, value, ends in zip(
            actions.tolist(), values.tolist(), over.tolist(), strict=True
        )
    ]
    moves.sort(key=lambda move: move.action != chosen)
    wins = moves[0].outcome == "win"
    return Analysis(
        position=position,
        unit="heuristic",
        outcome="win" if wins else None,
        plies=1 if wins else None,
        moves=tuple(moves),
        nodes=len(moves),
    )


def _values_after(game: Game, movers: IntArray, after: State, value: Value) -> FloatArray:
    """What each position is worth to the side that has just moved, infinite where that decides the
    game, (B,).
    """
    values: FloatArray = for_movers(movers, after, value(after)).astype(np.float64)
    lead = for_movers(movers, after, game.score_margin(after)).astype(np.float64)
    over = game.is_over(after)
    values[over] = 0.0
    decided = over & (lead != 0)
    values[decided] = lead[decided] * np.inf
    return values
