"""Perfect play of a solved game."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boardenvs.game.contract import Game
from boardenvs.game.position import Position, stack
from boardenvs.game.rules import goal_to_reward
from boardenvs.game.state import IntArray, State, take
from boardenvs.search.analysis import OUTCOMES, Analysis, MoveAnalysis, lines_after
from boardenvs.tablebase import Tablebase


@dataclass(frozen=True)
class PerfectAgent:
    """Plays a solved game by its exact solution: wins as soon and loses as late as possible.

    If it cannot force a win, it prefers, among moves that last equally long, the one after which
    the largest share of replies is a mistake. Other equal moves are drawn uniformly.
    """

    def check_game(self, game: Game) -> None:
        """Raise ValueError for a game that is not solved."""
        try:
            Tablebase.check_game(game)
        except ValueError as error:
            raise ValueError(f"'perfect' cannot play {game.id}: {error}") from None

    def act(self, game: Game, state: State, rng: np.random.Generator | None = None) -> IntArray:
        self.check_game(game)
        table = Tablebase.load(game)
        moves = table.moves(state)
        score = moves.score
        best = np.full(len(state.ply), score.min(initial=0))
        np.maximum.at(best, moves.rows, score)
        doubtful = (score == best[moves.rows]) & (moves.value < 1)
        traps = np.zeros(len(score))
        traps[doubtful] = table.mistakes(take(moves.after, doubtful))
        chance = np.random.default_rng(rng).random(len(score))
        # Sorted by row, then score, traps and chance, the last move of each row is the choice.
        order = np.lexsort((chance, traps, score, moves.rows))
        chosen = np.full(len(state.ply), game.noop, np.int64)
        chosen[moves.rows[order]] = moves.actions[order]  # of equal indices the last stays
        return chosen

    def analyse(self, position: Position, rng: np.random.Generator) -> Analysis:
        """By the exact solution; lines follow perfect play to the end of the game."""
        game = position.game
        chosen = int(self.act(game, stack([position]), rng)[0])
        table = Tablebase.load(game)
        found = table.moves(stack([position]))
        # If no side can force an end before the cap on plies, the result there.
        at_cap = goal_to_reward(position.result()[position.to_move])
        scores = np.where(found.value == 0, at_cap, found.value)
        mistakes = table.mistakes(found.after)
        lines = lines_after(
            game, found.actions.tolist(), found.after, lambda state: self.act(game, state, rng)
        )
        moves = [
            MoveAnalysis(
                action=int(found.actions[place]),
                value=float(scores[place]),
                outcome=OUTCOMES[float(scores[place])],
                plies=int(found.distance[place]),
                mistakes=float(mistakes[place]),
                line=tuple(lines[place]),
            )
            for place in np.lexsort((-mistakes, -found.score)).tolist()
        ]
        moves.sort(key=lambda move: move.action != chosen)
        return Analysis(
            position=position,
            outcome=moves[0].outcome,
            plies=moves[0].plies,
            moves=tuple(moves),
            nodes=1 + len(moves),
        )
