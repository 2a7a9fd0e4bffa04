"""Alpha-beta search over the game's heuristic."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from boardenvs import games
from boardenvs.agents.base import check_heuristic
from boardenvs.game.contract import Game, Position
from boardenvs.game.state import IntArray, State
from boardenvs.search.analysis import Analysis
from boardenvs.search.compiler import has_exact_end
from boardenvs.search.engine import engine_for
from boardenvs.search.evaluation import Evaluation
from boardenvs.search.evaluation_file import load_evaluation, trained_evaluation
from boardenvs.search.limits import MAX_DEPTH, Limits
from boardenvs.search.solver import search_position, smoothed

_TRAINED = "trained"
_DEPTH = 4  # without any limit
# With a budget, `nodes` or `time`: empty squares from which Othello is solved to the end, and
# ProbCut's deviations.
_ENDGAME, _PROBCUT = 12, 1.5


@dataclass(frozen=True)
class AlphaBetaAgent:
    """Searches each position as deep as the limits allow; `depth=4` where none is given.

    depth: plies of search, 1 to 100. nodes: positions generated a move, at most about so many.
    time: seconds a move, about, by the clock; only this limit makes play depend on the machine: it
    is weaker on a busy one.
    endgame: in the Othello family, positions with at most so many empty squares are solved to the
    end, for the largest margin; by default none with a depth alone, 12 with `nodes` or `time`.

    evaluation: what positions are judged by: "trained" for the tables that came with the package,
    the path of an .npz file of `python -m training.ntuple`, or by default the game's heuristic.
    At `depth=1` tables are used that were learnt for one ply, where the evaluation has some.

    probcut: with an evaluation of the Othello family, by how many standard deviations a search of
    half the depth must be sure that a move is not worth searching deeper (ProbCut); 0: never, as by
    default with a depth alone. With an evaluation and `nodes` or `time` the default is 1.5.

    reductions: search moves that do not seem good less deep (late move reductions). By default with
    an evaluation and `nodes` or `time`, but for the Othello family, where ProbCut says better what
    may be left out.

    Ties are broken at random where the heuristic of the positions after the moves is equal too.
    """

    depth: int | None = None
    nodes: int | None = None
    time: float | None = None
    endgame: int | None = None
    evaluation: str | None = None
    probcut: float | None = None
    reductions: bool | None = None

    def __post_init__(self) -> None:
        self._limits()  # raises ValueError where a limit is wrong
        if self.evaluation not in (None, _TRAINED):
            _loaded(str(self.evaluation))

    def _limits(self, game: Game | None = None) -> Limits:
        fills_up = game is not None and has_exact_end(game)
        limited = self.nodes is not None or self.time is not None
        depth, endgame = (MAX_DEPTH, _ENDGAME) if limited else (_DEPTH, 0)
        learnt = limited and self.evaluation is not None
        probcut = _PROBCUT if learnt and fills_up else 0.0
        return Limits(
            depth if self.depth is None else self.depth,
            self.nodes,
            self.time,
            endgame if self.endgame is None else self.endgame,
            probcut if self.probcut is None else self.probcut,
            learnt and not fills_up if self.reductions is None else self.reductions,
        )

    def check_game(self, game: Game) -> None:
        """ValueError for a game without a heuristic, or that the evaluation is not for."""
        evaluation = self.evaluation_for(game)
        if evaluation is None:
            check_heuristic(self, game)
        else:
            evaluation.check_game(game)
        if self.probcut and (evaluation is None or not has_exact_end(game)):
            raise ValueError(
                f"probcut is {self.probcut}: probcut needs a learnt evaluation, of a game that "
                "fills up and is won by points"
            )

    def evaluation_for(self, game: Game) -> Evaluation | None:
        """What it judges positions of the game by; None: the game's heuristic.

        ValueError where there is none in the package for the game.
        """
        if self.evaluation is None:
            return None
        if self.evaluation != _TRAINED:
            return _loaded(self.evaluation)
        evaluation = trained_evaluation(game)
        if evaluation is None:
            raise ValueError(
                f"there is no trained evaluation for {games.spec_of(game)}: python -m "
                "training.ntuple CONFIG makes one, which evaluation=PATH takes"
            )
        return evaluation

    def _judging(self, game: Game) -> Evaluation | None:
        """The same, by the depth of its search."""
        evaluation = self.evaluation_for(game)
        return evaluation.for_one_ply if evaluation and self.depth == 1 else evaluation

    def act(self, game: Game, state: State, rng: np.random.Generator | None = None) -> IntArray:
        rng = np.random.default_rng(rng)
        seeds = rng.integers(1 << 64, size=len(state.ply), dtype=np.uint64)
        engine = engine_for(game, self._judging(game))
        return engine.search(state, seeds, self._limits(game)).action

    def analyse(self, position: Position, rng: np.random.Generator) -> Analysis:
        """By a search of the position, and one of each other move as deep, in half the time each.

        Learnt values for a depth are means with those of a ply less; see `smoothed`.
        """
        seed = rng.integers(1 << 64, size=1, dtype=np.uint64)
        limits, evaluation = self._limits(position.game), self._judging(position.game)
        if limits.time is not None:
            limits = replace(limits, time=limits.time / 2)
        found = search_position(position, limits, seed=seed, evaluation=evaluation)
        by_depth = limits.time is None and limits.nodes is None and limits.depth > 1
        if evaluation is None or not by_depth:
            return found
        limits = replace(limits, depth=limits.depth - 1)
        return smoothed(found, search_position(position, limits, evaluation=evaluation))

    def analyse_until(
        self, position: Position, stop: Callable[[], bool], rng: np.random.Generator
    ) -> Iterator[Analysis]:
        """One ply, two plies and so on, until the result is proven."""
        endgame = _ENDGAME if self.endgame is None else self.endgame
        nodes, before = 0, list[Analysis]()
        for depth in range(1, MAX_DEPTH + 1):
            # One ply is searched in any case: there has to be an answer.
            found = search_position(
                position,
                Limits(depth, endgame=endgame),
                evaluation=self.evaluation_for(position.game),
                stop=stop if depth > 1 else None,
            )
            if depth > 1 and stop():
                return  # some of the moves were not searched as deep as others
            nodes += found.nodes
            learnt = self.evaluation is not None and depth > 1
            yield replace(smoothed(found, before[-1]) if learnt else found, nodes=nodes)
            before.append(found)
            if found.margin is not None if position.game.margin_counts else _is_settled(found):
                return


@cache
def _loaded(path: str) -> Evaluation:
    """One object for a file, so that searches share an engine."""
    return load_evaluation(path)


def _is_settled(found: Analysis) -> bool:
    """Whether deeper search changes nothing where the soonest win counts."""
    return found.outcome == "win" or all(move.outcome is not None for move in found.moves)
