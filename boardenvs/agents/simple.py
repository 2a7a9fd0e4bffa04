"""Players that look one ply ahead, or not at all."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from boardenvs.agents.base import check_heuristic
from boardenvs.game.game import Game
from boardenvs.game.perft import successors
from boardenvs.game.position import Position, stack
from boardenvs.game.rules import MAX_VALUE
from boardenvs.game.state import IntArray, State, for_movers

if TYPE_CHECKING:
    from boardenvs.search.analysis import Analysis


@dataclass(frozen=True)
class RandomAgent:
    """Plays any legal action with the same probability."""

    def act(self, game: Game, state: State, rng: np.random.Generator | None = None) -> IntArray:
        return game.sample(state, np.random.default_rng(rng))


class OnePlyAgent(ABC):
    """Plays the action that leaves the opponent the lowest value; ties are broken at random.

    A win at once is better than any value, a loss at once worse; a game that its cap on plies ends
    counts by its result.
    """

    @abstractmethod
    def values(self, game: Game, state: State) -> IntArray:
        """Return the value of each position to its side to move, (B,)."""

    def act(self, game: Game, state: State, rng: np.random.Generator | None = None) -> IntArray:
        rows, moves, after = successors(game, state)
        values = self._values_after(game, state.to_move[rows], after)
        # Sorted by row, then value, then chance, the last move of each row is the choice.
        order = np.lexsort((np.random.default_rng(rng).random(len(rows)), values, rows))
        chosen = np.full(len(state.ply), game.noop, np.int64)
        chosen[rows[order]] = moves[order]  # of equal indices the last assignment stays
        return chosen

    def analyse(self, position: Position, rng: np.random.Generator) -> Analysis:
        """Return the values by which `act` chooses, its choice first."""
        from boardenvs.search.analysis import OUTCOMES, Analysis, MoveAnalysis

        game, state = position.game, stack([position])
        chosen = int(self.act(game, state, rng)[0])
        rows, actions, after = successors(game, state)
        values = self._values_after(game, state.to_move[rows], after)
        columns = (actions.tolist(), values.tolist(), game.is_over(after).tolist())
        moves = [
            MoveAnalysis(
                action=action,
                value=float(np.clip(value, -MAX_VALUE, MAX_VALUE)),
                outcome=OUTCOMES[np.sign(value)] if ends else None,
                plies=1 if ends else None,
                line=(action,),
            )
            for action, value, ends in zip(*columns, strict=True)
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

    def _values_after(self, game: Game, movers: IntArray, after: State) -> IntArray:
        """Return the values to the sides that have just moved, (B,): of a decided game one beyond
        all others.
        """
        lead = for_movers(movers, after, game.score_margin(after))
        values = for_movers(movers, after, self.values(game, after))
        return np.where(game.is_over(after), 2 * MAX_VALUE * np.sign(lead), values)


@dataclass(frozen=True)
class GreedyAgent(OnePlyAgent):
    """Wins at once if it can, avoids losing at once, and else takes the largest margin in points
    after its move (`Game.score_margin`; in Othello discs).

    In a game without points before its end (Lines of Action) all other moves are equal. Equal moves
    are drawn uniformly.
    """

    def values(self, game: Game, state: State) -> IntArray:
        return game.score_margin(state)


@dataclass(frozen=True)
class PositionalAgent(OnePlyAgent):
    """Wins at once if it can, avoids losing at once, and else takes the best position after its
    move by the game's heuristic (`Game.evaluate`).

    In the Othello family the heuristic is the square weights that the literature compares with.
    Equal moves are drawn uniformly.
    """

    def check_game(self, game: Game) -> None:
        """Raise ValueError for a game without a heuristic."""
        check_heuristic(self, game)

    def values(self, game: Game, state: State) -> IntArray:
        return game.values(state)
