"""What was learnt as a policy that plays without torch; see `boardenvs.agents.policy`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch as th
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy

from boardenvs.agents.policy import Layer, Policy
from boardenvs.game import Game


def export_policy(
    policy: MaskableActorCriticPolicy, game: Game, notes: Mapping[str, Any] | None = None
) -> Policy:
    """A copy of the network of `training.model`; `notes` are JSON values to keep in its file."""
    linear = [m for m in policy.features_extractor.modules() if isinstance(m, th.nn.Linear)]
    hidden = [_layer(module) for module in linear]
    hidden[0] = _planes_first(hidden[0], game.observation_shape[2])
    return Policy(
        game, tuple(hidden), _layer(policy.action_net), _layer(policy.value_net), dict(notes or {})
    )


def _layer(module: th.nn.Module) -> Layer:
    assert isinstance(module, th.nn.Linear)
    return module.weight.detach().numpy().T.copy(), module.bias.detach().numpy().copy()


def _planes_first(layer: Layer, planes: int) -> Layer:
    """The layer for inputs plane by plane, of one for inputs square by square."""
    weights, biases = layer
    by_square = weights.reshape(-1, planes, len(biases))
    return np.ascontiguousarray(by_square.transpose(1, 0, 2)).reshape(weights.shape), biases
