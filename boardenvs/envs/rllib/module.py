"""The network that RLlib trains: the one of all trainers, with masked actions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch as th
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
from ray.rllib.core.rl_module.torch import TorchRLModule

from boardenvs.agents.network import BoardNetwork
from boardenvs.envs.rllib.vector import ACTION_MASK, OBSERVATIONS


class BoardModule(TorchRLModule, ValueFunctionAPI):
    """A `BoardNetwork`, in `network`. Illegal actions have probability 0.

    `model_config` has "hidden" (widths of the layers, by default 128 and 128), "flat" and
    "precision", those of `BoardNetwork`.
    """

    def setup(self) -> None:
        config = self.model_config
        self.network = BoardNetwork(
            self.observation_space[OBSERVATIONS].shape,
            int(self.action_space.n),
            config.get("hidden", (128, 128)),
            config.get("flat", ()),
            config.get("precision", "float32"),
        )
        self.network.begin_orthogonal()

    def _forward(self, batch: Mapping[str, Any], **kwargs: Any) -> dict[str, th.Tensor]:
        observed = batch[Columns.OBS]
        embeddings = self.network.features(observed[OBSERVATIONS])
        logits = self.network.logits(embeddings, observed[ACTION_MASK] != 0)
        return {Columns.ACTION_DIST_INPUTS: logits, Columns.EMBEDDINGS: embeddings}

    def compute_values(self, batch: Mapping[str, Any], embeddings: Any = None) -> th.Tensor:
        """The value to the side that sees each board, (B,) float32."""
        if embeddings is None:
            embeddings = self.network.features(batch[Columns.OBS][OBSERVATIONS])
        return self.network.values(embeddings)
