"""What was learnt as a policy that plays without torch; see `boardenvs.agents.policy`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch as th
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy

from boardenvs.agents.policy import Layer, Policy
from boardenvs.game.contract import Game
from training.network import Trunk


def export_policy(
    policy: MaskableActorCriticPolicy, game: Game, notes: Mapping[str, Any] | None = None
) -> Policy:
    """A copy of the network of `training.model`; `notes` are JSON values to keep in its file."""
    trunk = policy.features_extractor
    assert isinstance(trunk, Trunk)
    hidden = [_layer(m) for m in trunk.layers if isinstance(m, th.nn.Linear)]
    by_square = trunk.for_all_squares(hidden[0][0].T)
    planes_first = by_square.transpose(1, 0, 2).reshape(-1, by_square.shape[2])
    hidden[0] = np.ascontiguousarray(planes_first), hidden[0][1]
    return Policy(
        game, tuple(hidden), _layer(policy.action_net), _layer(policy.value_net), dict(notes or {})
    )


def _layer(module: th.nn.Module) -> Layer:
    assert isinstance(module, th.nn.Linear)
    return module.weight.detach().numpy().T.copy(), module.bias.detach().numpy().copy()
