"""The network of all trainers, in torch; `as_policy` makes a `Policy` that needs no torch."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from boardenvs.utils.imports import extra

with extra("train"):
    import torch as th


from boardenvs.game.game import Game
from boardenvs.game.state import BoolArray

if TYPE_CHECKING:
    from boardenvs.agents.policy import Policy

# The input of a flat plane, relative to one square of another plane.
FLAT_SCALE = 4.0

_RANDOM_GAMES, _MOST_PLIES = 64, 1000  # in which flat planes are looked for

# The logits of illegal actions: their probability is 0 in float32.
NEVER = -1e8

# Gains of the orthogonal weights that PPO's usual recipe begins with.
HIDDEN_GAIN, POLICY_GAIN, VALUE_GAIN = 2**0.5, 0.01, 1.0


class BoardNetwork(th.nn.Module):
    """Fully connected layers with ReLU over observations (B, R, F, C), which policy and value
    share, and over them the logits of actions and the value.

    `shape` is the shape of an observation, `hidden` the widths of the layers. `flat` are the planes
    of `flat_planes`: each is one input, or they would outweigh the pieces. The shared layers
    compute in `precision`, "float32" or "bfloat16"; all weights are stored in float32.
    """

    def __init__(
        self,
        shape: Sequence[int],
        actions: int,
        hidden: Sequence[int],
        flat: Sequence[int] = (),
        precision: str = "float32",
    ) -> None:
        super().__init__()
        squares, flat = math.prod(shape[:2]), list(flat)
        full = [plane for plane in range(shape[2]) if plane not in flat]
        pieces = squares * len(full)
        # Of each square of each plane, plane by plane: which input it is, and its scale there.
        inputs, scale = np.empty((shape[2], squares), np.int64), np.ones((shape[2], squares))
        inputs[full] = np.arange(pieces).reshape(squares, -1).T
        inputs[flat] = pieces + np.arange(len(flat))[:, None]
        scale[flat] = FLAT_SCALE / squares
        self._inputs, self._scale = inputs.ravel(), scale.astype(np.float32).ravel()
        self._flat = flat
        # A slice of the observation costs much less than a choice of planes.
        self._full = slice(len(full)) if full == list(range(len(full))) else full
        layers: list[th.nn.Module] = []
        for size, width in zip((pieces + len(flat), *hidden), hidden, strict=False):
            layers += [th.nn.Linear(size, width), th.nn.ReLU()]
        self.layers = th.nn.Sequential(*layers)
        self.policy_head = th.nn.Linear(hidden[-1], actions)
        self.value_head = th.nn.Linear(hidden[-1], 1)
        self._bfloat16 = precision == "bfloat16"

    def features(self, observations: th.Tensor) -> th.Tensor:
        """Return the last shared layer's outputs, (B, hidden[-1]) float32."""
        inputs = observations[..., self._full].flatten(1).float()
        if self._flat:
            flat = observations[:, 0, 0, self._flat].float()
            inputs = th.cat([inputs, flat * FLAT_SCALE], dim=1)
        with th.autocast(inputs.device.type, th.bfloat16, enabled=self._bfloat16):
            features: th.Tensor = self.layers(inputs)
        return features.float()

    def logits(self, features: th.Tensor, legal: th.Tensor) -> th.Tensor:
        """Return the logits of actions, (B, A), `NEVER` where `legal`, (B, A) bool, is not set."""
        logits: th.Tensor = self.policy_head(features)
        return logits.masked_fill(~legal, NEVER)

    def values(self, features: th.Tensor) -> th.Tensor:
        """Return the values to the side that sees each board, (B,)."""
        values: th.Tensor = self.value_head(features)
        return values[:, 0]

    def forward(self, observations: th.Tensor, legal: th.Tensor) -> tuple[th.Tensor, th.Tensor]:
        """Return `logits` and `values` of observations."""
        features = self.features(observations)
        return self.logits(features, legal), self.values(features)

    def begin_orthogonal(self) -> None:
        """Draw orthogonal weights, as PPO's usual recipe begins with, and set biases to 0."""
        gains = [HIDDEN_GAIN] * (len(self._linear()) - 2) + [POLICY_GAIN, VALUE_GAIN]
        for layer, gain in zip(self._linear(), gains, strict=True):
            th.nn.init.orthogonal_(layer.weight, gain)
            th.nn.init.zeros_(layer.bias)

    def take(self, policy: Policy) -> None:
        """Copy the layers of a policy with the same widths."""
        (weights, biases), *rest = policy.layers
        scale = np.bincount(self._inputs, self._scale)
        first = np.zeros((len(scale), len(biases)))
        np.add.at(first, self._inputs, weights)
        layers: list[Any] = [(first / scale[:, None], biases), *rest]
        with th.no_grad():
            for module, (weights, biases) in zip(self._linear(), layers, strict=True):
                module.weight.copy_(th.tensor(weights.T))
                module.bias.copy_(th.tensor(biases))

    def as_policy(self, game: Game, notes: Mapping[str, Any] | None = None) -> Policy:
        """Return a copy that plays without torch."""
        from boardenvs.agents.export import layer_of
        from boardenvs.agents.policy import Policy

        (weights, biases), *rest = map(layer_of, self._linear())
        first = weights[self._inputs] * self._scale[:, None]
        *hidden, policy, value = (first, biases), *rest
        return Policy(game, tuple(hidden), policy, value, dict(notes or {}))

    def _linear(self) -> list[th.nn.Linear]:
        """Return the fully connected layers, the heads last."""
        shared = [layer for layer in self.layers if isinstance(layer, th.nn.Linear)]
        return [*shared, self.policy_head, self.value_head]


def flat_planes(game: Game) -> tuple[int, ...]:
    """Return the planes of the observation that are the same on all squares in random games."""
    rng, state = np.random.default_rng(0), game.init(_RANDOM_GAMES)
    flat: BoolArray = np.ones(game.kernels.num_planes, np.bool_)
    for _ in range(_MOST_PLIES):
        seen = game.observe(state)
        flat &= (seen == seen[:, :1, :1]).all(axis=(0, 1, 2))
        if game.is_over(state).all():
            break
        state = game.step(state, game.sample(state, rng))
    return tuple(np.flatnonzero(flat).tolist())


def draw(probabilities: th.Tensor, generator: th.Generator | None = None) -> th.Tensor:
    """Draw an action for each row, (B,) int64, from its probabilities (B, A).

    It uses one random number per row; torch's `multinomial` uses one for every action.
    """
    reached = probabilities.cumsum(dim=1)
    heights = th.rand(len(reached), 1, device=reached.device, generator=generator)
    heights = (1 - heights) * reached[:, -1:]  # above 0, and never too high
    drawn: th.Tensor = (reached < heights).sum(dim=1)
    return drawn
