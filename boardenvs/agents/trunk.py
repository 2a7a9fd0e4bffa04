"""The layers of a network that learns, in torch, and the choice of an action by its outputs.

What learns with these layers becomes a `Policy`, which plays without torch. This is one of the few
modules of boardenvs that need torch; trainers import it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch as th
from torch.nn import Module

from boardenvs.agents.policy import Layer, Policy
from boardenvs.game.contract import Game
from boardenvs.game.state import Array

# What a flat plane weighs against one square of another plane.
FLAT_WEIGHT = 4.0

# The logits of illegal actions: their probability is 0 in float32.
NEVER = -1e8


class BoardTrunk(th.nn.Sequential):
    """Fully connected layers with ReLU over observations (B, 8, 8, C), for policy and value alike.

    `shape` is that of an observation, `hidden` the widths of the layers. A plane of `flat` is the
    same on all squares: it is one input, not 64 that would outweigh the pieces. The layers compute
    in `precision`, "float32" or "bfloat16", and store their weights in float32.
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        hidden: tuple[int, ...],
        flat: tuple[int, ...] = (),
        precision: str = "float32",
    ) -> None:
        rows, columns, planes = shape
        full = [plane for plane in range(planes) if plane not in flat]
        sizes = (rows * columns * len(full) + len(flat), *hidden)
        layers: list[th.nn.Module] = []
        for inputs, outputs in zip(sizes, hidden, strict=False):
            layers += [th.nn.Linear(inputs, outputs), th.nn.ReLU()]
        super().__init__(*layers)
        self._flat, self._full = list(flat), full
        first = full == list(range(len(full)))
        # A slice of the observation costs much less than a choice of planes.
        self._chosen = slice(len(full)) if first else full
        self._bfloat16 = precision == "bfloat16"

    def forward(self, observations: th.Tensor) -> th.Tensor:
        """The last layer's outputs, (B, hidden[-1]) float32."""
        inputs = observations[..., self._chosen].flatten(1).float()
        if self._flat:
            flat = observations[:, 0, 0, self._flat].float()
            inputs = th.cat([inputs, flat * FLAT_WEIGHT], dim=1)
        with th.autocast(inputs.device.type, th.bfloat16, enabled=self._bfloat16):
            features: th.Tensor = inputs
            for layer in self:
                features = layer(features)
        return features.float()

    def as_layers(self) -> list[Layer]:
        """The layers as those of a `Policy`: weights (inputs, outputs) and biases, the inputs of
        the first being the observation's planes one after the other, each square by square.
        """
        layers = [as_layer(module) for module in self if isinstance(module, th.nn.Linear)]
        return [(self._for_all_squares(layers[0][0]), layers[0][1]), *layers[1:]]

    def _for_all_squares(self, weights: Array) -> Array:
        """The first layer's weights (inputs, outputs) as those of one that sees every square of
        every plane, plane by plane.
        """
        pieces = weights[: 64 * len(self._full)]
        found = np.empty((len(self._full) + len(self._flat), 64, weights.shape[1]), np.float32)
        found[self._full] = pieces.reshape(64, len(self._full), -1).transpose(1, 0, 2)
        found[self._flat] = weights[len(pieces) :, None] * (FLAT_WEIGHT / 64)
        return found.reshape(-1, weights.shape[1])

    def take_layers(self, layers: Sequence[Layer]) -> None:
        """Take over layers such as those of `as_layers`, of the same widths."""
        (weights, biases), *rest = layers
        planes = weights.reshape(-1, 64, weights.shape[1])
        pieces = planes[self._full].transpose(1, 0, 2).reshape(-1, weights.shape[1])
        flat = planes[self._flat].sum(axis=1) / FLAT_WEIGHT
        linear = [module for module in self if isinstance(module, th.nn.Linear)]
        first = (np.concatenate([pieces, flat]), biases)
        for module, layer in zip(linear, [first, *rest], strict=True):
            _take_layer(module, layer)


def begin_from(policy: Policy, trunk: BoardTrunk, policy_head: Module, value_head: Module) -> None:
    """Have a network take over the layers of a policy of the same widths."""
    trunk.take_layers(policy.hidden)
    _take_layer(policy_head, policy.policy_head)
    _take_layer(value_head, policy.value_head)


def _take_layer(module: Module, layer: Layer) -> None:
    """Take over weights (inputs, outputs) and biases."""
    assert isinstance(module, th.nn.Linear)
    weights, biases = layer
    with th.no_grad():
        module.weight.copy_(th.from_numpy(weights.T.copy()))
        module.bias.copy_(th.from_numpy(biases.copy()))


def as_layer(module: th.nn.Linear) -> Layer:
    """A copy of the weights (inputs, outputs) and biases of a fully connected layer, float32."""
    weights, biases = (x.detach().cpu().float().numpy() for x in (module.weight, module.bias))
    return np.array(weights.T, order="C"), biases.copy()


def flat_planes(game: Game) -> tuple[int, ...]:
    """The planes of the observation that are the same on all squares, seen on random positions."""
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
    """An action for each row, (B,) int64, drawn from its probabilities (B, A).

    It is the first at which the sum of probabilities reaches a random height: one random number a
    row, where torch's `multinomial` costs one for every action.
    """
    reached = probabilities.cumsum(dim=1)
    chosen: dict[str, Any] = {} if generator is None else {"generator": generator}
    chance = th.rand(len(reached), 1, device=reached.device, **chosen)
    height = (1 - chance) * reached[:, -1:]  # above 0, and never too high
    drawn: th.Tensor = (reached < height).sum(dim=1)
    return drawn
