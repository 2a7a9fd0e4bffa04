"""Alpha-beta search of a position and of each of its moves: values, proofs, lines of play."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from boardenvs.game.contract import Game
from boardenvs.game.position import Position, stack
from boardenvs.game.rules import MAX_VALUE
from boardenvs.game.state import WordArray
from boardenvs.search.alphabeta import alphabeta_for
from boardenvs.search.analysis import OUTCOMES, Analysis, MoveAnalysis, Outcome, Unit
from boardenvs.search.compiled.nodes import DECIDED, WIN, margin_of
from boardenvs.search.evaluation import POINT, WON, Evaluation
from boardenvs.search.limits import Limits

_SEED = np.zeros(1, np.uint64)  # orders moves of equal value


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
    searcher = _Searcher(position.game, evaluation, stop)
    root = searcher.search(position, limits, seed)
    found = {root.line[0]: root}
    if moves:
        others = [action for action in position.legal_actions() if action != root.line[0]]
        share = _share(replace(limits, depth=max(root.depth, 1)), len(others) / moves)
        for action in others:
            seen = searcher.search_move(position, action, share)
            if seen.value > root.value:
                seen = seen._replace(value=root.value, exact=False)
            found[action] = seen
    return searcher.describe(position, root, found)


def _share(limits: Limits, count: float) -> Limits:
    """Return the limits of each of `count` searches that share these limits."""
    return replace(
        limits,
        nodes=None if limits.nodes is None else max(int(limits.nodes / max(count, 1)), 1),
        time=None if limits.time is None else limits.time / max(count, 1),
    )


class _Found(NamedTuple):
    """Result of one search; the value is as in `AlphaBeta.search`."""

    value: int
    exact: bool
    line: tuple[int, ...]
    depth: int
    nodes: int

    @property
    def outcome(self) -> Outcome | None:
        """The outcome, if proven."""
        if abs(self.value) > DECIDED:
            return OUTCOMES[math.copysign(1, self.value)]
        return OUTCOMES[0] if self.exact else None


class _Searcher:
    """Searches positions of a game."""

    def __init__(
        self, game: Game, evaluation: Evaluation | None, stop: Callable[[], bool] | None
    ) -> None:
        self._game, self._evaluation, self._stop = game, evaluation, stop
        self._engine = alphabeta_for(game, evaluation)

    def search(self, position: Position, limits: Limits, seed: WordArray = _SEED) -> _Found:
        if limits.time is None:
            limits = replace(limits, time=math.inf)  # so that Ctrl-C ends it
        found = self._engine.search(stack([position]), seed, limits, forced=True, stop=self._stop)
        return _Found(
            int(found.value[0]),
            bool(found.exact[0]),
            tuple(self._engine.line(position, found)),
            int(found.depth[0]),
            int(found.nodes[0]),
        )

    def search_move(self, position: Position, action: int, limits: Limits) -> _Found:
        """Search a move, for the side that makes it; its ply counts in depth, line and plies."""
        game, after = self._game, position.step(action)
        state = stack([after])
        sign = 1 if after.to_move == position.to_move else -1
        if after.is_over():
            lead = sign * int(game.score_margin(state)[0])
            beyond = abs(lead) if game.margin_counts else -1
            return _Found((WIN + beyond) * int(np.sign(lead)), True, (action,), 1, 1)
        filled = 0 if action == game.noop else 1
        below = replace(
            limits, depth=max(limits.depth - 1, 1), endgame=max(limits.endgame - filled, 0)
        )
        ends_here = limits.depth == 1 and not game.has_forcing
        if ends_here and not self._engine.is_end(state, below)[0]:
            judge, value = self._evaluation or game, 0
            if self._evaluation is not None or game.has_heuristic:
                value = sign * int(judge.values(state)[0])
            return _Found(value, False, (action,), 1, 1)
        found = self.search(after, below)
        value = sign * found.value
        if abs(value) > DECIDED and not game.margin_counts:
            value -= int(math.copysign(1, value))  # a win is one ply later
        return found._replace(
            value=value, line=(action, *found.line), depth=found.depth + 1, nodes=found.nodes + 1
        )

    def describe(self, position: Position, root: _Found, found: dict[int, _Found]) -> Analysis:
        """Return the analysis, the best move first."""
        game = self._game
        unit: Unit = "heuristic"
        if game.margin_counts and (self._evaluation is not None or root.exact):
            unit = "margin"
        elif self._evaluation is not None:
            unit = "score"
        moves = [
            MoveAnalysis(
                action=action,
                value=self._value(seen, unit),
                line=seen.line,
                outcome=seen.outcome,
                plies=self._plies(seen),
            )
            for action, seen in found.items()
        ]
        return Analysis(
            position=position,
            unit=unit,
            value=moves[0].value,
            outcome=root.outcome,
            margin=margin_of(root.value) if root.exact and game.margin_counts else None,
            plies=self._plies(root),
            moves=tuple(moves),
            depth=root.depth,
            nodes=sum(seen.nodes for seen in found.values()),
        )

    def _plies(self, seen: _Found) -> int | None:
        """Plies to a proven end, in games where sooner wins count more."""
        if abs(seen.value) <= DECIDED or self._game.margin_counts:
            return None
        return WIN - abs(seen.value)

    def _value(self, seen: _Found, unit: Unit) -> float | None:
        """Return the value in this unit; None without a heuristic, or if it cannot give the
        unit.
        """
        if seen.outcome is not None:
            if unit == "margin":
                return float(margin_of(seen.value))
            return float(np.sign(seen.value) * (1 if unit == "score" else MAX_VALUE))
        if self._evaluation is None:
            known = unit == "heuristic" and self._game.has_heuristic
            return float(seen.value) if known else None
        if unit == "margin":
            return max(-64.0, min(seen.value / POINT, 64.0))
        return max(-1.0, min(seen.value / WON, 1.0))
