"""Drills: random openings in which some moves lose at once and others are safe.

A search avoids moves that lose at once, so self-play hardly shows a network what they cost.
"""

from __future__ import annotations

import numpy as np
import torch as th
from torch.nn.functional import log_softmax

from boardenvs.agents.network import NEVER, BoardNetwork
from boardenvs.agents.shield import wins_and_losses
from boardenvs.game.game import Game
from boardenvs.game.openings import random_openings
from boardenvs.game.state import concat, take
from boardenvs.game.views import reorder
from training.folder import RunError

_OPENINGS, _ROUNDS = 8192, 128  # drawn together, and how often
_ROWS, _WEIGHT = 16, 0.2  # drills in a gradient step, and the weight of their loss


class Drills:
    """At least `count` drills, after random plies in the range `plies`: positions `state` and their
    safe moves `safe`, (B, A) bool.

    RunError if a million openings would have fewer.
    """

    def __init__(
        self, game: Game, count: int, plies: tuple[int, int], rng: np.random.Generator
    ) -> None:
        states, safes, total = [], [], 0
        while total < count:
            state = random_openings(game, _OPENINGS, plies, rng)
            wins, losses = wins_and_losses(game, state)
            safe = game.legal(state) & ~losses
            rows = np.flatnonzero(losses.any(axis=1) & safe.any(axis=1) & ~wins.any(axis=1))
            states.append(take(state, rows))
            safes.append(safe[rows])
            total += len(rows)
            # Less than is due by now; a twentieth is left to chance.
            if total / count < len(states) / _ROUNDS - 0.05:
                raise RunError(
                    f"learning.drills is {count}, but {_OPENINGS * len(states)} openings of "
                    f"{game.id} have {total}: lower it, or lengthen self_play.opening_plies"
                )
        self._game, self.state, self.safe = game, concat(states), np.concatenate(safes)

    def loss(self, network: BoardNetwork, rng: np.random.Generator) -> th.Tensor:
        """Draw some drills, each under a random symmetry; return minus the log of the probability
        of all safe moves together, weighted, ().
        """
        game, rows = self._game, rng.integers(len(self.safe), size=_ROWS)
        symmetries = rng.integers(len(game.symmetries), size=_ROWS)
        state, views = game.views.by_movers(take(self.state, rows), symmetries)
        safe = reorder(self.safe[rows], game.views.originals, views)
        device = next(network.parameters()).device
        arrays = game.observe_planes(state), game.legal(state), ~safe
        planes, legal, lost = (th.from_numpy(x).to(device) for x in arrays)
        log_probabilities = log_softmax(network(planes, legal)[0], dim=1)
        return -_WEIGHT * log_probabilities.masked_fill(lost, NEVER).logsumexp(dim=1).mean()
