"""Perfect play, where a game is solved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boardenvs.game.contract import Game, Position, stack
from boardenvs.game.rules import goal_to_reward
from boardenvs.game.state import BoolArray, FloatArray, IntArray, State, take
from boardenvs.search.analysis import Analysis, MoveAnalysis, Outcome
from boardenvs.tablebase import Moves, Tablebase


@dataclass(frozen=True)
class PerfectAgent:
    """Plays Wolf and Sheep by its exact solution: wins as soon and loses as late as it can.

    Where it cannot force a win it prefers, of moves that last equally long, the one after which the
    largest share of the opponent's replies is a mistake. Other equal moves are drawn from
    uniformly.
    """

    def check_game(self, game: Game) -> None:
        """ValueError for a game that is not solved."""
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
        traps = _traps(table, moves, (score == best[moves.rows]) & (moves.value < 1))
        chance = np.random.default_rng(rng).random(len(score))
        # Sorted by row, then score, traps and chance, the last move of each row is the choice.
        order = np.lexsort((chance, traps, score, moves.rows))
        chosen = np.full(len(state.ply), game.noop, np.int64)
        chosen[moves.rows[order]] = moves.actions[order]  # of equal indices the last stays
        return chosen

    def analyse(self, position: Position, rng: np.random.Generator) -> Analysis:
        """By the exact solution; lines are those of perfect play to the end of the game."""
        game = position.game
        chosen = int(self.act(game, stack([position]), rng)[0])
        table = Tablebase.load(game)
        found = table.moves(stack([position]))
        scores, mistakes = _scores(position, found), table.mistakes(found.after)
        lines = self._lines(game, found, rng)
        outcomes: dict[float, Outcome] = {1.0: "win", 0.0: "draw", -1.0: "loss"}
        moves = [
            MoveAnalysis(
                action=int(found.actions[place]),
                value=float(scores[place]),
                outcome=outcomes[float(scores[place])],
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

    def _lines(self, game: Game, moves: Moves, rng: np.random.Generator) -> list[list[int]]:
        """Each move and perfect play after it."""
        lines = [[action] for action in moves.actions.tolist()]
        rows, state = np.arange(len(lines)), moves.after
        while (live := np.flatnonzero(~game.is_over(state))).size:
            rows, state = rows[live], take(state, live)
            actions = self.act(game, state, rng)
            for row, action in zip(rows.tolist(), actions.tolist(), strict=True):
                lines[row].append(action)
            state = game.step(state, actions)
        return lines


def _scores(position: Position, moves: Moves) -> FloatArray:
    """The result of each move with perfect play, -1 to 1, (N,): at the cap on plies, where no side
    can force an end before, the game's result.
    """
    at_cap = goal_to_reward(position.result()[position.to_move])
    scores: FloatArray = np.where(moves.value == 0, at_cap, moves.value).astype(np.float64)
    return scores


def _traps(table: Tablebase, moves: Moves, wanted: BoolArray) -> FloatArray:
    """The share of the replies to each move that are mistakes, (N,); 0 where not `wanted`."""
    share = np.zeros(len(moves.rows))
    share[wanted] = table.mistakes(take(moves.after, wanted))
    return share
