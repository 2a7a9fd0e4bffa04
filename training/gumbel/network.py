"""The network of a training by Gumbel search: its evaluation of positions, and its learning."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch as th
from torch.nn.functional import log_softmax, pad, softmax
from torch.optim.swa_utils import get_ema_multi_avg_fn

from boardenvs.agents.network import BoardNetwork
from boardenvs.game.game import Game
from boardenvs.game.state import Array, FloatArray, State
from boardenvs.game.views import reorder
from boardenvs.search import Evaluator
from boardenvs.search.alphabeta import alphabeta_for
from boardenvs.search.evaluation import POINT, WON, Evaluation
from boardenvs.search.limits import Limits
from training.gumbel.gumbel_settings import LearningSettings
from training.gumbel.replay import ReplayBatch

# A judge's score margin of this many points counts as .76 of a win.
_POINTS = 12.0
_DEPTH = 2  # plies that the judge searches
_SHARE = 0.5  # of the judge in each value

# Networks get a multiple of these boards: torch makes machine code for each new number, which takes
# longer than the boards.
_ROWS = 32


class NetworkEvaluator:
    """Evaluates positions by the network, on its device; see `search.Evaluator`."""

    def __init__(self, network: BoardNetwork) -> None:
        self._network = network.for_play()
        self._device = next(network.parameters()).device

    def evaluate(self, game: Game, state: State) -> tuple[FloatArray, FloatArray]:
        """Return how probable each action is relative to the others, legal or not, (B, A) float32,
        and the value, (B,) float32 from -1 to 1; the network sees boards as their movers do. No
        game may be over.
        """
        (seen, views), rows = game.views.by_movers(state), len(state.ply)
        with th.inference_mode():
            planes = th.from_numpy(game.observe_planes(seen)).to(self._device)
            planes = pad(planes, (*[0] * 7, -rows % _ROWS))
            logits, values = (x[:rows] for x in self._network.outputs(planes))
            # Of few actions `softmax` takes six times as long.
            policy = (logits - logits.amax(1, keepdim=True)).exp().cpu().numpy()
            reorder(policy, game.views.images, views)
            return policy, values.clamp(-1, 1).cpu().numpy()


@dataclass(frozen=True)
class JudgedNetwork:
    """The policy of a network, and the mean of its value and a shallow alpha-beta search's.

    The search uses a learnt evaluation, which predicts results better than a young network.
    """

    network: Evaluator
    evaluation: Evaluation

    def evaluate(self, game: Game, state: State) -> tuple[Array, Array]:
        """Return probabilities and values as the network's `evaluate` does."""
        policy, values = self.network.evaluate(game, state)
        seeds = np.zeros(len(state.ply), np.uint64)
        engine = alphabeta_for(game, self.evaluation)
        judged = engine.search(state, seeds, Limits(_DEPTH), forced=True).value
        if game.margin_counts:
            expected = np.tanh(judged / (POINT * _POINTS))
        else:
            expected = np.clip(judged / WON, -1, 1)
        return policy, ((1 - _SHARE) * values + _SHARE * expected).astype(np.float32)


class NetworkLearner:
    """The network that learns and the average of its latest weights, which plays."""

    def __init__(self, game: Game, network: BoardNetwork, settings: LearningSettings) -> None:
        self.game, self.network = game, network
        self.player = copy.deepcopy(network)  # with the average weights
        self._average = get_ema_multi_avg_fn(settings.AVERAGE)  # type: ignore[no-untyped-call]
        self._optimizer = th.optim.AdamW(
            network.parameters(), weight_decay=settings.WEIGHT_DECAY, fused=True
        )
        self._device = next(network.parameters()).device

    def learn(self, batch: ReplayBatch, rate: float, more: th.Tensor | float = 0.0) -> th.Tensor:
        """Take a gradient step, with `more` loss; return the batch's policy loss, value loss and
        entropy, (3,).
        """
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        state, *targets = batch
        planes, legal, policy, has_policy, target = (
            th.from_numpy(x).to(self._device)
            for x in (self.game.observe_planes(state), self.game.legal(state), *targets)
        )
        logits, values = self.network(planes, legal)
        log_probabilities = log_softmax(logits, dim=1)
        count = has_policy.sum().clamp(min=1)
        losses = -(policy.float() * log_probabilities).sum(dim=1)
        policy_loss = losses.mul(has_policy).sum() / count
        value_loss = (values - target).square().mean()
        self._optimizer.zero_grad()
        (policy_loss + value_loss + more).backward()
        th.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        self._optimizer.step()
        self._average([*self.player.parameters()], [*self.network.parameters()], None)
        with th.no_grad():
            # `exp` takes five times as long where actions are illegal.
            entropy = -(softmax(logits, dim=1) * log_probabilities).sum(dim=1).mean()
            return th.stack([policy_loss, value_loss, entropy]).detach()

    def snapshot(self) -> dict[str, object]:
        """Return everything that learning goes on from."""
        return {
            "network": self.network.state_dict(),
            "average": self.player.state_dict(),
            "optimizer": self._optimizer.state_dict(),
        }

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Go on from a `snapshot`."""
        self.network.load_state_dict(snapshot["network"])
        self.player.load_state_dict(snapshot["average"])
        self._optimizer.load_state_dict(snapshot["optimizer"])
