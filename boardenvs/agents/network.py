"""The network of all trainers, in torch; `as_policy` makes a `Policy` that needs no torch."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from boardenvs.utils.imports import extra

with extra("train"):
    import torch as th

from boardenvs.agents.policy_network import (
    FLAT_SCALE,
    Library,
    PolicyNetwork,
    action_maps,
    features,
    logits,
    shapes_of,
    trunk,
    values,
)
from boardenvs.game.game import Game

if TYPE_CHECKING:
    from boardenvs.agents.policy import Policy

_RANDOM_GAMES, _MOST_PLIES = 64, 1000  # in which flat planes are looked for

# The logits of illegal actions: their probability is 0 in float32.
NEVER = -1e8

# Gains of untrained weights: of heads, so that logits and values are near 0, and of the last layers
# of a block, so that it changes little.
GAINS = {"policy": 0.1, "value": 0.1, "pool": 0.1, "second": 0.1}

# Gains of the orthogonal weights that PPO's usual recipe begins with.
HIDDEN_GAIN, POLICY_GAIN, VALUE_GAIN = 2**0.5, 0.01, 1.0


class BoardNetwork(th.nn.Module):
    """Policy and value over planes (B, C, R, F) of any dtype, as `Game.observe_planes` gives them.

    `size` has the widths of `hidden` layers, or a tower's numbers of `channels` and `blocks`; see
    `boardenvs.agents.policy_network`. All is computed in `precision`, "float32" or "bfloat16", and
    the weights are stored in float32.
    """

    layers: Any

    def __init__(self, game: Game, size: Mapping[str, Any], precision: str = "float32") -> None:
        super().__init__()
        planes, alike = range(game.kernels.num_planes), flat_planes(game)
        full = [plane for plane in planes if plane not in alike] or list(planes)
        # A slice costs much less than a choice of planes.
        self._full = slice(len(full)) if full == list(range(len(full))) else full
        self._dtype = th.bfloat16 if precision == "bfloat16" else th.float32
        flat = [plane for plane in planes if plane not in full]
        self.size = {**size, "flat": flat, "activation": "relu"}
        self.layers = th.nn.ModuleDict()
        for name, (*kernel, inputs, outputs) in shapes_of(game, self.size).items():
            layer: Any = th.nn.Linear(inputs, outputs)
            if kernel:
                layer = th.nn.Conv2d(inputs, outputs, 3, padding=1)
            if "channels" in size:
                th.nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
            with th.no_grad():
                layer.weight *= GAINS.get(name.split("_")[0], 1.0)
                if name == "maps":
                    layer.weight[: action_maps(game)] *= GAINS["policy"]
                layer.bias.zero_()
            self.layers[name] = layer.to(memory_format=th.channels_last)

    def outputs(self, planes: th.Tensor) -> tuple[th.Tensor, th.Tensor]:
        """Return the logits of all actions, legal or not, (B, A) float32, and the values to the
        side that sees each board, (B,) float32.
        """
        inputs = planes[:, self._full], planes[:, self.size["flat"], 0, 0]
        converts = self.layers["policy"].weight.dtype != self._dtype
        with th.autocast(planes.device.type, th.bfloat16, enabled=converts):
            shared = features(TORCH, self, *(x.to(self._dtype) for x in inputs))
        if converts:  # a logit of 8 in bfloat16 is wrong by up to .03, so is what PPO compares
            shared = shared[0] if shared[0] is None else shared[0].float(), shared[1].float()
        return logits(TORCH, self, shared).float(), values(TORCH, self, shared).float()

    def forward(self, planes: th.Tensor, legal: th.Tensor) -> tuple[th.Tensor, th.Tensor]:
        """Return `outputs` of planes, with `NEVER` where `legal`, (B, A) bool, is not set."""
        logits, values = self.outputs(planes)
        return logits.masked_fill(~legal, NEVER), values

    def for_play(self) -> BoardNetwork:
        """Return a copy whose weights are stored as they are computed with: no call converts
        them.
        """
        return copy.deepcopy(self).to(self._dtype)

    def begin_orthogonal(self) -> None:
        """Draw orthogonal weights of fully connected layers, as PPO's usual recipe begins with."""
        gains = {"policy": POLICY_GAIN, "value": VALUE_GAIN}
        for name, layer in self.layers.items():
            th.nn.init.orthogonal_(layer.weight, gains.get(name, HIDDEN_GAIN))

    def take(self, policy: Policy) -> None:
        """Copy the weights of a policy whose network has the same size."""
        layers, flat = dict(policy.network.layers), self.size["flat"]
        if flat and not policy.network.size["flat"]:  # each square of a flat plane is an input
            weights, biases = layers["0"]
            planes = weights.reshape(policy.game.kernels.num_planes, -1, len(biases))
            full = planes[self._full].reshape(-1, len(biases))
            layers["0"] = np.concatenate([full, planes[flat].sum(1) / FLAT_SCALE]), biases
        with th.no_grad():
            for name, (weights, biases) in layers.items():
                layer = self.layers[name]
                layer.weight.copy_(th.tensor(np.moveaxis(weights, (-1, -2), (0, 1))))
                layer.bias.copy_(th.tensor(biases))

    def as_policy(
        self, game: Game, notes: Mapping[str, Any] | None = None, mover_view: bool = False
    ) -> Policy:
        """Return a copy that plays without torch; with `mover_view` it sees boards as their movers
        do, in games that have a `mover_symmetry`.
        """
        from boardenvs.agents.export import layer_of
        from boardenvs.agents.policy import Policy

        layers = {name: layer_of(module) for name, module in self.layers.items()}
        network = PolicyNetwork(layers, self.size)
        mover_view &= game.mover_symmetry is not None
        return Policy(game, network, dict(notes or {}), mover_view=mover_view)


def _convolve(x: th.Tensor, layer: th.nn.Module) -> th.Tensor:
    boards: th.Tensor = layer(x.permute(0, 3, 1, 2))
    return boards.permute(0, 2, 3, 1)


def _mean(x: th.Tensor) -> th.Tensor:
    """As a product of matrices: torch's `mean` is slow in bfloat16."""
    by_square = x.flatten(1, 2)
    squares = by_square.shape[1]
    weights = x.new_full((1, 1, squares), 1 / squares).expand(len(x), 1, squares)
    return th.bmm(weights, by_square)[:, 0]


TORCH = Library(
    dense=lambda x, layer: layer(x),
    convolve=_convolve,
    trunk=trunk,
    mean=_mean,
    tile=th.tile,
    relu=th.relu,
    tanh=th.tanh,
    concatenate=th.cat,
    transpose=th.permute,
)


@cache
def flat_planes(game: Game) -> tuple[int, ...]:
    """Return the planes of the observation that are the same on all squares in random games, and
    are not always 0: what random play does not reach may differ by square.
    """
    rng, state = np.random.default_rng(0), game.init(_RANDOM_GAMES)
    flat, empty = np.ones((2, game.kernels.num_planes), np.bool_)
    for _ in range(_MOST_PLIES):
        seen = game.observe(state)
        flat &= (seen == seen[:, :1, :1]).all(axis=(0, 1, 2))
        empty &= ~seen.any(axis=(0, 1, 2))
        if game.is_over(state).all():
            break
        state = game.step(state, game.sample(state, rng))
    return tuple(np.flatnonzero(flat & ~empty).tolist())


def draw(probabilities: th.Tensor, generator: th.Generator | None = None) -> th.Tensor:
    """Draw an action for each row, (B,) int64, from its probabilities (B, A).

    It uses one random number per row; torch's `multinomial` uses one for every action.
    """
    reached = probabilities.cumsum(dim=1)
    heights = th.rand(len(reached), 1, device=reached.device, generator=generator)
    heights = (1 - heights) * reached[:, -1:]  # above 0, and never too high
    return (reached < heights).sum(dim=1)
