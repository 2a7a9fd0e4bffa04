"""Positions judged by a network and by a learnt evaluation together."""

from __future__ import annotations

import numpy as np

from boardenvs.game.contract import Game
from boardenvs.game.state import Array, FloatArray, State
from boardenvs.search import Evaluator
from boardenvs.search.engine import engine_for
from boardenvs.search.evaluation import POINT, WON, Evaluation
from boardenvs.search.limits import Limits

# A lead foretold of so many points counts as .76 of a win. Chosen, not fitted: other figures were
# not tried.
_POINTS = 12.0


class JudgedNetwork:
    """The policy of a network, and values mixed of the network's and those of alpha-beta search.

    The search goes `depth` plies by a learnt evaluation, which foretells results better than a
    young network does and sees what is taken next. It has `share` of the value.
    """

    def __init__(
        self, network: Evaluator, evaluation: Evaluation, depth: int, share: float
    ) -> None:
        self._network, self._share = network, share
        self._evaluation, self._limits = evaluation, Limits(depth)

    def evaluate(self, game: Game, state: State) -> tuple[Array, Array]:
        """As the network's `evaluate`."""
        policy, values = self._network.evaluate(game, state)
        searched = self._searched(game, state)
        return policy, ((1 - self._share) * values + self._share * searched).astype(np.float32)

    def _searched(self, game: Game, state: State) -> FloatArray:
        """The results to expect, (B,) float64 from -1 to 1."""
        seeds = np.zeros(len(state.ply), np.uint64)
        engine = engine_for(game, self._evaluation)
        found = engine.search(state, seeds, self._limits, forced=True).value
        if game.margin_counts:
            return np.tanh(found / (POINT * _POINTS))
        return np.clip(found / WON, -1, 1)
