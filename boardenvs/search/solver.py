"""Alpha-beta search of a position and of each of its moves: values, proofs, lines of play."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from boardenvs.game.game import Game
from boardenvs.game.position import Position, stack
from boardenvs.game.state import WordArray
from boardenvs.search.alphabeta import alphabeta_for
from boardenvs.search.analysis import MOST, OUTCOMES, Analysis, MoveAnalysis, Outcome, Unit
from boardenvs.search.compiled.nodes import DECIDED, WIN, margin_of
from boardenvs.search.evaluation import POINT, WON, Evaluation
from boardenvs.search.limits import Limits

_SEED = np.zeros(1, np.uint64)  # orders moves of equal value
_SCALES: dict[Unit, int] = {"score": WON, "margin": POINT, "heuristic": 1}  # of values in loops


def search_position(
    position: Position,
    limits: Limits,
    *,
    seed: WordArray = _SEED,
    evaluation: Evaluation | None = None,
    stop: Callable[[], bool] | None = None,
    moves: float = 1.0,
) -> Analysis:
    """Search a position until its outcome is proven or a limit is reached; then search each other
    move to the same depth, all together with `moves` times the nodes and time, or none if it is 0.

    `seed`, (1,) uint64, orders moves of equal value. The evaluation judges positions, or without
    one the game's heuristic. `stop()` ends the search once it returns True. No move has a higher
    value than the best. ValueError if the game is over.
    """
    if position.is_over():
        raise ValueError("the game is over in this position: there is nothing to search")
    searcher, game = _Searcher(position.game, evaluation, stop), position.game
    root = searcher.search(position, limits, seed)
    results = {root.line[0]: root}
    others = [action for action in position.legal_actions() if action != root.line[0] and moves]
    share = max(len(others) / moves, 1) if moves else 1
    limits = replace(
        limits,
        depth=max(root.depth, 1),
        nodes=None if limits.nodes is None else max(int(limits.nodes / share), 1),
        time=None if limits.time is None else limits.time / share,
    )
    for action in others:
        result = searcher.search_move(position, action, limits)
        if result.value > root.value:
            result = result._replace(value=root.value, exact=False)
        results[action] = result
    unit: Unit = "heuristic" if evaluation is None else "score"
    if game.margin_counts and (evaluation is not None or root.exact):
        unit = "margin"
    described = [searcher.describe(action, result, unit) for action, result in results.items()]
    return Analysis(
        position=position,
        unit=unit,
        value=described[0].value,
        outcome=root.outcome,
        margin=margin_of(root.value) if root.exact and game.margin_counts else None,
        plies=described[0].plies,
        moves=tuple(described),
        depth=root.depth,
        nodes=sum(result.nodes for result in results.values()),
    )


class _Result(NamedTuple):
    """Result of one search; the value is as in `AlphaBeta.search`."""

    value: int
    exact: bool
    line: tuple[int, ...]
    depth: int = 1
    nodes: int = 1

    @property
    def outcome(self) -> Outcome | None:
        """The outcome, if proven."""
        if abs(self.value) > DECIDED:
            return OUTCOMES[math.copysign(1, self.value)]
        return OUTCOMES[0] if self.exact else None


@dataclass(frozen=True)
class _Searcher:
    """Searches positions of a game."""

    game: Game
    evaluation: Evaluation | None
    stop: Callable[[], bool] | None

    def search(self, position: Position, limits: Limits, seed: WordArray = _SEED) -> _Result:
        if limits.time is None:
            limits = replace(limits, time=math.inf)  # so that Ctrl-C ends it
        engine = alphabeta_for(self.game, self.evaluation)
        results = engine.search(stack([position]), seed, limits, forced=True, stop=self.stop)
        _, value, depth, exact, nodes = (int(column[0]) for column in results)
        line = tuple(engine.line(position, results))
        return _Result(value, bool(exact), line, depth, nodes)

    def search_move(self, position: Position, action: int, limits: Limits) -> _Result:
        """Search a move, for the side that makes it; its ply counts in depth, line and plies."""
        game, after = self.game, position.step(action)
        state = stack([after])
        sign = 1 if after.to_move == position.to_move else -1
        if after.is_over():
            lead = sign * int(game.score_margin(state)[0])
            beyond = abs(lead) if game.margin_counts else -1
            return _Result((WIN + beyond) * int(np.sign(lead)), True, (action,))
        filled = 0 if action == game.noop else 1
        below = replace(
            limits, depth=max(limits.depth - 1, 1), endgame=max(limits.endgame - filled, 0)
        )
        ends_here = limits.depth == 1 and not game.has_forcing
        if ends_here and not alphabeta_for(game, self.evaluation).is_end(state, below)[0]:
            judge, value = self.evaluation or game, 0
            if self.evaluation is not None or game.has_heuristic:
                value = sign * int(judge.values(state)[0])
            return _Result(value, False, (action,))
        result = self.search(after, below)
        value = sign * result.value
        if abs(value) > DECIDED and not game.margin_counts:
            value -= int(math.copysign(1, value))  # a win is one ply later
        line, depth, nodes = (action, *result.line), result.depth + 1, result.nodes + 1
        return _Result(value, result.exact, line, depth, nodes)

    def describe(self, action: int, result: _Result, unit: Unit) -> MoveAnalysis:
        """Return the analysis of a move, with its value in this unit: None without a heuristic, or
        if it cannot give the unit.
        """
        value, most, outcome = result.value, MOST[unit], result.outcome
        in_unit: float | None = max(-most, min(value / _SCALES[unit], most))
        if outcome is not None:
            in_unit = float(margin_of(value) if unit == "margin" else np.sign(value) * most)
        elif self.evaluation is None and (unit == "margin" or not self.game.has_heuristic):
            in_unit = None
        sooner_counts = abs(value) > DECIDED and not self.game.margin_counts
        return MoveAnalysis(
            action=action,
            value=in_unit,
            line=result.line,
            outcome=outcome,
            plies=WIN - abs(value) if sooner_counts else None,
        )
