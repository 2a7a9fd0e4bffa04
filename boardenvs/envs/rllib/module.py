"""The network that RLlib trains: layers that policy and value share, and masked actions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch as th
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
from ray.rllib.core.rl_module.torch import TorchRLModule

from boardenvs.agents.policy import Policy
from boardenvs.agents.trunk import NEVER, BoardTrunk, as_layer
from boardenvs.envs.rllib.vector import ACTION_MASK, OBSERVATIONS
from boardenvs.game.contract import Game

# Gains of the orthogonal weights that training begins with, as in PPO's usual recipe.
_HIDDEN_GAIN, _POLICY_GAIN, _VALUE_GAIN = 2**0.5, 0.01, 1.0


class BoardModule(TorchRLModule, ValueFunctionAPI):
    """A shared `BoardTrunk`, one linear layer for the actions and one for the value.

    Illegal actions have probability 0. `model_config` has "hidden" (widths of the layers, by
    default 128 and 128), "flat" and "precision", those of `BoardTrunk`.
    """

    def setup(self) -> None:
        config = self.model_config
        hidden = tuple(config.get("hidden", (128, 128)))
        shape = self.observation_space[OBSERVATIONS].shape
        self.trunk = BoardTrunk(
            shape, hidden, tuple(config.get("flat", ())), config.get("precision", "float32")
        )
        self.policy_head = th.nn.Linear(hidden[-1], int(self.action_space.n))
        self.value_head = th.nn.Linear(hidden[-1], 1)
        linear = [layer for layer in self.trunk if isinstance(layer, th.nn.Linear)]
        gains = [_HIDDEN_GAIN] * len(linear) + [_POLICY_GAIN, _VALUE_GAIN]
        for layer, gain in zip([*linear, self.policy_head, self.value_head], gains, strict=True):
            th.nn.init.orthogonal_(layer.weight, gain)
            th.nn.init.zeros_(layer.bias)

    def _forward(self, batch: Mapping[str, Any], **kwargs: Any) -> dict[str, th.Tensor]:
        observed = batch[Columns.OBS]
        embeddings = self.trunk(observed[OBSERVATIONS])
        logits = self.policy_head(embeddings).masked_fill(observed[ACTION_MASK] == 0, NEVER)
        return {Columns.ACTION_DIST_INPUTS: logits, Columns.EMBEDDINGS: embeddings}

    def compute_values(self, batch: Mapping[str, Any], embeddings: Any = None) -> th.Tensor:
        """The value to the side that sees each board, (B,) float32."""
        if embeddings is None:
            embeddings = self.trunk(batch[Columns.OBS][OBSERVATIONS])
        values: th.Tensor = self.value_head(embeddings)
        return values.squeeze(-1)

    def as_policy(self, game: Game, notes: Mapping[str, Any] | None = None) -> Policy:
        """A copy of what has been learnt, which plays without torch and Ray."""
        return Policy(
            game,
            tuple(self.trunk.as_layers()),
            as_layer(self.policy_head),
            as_layer(self.value_head),
            dict(notes or {}),
        )
