"""Perfect play of a solved game."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boardenvs.game.game import Game
from boardenvs.game.position import Position, stack
from boardenvs.game.rules import goal_to_reward
from boardenvs.game.state import IntArray, State, take
from boardenvs.games import spec_of
from boardenvs.kernel import get_backend
from boardenvs.search.analysis import OUTCOMES, Analysis, MoveAnalysis, lines_after
from boardenvs.tablebase import Tablebase, is_solved
from boardenvs.tablebase.connect_four import EXACT, covers, discs_of, exact_search

_ALL_MOVES = 12  # plies of Connect Four from which on an analysis values all moves


@dataclass(frozen=True)
class PerfectAgent:
    """Plays a solved game by its exact solution: wins as soon and loses as late as possible.

    If it cannot force a win, it prefers, among moves that last equally long, the one after which
    the largest share of replies is a mistake. Other equal moves are drawn uniformly.

    Connect Four is solved by search, and without chance. With fewer than 7 discs on the board only
    the result counts, not how soon it comes, and positions that the book of openings lacks take a
    minute or two, which is logged.
    """

    def check_game(self, game: Game) -> None:
        """Raise ValueError for a game that is not solved."""
        if not is_solved(game):
            raise ValueError(
                f"'perfect' cannot play {spec_of(game)}: 'connect_four', 'tictactoe' and "
                "'wolf_and_sheep' are solved exactly"
            )

    def takes_long(self, position: Position) -> bool:
        """Return whether its analysis may take seconds or, in the opening of Connect Four,
        minutes.
        """
        by_search = covers(position.game) and not position.is_over()
        return by_search and exact_search(get_backend()).takes_long(position)

    def act(self, game: Game, state: State, rng: np.random.Generator | None = None) -> IntArray:
        self.check_game(game)
        if covers(game):
            search = exact_search(get_backend())
            answers = [
                game.noop if p.is_over() else search.best_action(p) for p in game.positions(state)
            ]
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
        """Analyse by the exact solution; lines follow perfect play to the end of the game, or in
        Connect Four to where the next move would take long.
        """
        game = position.game
        chosen = int(self.act(game, stack([position]), rng)[0])
        by_search = covers(game)
        moves = _by_search(position, chosen) if by_search else self._by_table(position, chosen, rng)
        moves.sort(key=lambda move: move.action != chosen)
        return Analysis(
            position=position,
            outcome=moves[0].outcome,
            plies=moves[0].plies,
            moves=tuple(moves),
            nodes=1 + len(moves),
        )

    def _by_table(
        self, position: Position, chosen: int, rng: np.random.Generator
    ) -> list[MoveAnalysis]:
        """Return all moves, the chosen one first, then the best."""
        game, table = position.game, Tablebase.load(position.game)
        moves = table.moves(stack([position]))
        # If no side can force an end before the cap on plies, the result there.
        at_cap = goal_to_reward(position.result()[position.to_move])
        values = np.where(moves.value == 0, at_cap, moves.value).astype(float)
        mistakes = table.mistakes(moves.after)
        order = np.lexsort((-mistakes, -moves.score, moves.actions != chosen))
        actions, after = moves.actions[order].tolist(), take(moves.after, order)
        lines = lines_after(game, actions, after, lambda state: self.act(game, state, rng))
        columns = (column[order].tolist() for column in (values, moves.distance, mistakes))
        return [
            MoveAnalysis(
                action=line[0],
                value=value,
                outcome=OUTCOMES[value],
                plies=plies,
                mistakes=share,
                line=tuple(line),
            )
            for line, value, plies, share in zip(lines, *columns, strict=True)
        ]


def _by_search(position: Position, chosen: int) -> list[MoveAnalysis]:
    """Return all moves of Connect Four; before `_ALL_MOVES` plies, when it takes seconds, the
    chosen. Lines are perfect play as far as that takes seconds.
    """
    search, moves = exact_search(get_backend()), list[MoveAnalysis]()
    early = discs_of(position) < _ALL_MOVES
    for action in [chosen] if early else position.legal_actions():
        after, line = position.step(action), [action]
        value, plies = search.solution(position if early else after)
        if not early:
            value, plies = -value, None if plies is None else plies + 1
        while not after.is_over() and not search.takes_long(after, EXACT):
            line.append(search.best_action(after))
            after = after.step(line[-1])
        moves.append(
            MoveAnalysis(
                action=action,
                value=float(value),
                outcome=OUTCOMES[value],
                plies=plies,
                line=tuple(line),
            )
        )
    return moves
