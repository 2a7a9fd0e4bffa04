"""Perfect play of a solved game."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from boardenvs.game.contract import Game
from boardenvs.game.position import Position, stack
from boardenvs.game.rules import goal_to_reward
from boardenvs.game.state import IntArray, State, take
from boardenvs.kernel import get_backend
from boardenvs.search.analysis import OUTCOMES, Analysis, MoveAnalysis, lines_after
from boardenvs.tablebase import Tablebase
from boardenvs.tablebase.connect_four import covers, exact_search

_ALL_MOVES = 12  # plies of Connect Four from which on an analysis values all moves


@dataclass(frozen=True)
class PerfectAgent:
    """Plays a solved game by its exact solution: wins as soon and loses as late as possible.

    If it cannot force a win, it prefers, among moves that last equally long, the one after which
    the largest share of replies is a mistake. Other equal moves are drawn uniformly.

    Connect Four is solved by search, and without chance: in its first plies only the result counts,
    not how soon it comes.
    """

    def check_game(self, game: Game) -> None:
        """Raise ValueError for a game that is not solved."""
        if covers(game):
            return
        try:
            Tablebase.check_game(game)
        except ValueError as error:
            raise ValueError(
                f"'perfect' cannot play {game.id}: {error}, and 'connect_four' by search"
            ) from None

    def act(self, game: Game, state: State, rng: np.random.Generator | None = None) -> IntArray:
        self.check_game(game)
        if covers(game):
            search, positions = exact_search(get_backend()), game.positions(state)
            answers = [game.noop if p.is_over() else search.best_action(p) for p in positions]
            return np.array(answers, np.int64)
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
        if covers(game):
            return _of_connect_four(position)
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


def _of_connect_four(position: Position) -> Analysis:
    """Before `_ALL_MOVES` plies, when searches take seconds, only of the best move."""
    game, search = position.game, exact_search(get_backend())
    chosen = search.best_action(position)
    actions = [a for a in position.legal_actions() if a != chosen]
    actions = [chosen, *actions] if position.ply >= _ALL_MOVES else [chosen]
    after = [position.step(action) for action in actions]
    lines = lines_after(game, actions, stack(after), partial(PerfectAgent().act, game))
    solved = [search.solution(one) for one in after]
    moves = [
        MoveAnalysis(
            action=line[0],
            value=-float(value),
            outcome=OUTCOMES[-value],
            plies=None if plies is None else plies + 1,
            line=tuple(line),
        )
        for line, (value, plies) in zip(lines, solved, strict=True)
    ]
    first = moves[0]
    return Analysis(
        position=position,
        outcome=first.outcome,
        plies=first.plies,
        moves=tuple(moves),
        nodes=1 + len(moves),
    )
