"""Alpha-beta search as a player."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache

import numpy as np

from boardenvs import games
from boardenvs.agents.base import check_heuristic
from boardenvs.agents.history import History
from boardenvs.game.game import Game
from boardenvs.game.position import Position
from boardenvs.game.state import IntArray, State
from boardenvs.search.alphabeta import alphabeta_for
from boardenvs.search.analysis import Analysis
from boardenvs.search.compiler import has_exact_end
from boardenvs.search.evaluation import Evaluation
from boardenvs.search.evaluation_file import load_evaluation, trained_evaluation
from boardenvs.search.limits import MAX_DEPTH, MAX_NODES, Limits
from boardenvs.search.solver import search_position

_TRAINED = "trained"
_DEPTH = 4  # without any limit
# With `nodes` or `time`: empty squares from which Othello is solved to the end, and ProbCut's
# deviations.
_ENDGAME, _PROBCUT = 12, 1.2
_IN_TIME = 1 << 22  # nodes that a table has room for
_MOST_KEPT = 1 << 26  # nodes of all games at once, whose tables take half a gigabyte


@dataclass(frozen=True)
class AlphaBetaAgent:
    """Searches each position as deep as the limits allow; without limits `depth=4`.

    depth: plies, 1 to 100. nodes: most positions generated for a move, approximately. time: seconds
    a move, approximately; only this limit makes play depend on the machine and its load.

    endgame: in the Othello family, solve positions with at most this number of empty squares to the
    end, for the largest margin; by default 12 with `nodes` or `time`, else never.

    evaluation: how positions are judged: "trained" by the package's tables, or the path of an .npz
    file of `python -m training.ntuple`; by default by the game's heuristic. With `depth=1` tables
    for one ply are used, if the evaluation has them.

    probcut: with an evaluation, in the Othello family: do not search a move deeper if a search of
    half the depth is this number of standard deviations out of reach (ProbCut); 0: never. By
    default 1.2 with `nodes` or `time`, else 0.

    reductions: search moves that do not seem good less deep (late move reductions). By default on
    with an evaluation and `nodes` or `time`, except in the Othello family, where ProbCut does it
    better.

    In matches of the Othello family, searches with `nodes` or `time` go on with what the search for
    the move before found.

    Ties are broken at random if the positions after the moves have equal values too.
    """

    depth: int | None = None
    nodes: int | None = None
    time: float | None = None
    endgame: int | None = None
    evaluation: str | None = None
    probcut: float | None = None
    reductions: bool | None = None

    def __post_init__(self) -> None:
        self._limits()  # raises ValueError for a wrong limit
        if self.evaluation not in (None, _TRAINED):
            _loaded(str(self.evaluation))

    def _limits(self, game: Game | None = None) -> Limits:
        fills_up = game is not None and has_exact_end(game)
        limited = self.nodes is not None or self.time is not None
        learnt = limited and self.evaluation is not None
        defaults = {
            "depth": MAX_DEPTH if limited else _DEPTH,
            "endgame": _ENDGAME if limited else 0,
            "probcut": _PROBCUT if learnt and fills_up else 0.0,
            "reductions": learnt and not fills_up,
        }
        own = {k: v for k, v in vars(self).items() if v is not None and k != "evaluation"}
        return Limits(**(defaults | own))

    def check_game(self, game: Game) -> None:
        """Raise ValueError for a game without a heuristic, or that the evaluation is not for."""
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
        """Return the evaluation that judges positions of the game, or None for its heuristic.

        ValueError if the package has none for the game.
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

    def act(
        self,
        game: Game,
        state: State,
        rng: np.random.Generator | None = None,
        history: History | None = None,
    ) -> IntArray:
        seeds = np.random.default_rng(rng).bit_generator.random_raw(game.check_state(state))
        evaluation, limits = _plan(self, game)
        search = alphabeta_for(game, evaluation)
        nodes = limits.nodes or (MAX_NODES if limits.time is None else _IN_TIME)
        is_kept = nodes * len(seeds) <= _MOST_KEPT and has_exact_end(game)
        tables = []
        for memory in (history and is_kept and history.memory) or ():
            if "table" not in memory:
                memory["table"] = search.new_table(nodes)
            tables.append(memory["table"])
        return search.search(state, seeds, limits, tables=tuple(tables)).action

    def analyse(self, position: Position, rng: np.random.Generator) -> Analysis:
        """Search the position, and each other move as deep, in half the time each."""
        seed = rng.integers(1 << 64, size=1, dtype=np.uint64)
        evaluation, limits = _plan(self, position.game)
        if limits.time is not None:
            limits = replace(limits, time=limits.time / 2)
        return search_position(position, limits, seed=seed, evaluation=evaluation)

    def analyse_until(
        self, position: Position, stop: Callable[[], bool], rng: np.random.Generator
    ) -> Iterator[Analysis]:
        """Search one ply, two plies and so on, until the result is proven."""
        endgame = _ENDGAME if self.endgame is None else self.endgame
        nodes = 0
        for depth in range(1, MAX_DEPTH + 1):
            # One ply is always searched: there has to be an answer, and soon.
            analysis = search_position(
                position,
                Limits(depth, endgame=endgame if depth > 1 else min(endgame, _ENDGAME)),
                evaluation=self.evaluation_for(position.game),
                stop=stop if depth > 1 else None,
            )
            if depth > 1 and stop():
                return  # some moves were not searched as deep as others
            nodes += analysis.nodes
            yield replace(analysis, nodes=nodes)
            # Deeper search changes nothing: where the soonest win counts, if all is proven.
            proven = analysis.outcome == "win" or all(move.outcome for move in analysis.moves)
            if analysis.margin is not None if position.game.margin_counts else proven:
                return


@lru_cache(maxsize=64)
def _plan(agent: AlphaBetaAgent, game: Game) -> tuple[Evaluation | None, Limits]:
    """Return the evaluation and the limits of the agent's searches in this game."""
    evaluation = agent.evaluation_for(game)
    if evaluation and agent.depth == 1:
        evaluation = evaluation.for_one_ply
    return evaluation, agent._limits(game)


@cache
def _loaded(path: str) -> Evaluation:
    """Return one object a file, so that searches share their memory."""
    return load_evaluation(path)
