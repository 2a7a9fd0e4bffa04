"""The network that learns: shared layers, and a masked choice of an action at the price of one."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch as th
from gymnasium import spaces
from sb3_contrib.common.maskable.distributions import MaskableCategoricalDistribution
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch.nn.functional import log_softmax, softmax

from boardenvs.game.contract import Game
from boardenvs.game.state import Array

# What a flat plane weighs against one square of another plane.
FLAT_WEIGHT = 4.0

# The logits of illegal actions: their probability is 0 in float32.
_NEVER = -1e8


class Trunk(BaseFeaturesExtractor):
    """Fully connected layers that policy and value share: half the work of one stack for each.

    A plane of `flat` is the same on all squares: it is one input, not 64 that would outweigh the
    pieces. The layers compute in `precision`, "float32" or "bfloat16", and store their weights in
    float32.
    """

    def __init__(
        self,
        observation_space: spaces.Box,
        hidden: tuple[int, ...],
        flat: tuple[int, ...] = (),
        precision: str = "float32",
    ) -> None:
        super().__init__(observation_space, hidden[-1])
        rows, columns, planes = observation_space.shape
        self._flat = list(flat)
        self._full = [plane for plane in range(planes) if plane not in flat]
        first = self._full == list(range(len(self._full)))
        # A slice of the observation costs much less than a choice of planes.
        self._chosen = slice(len(self._full)) if first else self._full
        sizes = (rows * columns * len(self._full) + len(flat), *hidden)
        layers: list[th.nn.Module] = []
        for inputs, outputs in zip(sizes, hidden, strict=False):
            layers += [th.nn.Linear(inputs, outputs), th.nn.ReLU()]
        self.layers = th.nn.Sequential(*layers)
        self._bfloat16 = precision == "bfloat16"

    def forward(self, observations: th.Tensor) -> th.Tensor:
        inputs = observations[..., self._chosen].flatten(1)
        if self._flat:
            inputs = th.cat([inputs, observations[:, 0, 0, self._flat] * FLAT_WEIGHT], dim=1)
        with th.autocast(inputs.device.type, th.bfloat16, enabled=self._bfloat16):
            features: th.Tensor = self.layers(inputs)
        return features.float()

    def as_layers(self) -> list[tuple[Array, Array]]:
        """The layers for `boardenvs.agents.policy_from_sb3`: weights (inputs, outputs), biases."""
        linear = [module for module in self.layers if isinstance(module, th.nn.Linear)]
        layers = [(_numbers(module.weight.T), _numbers(module.bias)) for module in linear]
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


def _numbers(values: th.Tensor) -> Array:
    found: Array = values.detach().cpu().float().numpy()
    return found


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


class MaskedChoice(MaskableCategoricalDistribution):
    """What sb3-contrib's own distribution is, faster where there are many actions.

    Torch's `exp` and `logsumexp` take twelve times as long where logits are as low as those of
    masked actions; its softmax does not. One draw by `multinomial` costs a random number for every
    action. Together that was half of a training with 513 actions.
    """

    def proba_distribution(self, action_logits: th.Tensor) -> MaskedChoice:
        self._set(action_logits.view(-1, self.action_dim))
        return self

    def apply_masking(self, masks: Any) -> None:
        legal = th.as_tensor(masks, dtype=th.bool, device=self._logits.device).reshape(
            self._logits.shape
        )
        self._set(self._logits.masked_fill(~legal, _NEVER))

    def _set(self, logits: th.Tensor) -> None:
        self._logits = logits
        self._known: dict[str, th.Tensor] = {}  # what was computed of them

    @property
    def log_probs(self) -> th.Tensor:
        """The logarithms of the probabilities, (B, A)."""
        if "log_probs" not in self._known:
            self._known["log_probs"] = log_softmax(self._logits, dim=1)
        return self._known["log_probs"]

    @property
    def probs(self) -> th.Tensor:
        """The probabilities, (B, A)."""
        if "probs" not in self._known:
            self._known["probs"] = softmax(self._logits, dim=1)
        return self._known["probs"]

    def log_prob(self, actions: th.Tensor) -> th.Tensor:
        return self.log_probs.gather(1, actions.view(-1, 1)).squeeze(1)

    def entropy(self) -> th.Tensor:
        return -(self.probs * self.log_probs).sum(dim=1)

    def sample(self) -> th.Tensor:
        """The first action at which the sum of probabilities reaches a random height."""
        reached = self.probs.cumsum(dim=1)
        chance = th.rand(len(reached), 1, device=reached.device)
        height = (1 - chance) * reached[:, -1:]  # above 0, and never too high
        return (reached < height).sum(dim=1)

    def mode(self) -> th.Tensor:
        return self._logits.argmax(dim=1)


class MaskedPolicy(MaskableActorCriticPolicy):
    """sb3-contrib's policy with `MaskedChoice`."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        assert isinstance(self.action_space, spaces.Discrete)
        self.action_dist = MaskedChoice(int(self.action_space.n))
