"""The network that learns: shared layers, and a masked choice of an action at the price of one."""

from __future__ import annotations

from typing import Any

import torch as th
from gymnasium import spaces
from sb3_contrib.common.maskable.distributions import MaskableCategoricalDistribution
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch.nn.functional import log_softmax, softmax

from boardenvs.agents import trunk
from boardenvs.agents.policy import Layer


class Trunk(BaseFeaturesExtractor):
    """The layers of `boardenvs.agents.trunk` as SB3 takes them: shared, they are half the work of
    one stack for the policy and one for the value.
    """

    def __init__(
        self,
        observation_space: spaces.Box,
        hidden: tuple[int, ...],
        flat: tuple[int, ...] = (),
        precision: str = "float32",
    ) -> None:
        super().__init__(observation_space, hidden[-1])
        self.layers = trunk.BoardTrunk(observation_space.shape, hidden, flat, precision)

    def forward(self, observations: th.Tensor) -> th.Tensor:
        features: th.Tensor = self.layers(observations)
        return features

    def as_layers(self) -> list[Layer]:
        """The layers for `boardenvs.agents.policy_from_sb3`."""
        return self.layers.as_layers()


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
        self._set(self._logits.masked_fill(~legal, trunk.NEVER))

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
        return trunk.draw(self.probs)

    def mode(self) -> th.Tensor:
        return self._logits.argmax(dim=1)


class MaskedPolicy(MaskableActorCriticPolicy):
    """sb3-contrib's policy with `MaskedChoice`."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        assert isinstance(self.action_space, spaces.Discrete)
        self.action_dist = MaskedChoice(int(self.action_space.n))
