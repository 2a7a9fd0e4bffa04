"""The network of all trainers, in torch; `as_policy` makes a `Policy` that needs no torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from boardenvs.utils.imports import extra

with extra("train"):
    import torch as th


from boardenvs.game.contract import Game
from boardenvs.game.state import Array

if TYPE_CHECKING:
    from boardenvs.agents.policy import Policy

# The input of a flat plane, relative to one square of another plane.
FLAT_WEIGHT = 4.0

# The logits of illegal actions: their probability is 0 in float32.
NEVER = -1e8

# Gains of the orthogonal weights that PPO's usual recipe begins with.
HIDDEN_GAIN, POLICY_GAIN, VALUE_GAIN = 2**0.5, 0.01, 1.0


class NetworkInputs:
    """The inputs of a network: all squares of a plane, or one number if the plane is flat.

    `flat` are the planes that are the same on all squares, and would otherwise outweigh the pieces.
    The inputs of the other planes come first, then one for each flat plane.
    """

    def __init__(self, shape: Sequence[int], flat: Sequence[int]) -> None:
        rows, columns, self.planes = shape
        self.squares = squares = rows * columns
        self.flat = list(flat)
        self.full = [plane for plane in range(self.planes) if plane not in self.flat]
        self.size = squares * len(self.full) + len(self.flat)
        # The index plane by plane of each input that is square by square.
        pieces = np.arange(squares * len(self.full)).reshape(-1, squares).T.ravel()
        self.by_square = np.concatenate([pieces, np.arange(len(pieces), self.size)])

    def for_all_squares(self, weights: Array) -> Array:
        """Convert weights (size, N) of a first layer, whose inputs are plane by plane, to weights
        for every square of every plane, (planes * squares, N) float32.
        """
        squares = self.squares
        full, flat = np.split(np.asarray(weights), [squares * len(self.full)])
        found = np.empty((self.planes, squares, weights.shape[1]), np.float32)
        found[self.full] = full.reshape(len(self.full), squares, -1)
        found[self.flat] = flat[:, None] * (FLAT_WEIGHT / squares)
        return found.reshape(-1, weights.shape[1])

    def from_all_squares(self, weights: Array) -> Array:
        """The inverse of `for_all_squares`, bit for bit."""
        planes = np.asarray(weights).reshape(self.planes, self.squares, -1)
        full = planes[self.full].reshape(-1, weights.shape[1])
        flat = planes[self.flat].sum(axis=1, dtype=np.float64) / FLAT_WEIGHT
        return np.concatenate([full, flat.astype(np.float32)])


class BoardNetwork(th.nn.Module):
    """Fully connected layers with ReLU over observations (B, R, F, C), which policy and value
    share, and over them the logits of actions and the value.

    `shape` is the shape of an observation, `hidden` the widths of the layers, `flat` the planes of
    `flat_planes`. The shared layers compute in `precision`, "float32"
    or "bfloat16"; all weights are stored in float32.
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
        self.inputs = NetworkInputs(shape, flat)
        layers: list[th.nn.Module] = []
        for inputs, outputs in zip((self.inputs.size, *hidden), hidden, strict=False):
            layers += [th.nn.Linear(inputs, outputs), th.nn.ReLU()]
        self.layers = th.nn.Sequential(*layers)
        self.policy_head = th.nn.Linear(hidden[-1], actions)
        self.value_head = th.nn.Linear(hidden[-1], 1)
        full = self.inputs.full
        # A slice of the observation costs much less than a choice of planes.
        self._chosen = slice(len(full)) if full == list(range(len(full))) else full
        self._bfloat16 = precision == "bfloat16"

    def features(self, observations: th.Tensor) -> th.Tensor:
        """The last shared layer's outputs, (B, hidden[-1]) float32."""
        inputs = observations[..., self._chosen].flatten(1).float()
        if self.inputs.flat:
            flat = observations[:, 0, 0, self.inputs.flat].float()
            inputs = th.cat([inputs, flat * FLAT_WEIGHT], dim=1)
        with th.autocast(inputs.device.type, th.bfloat16, enabled=self._bfloat16):
            features: th.Tensor = self.layers(inputs)
        return features.float()

    def logits(self, features: th.Tensor, legal: th.Tensor) -> th.Tensor:
        """The logits of actions, (B, A), `NEVER` where `legal`, (B, A) bool, is not set."""
        logits: th.Tensor = self.policy_head(features)
        return logits.masked_fill(~legal, NEVER)

    def values(self, features: th.Tensor) -> th.Tensor:
        """The values to the side that sees each board, (B,)."""
        values: th.Tensor = self.value_head(features)
        return values[:, 0]

    def forward(self, observations: th.Tensor, legal: th.Tensor) -> tuple[th.Tensor, th.Tensor]:
        """`logits` and `values` of observations."""
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
        first = self.inputs.from_all_squares(weights)[self.inputs.by_square], biases
        with th.no_grad():
            for module, (weights, biases) in zip(self._linear(), [first, *rest], strict=True):
                module.weight.copy_(th.tensor(weights.T))
                module.bias.copy_(th.tensor(biases))

    def as_policy(self, game: Game, notes: Mapping[str, Any] | None = None) -> Policy:
        """Return a copy that plays without torch."""
        from boardenvs.agents.export import layer_of
        from boardenvs.agents.policy import Policy

        (weights, biases), *rest = map(layer_of, self._linear())
        by_plane = np.empty_like(weights)
        by_plane[self.inputs.by_square] = weights
        *hidden, policy, value = (self.inputs.for_all_squares(by_plane), biases), *rest
        return Policy(game, tuple(hidden), policy, value, dict(notes or {}))

    def _linear(self) -> list[th.nn.Linear]:
        """The fully connected layers, the heads last."""
        shared = [layer for layer in self.layers if isinstance(layer, th.nn.Linear)]
        return [*shared, self.policy_head, self.value_head]


def flat_planes(game: Game) -> tuple[int, ...]:
    """Return the planes of the observation that are the same on all squares of random positions."""
    rng = np.random.default_rng(0)
    state = game.init(256)
    seen = []
    for _ in range(40):
        seen.append(game.observe(state))
        state = game.step(state, game.sample(state, rng))
    observations = np.concatenate(seen)
    same = (observations == observations[:, :1, :1]).all(axis=(0, 1, 2))
    return tuple(np.flatnonzero(same).tolist())


def draw(probabilities: th.Tensor, generator: th.Generator | None = None) -> th.Tensor:
    """Draw an action for each row, (B,) int64, from its probabilities (B, A).

    It uses one random number per row; torch's `multinomial` uses one for every action.
    """
    reached = probabilities.cumsum(dim=1)
    heights = th.rand(len(reached), 1, device=reached.device, generator=generator)
    heights = (1 - heights) * reached[:, -1:]  # above 0, and never too high
    drawn: th.Tensor = (reached < heights).sum(dim=1)
    return drawn
