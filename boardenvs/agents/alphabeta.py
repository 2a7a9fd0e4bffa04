"""Alpha-beta search over the game's heuristic."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from boardenvs import games
from boardenvs.agents.base import check_heuristic
from boardenvs.agents.explain import Explanation, MoveExplanation, Stop, Unit, chosen_first
from boardenvs.game.contract import Game, Position
from boardenvs.game.rules import MAX_VALUE
from boardenvs.game.state import IntArray, State
from boardenvs.search.analysis import Analysis, search_moves, search_position
from boardenvs.search.compiler import has_exact_end
from boardenvs.search.engine import engine_for
from boardenvs.search.evaluation import POINT, WON, Evaluation
from boardenvs.search.evaluation_file import load_evaluation
from boardenvs.search.limits import MAX_DEPTH, Limits
from boardenvs.search.trained import trained_evaluation

_TRAINED = "trained"
_DEPTH = 4  # without any limit
# Empty squares from which search with a budget solves Othello to the end.
_ENDGAME = 12


@dataclass(frozen=True)
class AlphaBetaAgent:
    """Searches each position as deep as the limits allow; `depth=4` where none is given.

    depth: plies of search, 1 to 100. nodes: positions generated a move, at most about so many.
    time: seconds a move, about; only this limit makes play depend on the machine.
    endgame: in the Othello family, positions with at most so many empty squares are solved to the
    end, for the largest margin; by default none with a depth alone, 12 with `nodes` or `time`.

    evaluation: what positions are judged by: "trained" for the tables that came with the package,
    the path of an .npz file of `python -m training.ntuple`, or by default the game's heuristic.
    At `depth=1` tables are used that were learnt for one ply, where the evaluation has some.

    probcut: with an evaluation of the Othello family, by how many standard deviations a search of
    half the depth must be sure that a move is not worth searching deeper (ProbCut); 0: never.

    Ties are broken at random where the heuristic of the positions after the moves is equal too.
    """

    depth: int | None = None
    nodes: int | None = None
    time: float | None = None
    endgame: int | None = None
    evaluation: str | None = None
    probcut: float = 0.0

    def __post_init__(self) -> None:
        self._limits()  # raises ValueError where a limit is wrong
        if self.evaluation not in (None, _TRAINED):
            _loaded(str(self.evaluation))

    def _limits(self) -> Limits:
        limited = self.nodes is not None or self.time is not None
        depth, endgame = (MAX_DEPTH, _ENDGAME) if limited else (_DEPTH, 0)
        return Limits(
            depth if self.depth is None else self.depth,
            self.nodes,
            self.time,
            endgame if self.endgame is None else self.endgame,
            self.probcut,
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
        return engine.search(state, seeds, self._limits()).action

    def explain(self, game: Game, position: Position, rng: np.random.Generator) -> Explanation:
        """By a search of the position, and one of each move as deep and with as much time."""
        seed = rng.integers(1 << 64, size=1, dtype=np.uint64)
        limits = self._limits()
        evaluation = self._judging(game)
        found = search_position(game, position, limits, seed=seed, evaluation=evaluation)
        shallow = replace(limits, depth=max(found.depth, 1))
        moves = search_moves(game, position, shallow, evaluation=evaluation)
        return _explanation(game, position, found, moves, evaluation)

    def explain_steadily(
        self, game: Game, position: Position, stop: Stop, rng: np.random.Generator
    ) -> Iterator[Explanation]:
        """One ply, two plies and so on, until the result is proven."""
        endgame = _ENDGAME if self.endgame is None else self.endgame
        evaluation = self.evaluation_for(game)
        positions = 0
        for depth in range(1, MAX_DEPTH + 1):
            # One ply is searched in any case: there has to be an answer.
            limits = Limits(depth, endgame=endgame)
            moves = search_moves(
                game,
                position,
                limits,
                stop=stop if depth > 1 else None,
                evaluation=evaluation,
            )
            if depth > 1 and stop():
                return  # some of the moves were not searched as deep as others
            best = max(moves.values(), key=_worth)
            found = _explanation(game, position, best, moves, evaluation)
            positions += found.positions
            yield replace(found, positions=positions)
            if best.margin is not None if game.margin_counts else _is_settled(best, moves):
                return


@cache
def _loaded(path: str) -> Evaluation:
    """One object for a file, so that searches share an engine."""
    return load_evaluation(path)


def _explanation(
    game: Game,
    position: Position,
    found: Analysis,
    moves: dict[int, Analysis],
    evaluation: Evaluation | None,
) -> Explanation:
    """What is found of the position, whose best action is the first of its line."""
    proven, learnt = found.outcome is not None, evaluation is not None
    unit: Unit = "heuristic"
    if proven:
        unit = "margin" if found.margin is not None else "score"
    elif learnt:
        unit = "margin" if game.margin_counts else "score"
    best_first = sorted(moves.items(), key=lambda move: _worth(move[1]), reverse=True)
    explained = [
        MoveExplanation(
            action=action,
            name=game.action_name(action, position),
            value=_value(seen, unit, learnt),
            line=seen.line,
            plies=seen.plies,
        )
        for action, seen in best_first
    ]
    return Explanation(
        value=_value(found, unit, learnt),
        unit=unit,
        exact=proven,
        outcome=found.outcome,
        plies=found.plies,
        moves=chosen_first(explained, found.line[0]),
        line=found.line,
        positions=found.nodes + sum(seen.nodes for seen in moves.values()),
    )


def _value(seen: Analysis, unit: Unit, learnt: bool = False) -> float | None:
    """In this unit; None where only what is proven has a value in it: the heuristic, unlike a
    learnt evaluation, knows no other unit.
    """
    if seen.outcome is None and learnt and seen.value is not None:
        if unit == "margin":
            return seen.value / POINT
        if unit == "score":
            return max(-1.0, min(seen.value / WON, 1.0))
    if unit == "margin":
        return None if seen.margin is None else float(seen.margin)
    if seen.outcome is None:
        return float(seen.value or 0) if unit == "heuristic" else None
    score = {"win": 1.0, "draw": 0.0, "loss": -1.0}[seen.outcome]
    return score * MAX_VALUE if unit == "heuristic" else score


def _worth(seen: Analysis) -> tuple[float, int]:
    """More is better: by more points, or sooner for a win and later for a loss."""
    value = _value(seen, "heuristic") or 0.0
    return value, (seen.margin or 0) - (seen.plies or 0) * int(np.sign(value))


def _is_settled(best: Analysis, moves: dict[int, Analysis]) -> bool:
    """Whether deeper search changes nothing where the soonest win counts."""
    return best.outcome == "win" or all(seen.outcome is not None for seen in moves.values())
