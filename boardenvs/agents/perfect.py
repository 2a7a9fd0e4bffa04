"""Perfect play, where a game is solved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boardenvs.game.contract import Game
from boardenvs.game.state import BoolArray, FloatArray, IntArray, State, take
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
        worth = moves.worth
        best = np.full(len(state.ply), worth.min(initial=0))
        np.maximum.at(best, moves.rows, worth)
        traps = _traps(table, moves, (worth == best[moves.rows]) & (moves.value < 1))
        chance = np.random.default_rng(rng).random(len(worth))
        # Sorted by row, then worth, traps and chance, the last move of each row is the choice.
        order = np.lexsort((chance, traps, worth, moves.rows))
        chosen = np.full(len(state.ply), game.noop, np.int64)
        chosen[moves.rows[order]] = moves.actions[order]  # of equal indices the last stays
        return chosen


def _traps(table: Tablebase, moves: Moves, wanted: BoolArray) -> FloatArray:
    """The share of the replies to each move that are mistakes, (N,); 0 where not `wanted`."""
    share = np.zeros(len(moves.rows))
    share[wanted] = table.mistakes(take(moves.after, wanted))
    return share
