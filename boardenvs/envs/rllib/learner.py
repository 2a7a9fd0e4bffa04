"""The network that RLlib trains, with masked actions, and PPO's loss for it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import torch as th
from ray.rllib.algorithms.ppo.torch.ppo_torch_learner import PPOTorchLearner
from ray.rllib.core import DEFAULT_MODULE_ID
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
from ray.rllib.core.rl_module.torch import TorchRLModule
from ray.rllib.evaluation.postprocessing import Postprocessing

from boardenvs.agents.network import BoardNetwork
from boardenvs.envs.rllib.environments import ACTION_MASK, OBSERVATIONS
from boardenvs.envs.rllib.runner import CPU_SECONDS

# The mean of each over an update's minibatches is in the learner's results.
METRICS = ("policy_loss", "value_loss", "entropy", "approx_kl", "clip_fraction")
MINIBATCHES = "minibatches"


class BoardModule(TorchRLModule, ValueFunctionAPI):
    """A `BoardNetwork`, in `network`. Illegal actions have probability 0.

    `model_config` has "hidden" (widths of the layers), "flat" and "precision", those of
    `BoardNetwork`.
    """

    def setup(self) -> None:
        shape, config = self.observation_space[OBSERVATIONS].shape, self.model_config
        options = {name: config[name] for name in ("hidden", "flat", "precision")}  # not RLlib's
        self.network = BoardNetwork(shape, int(self.action_space.n), **options)
        self.network.begin_orthogonal()

    def _forward(self, batch: Mapping[str, Any], **kwargs: Any) -> dict[str, th.Tensor]:
        observed = batch[Columns.OBS]
        logits, values = self.network(observed[OBSERVATIONS], observed[ACTION_MASK] != 0)
        return {Columns.ACTION_DIST_INPUTS: logits, Columns.VF_PREDS: values}

    def compute_values(self, batch: Mapping[str, Any], embeddings: Any = None) -> th.Tensor:
        """The value to the side that sees each board, (B,) float32."""
        return self._forward(batch)[Columns.VF_PREDS]


class BoardLearner(PPOTorchLearner):
    """RLlib's PPO with its loss computed once for each action, by log_softmax.

    RLlib's own makes distributions of the old and the new logits, which must therefore be sent and
    kept, 2 KB a step where there are 513 actions, and takes logarithms of sums of exponentials,
    which torch is slow at where actions are masked.
    """

    _cpu_time = 0.0  # of a learner with a process of its own, when it was last logged

    def compute_loss_for_module(
        self,
        *,
        module_id: str,
        config: Any,
        batch: Mapping[str, Any],
        fwd_out: Mapping[str, th.Tensor],
    ) -> th.Tensor:
        logits = fwd_out[Columns.ACTION_DIST_INPUTS]
        log_probs = th.log_softmax(logits, dim=1)
        logp = log_probs.gather(1, batch[Columns.ACTIONS][:, None])[:, 0]
        entropy = -(th.softmax(logits, dim=1) * log_probs).sum(dim=1).mean()
        gained, clip = batch[Postprocessing.ADVANTAGES], config.clip_param
        log_ratio = logp - batch[Columns.ACTION_LOGP]
        ratio = log_ratio.exp()
        clipped = ratio.clamp(1 - clip, 1 + clip)
        policy_loss = -th.min(gained * ratio, gained * clipped).mean()
        targets = batch[Postprocessing.VALUE_TARGETS]
        value_loss = th.nn.functional.mse_loss(fwd_out[Columns.VF_PREDS], targets)
        with th.no_grad():
            kl = (ratio - 1 - log_ratio).mean()
            moved = ((ratio - 1).abs() > clip).float().mean()
            found = th.stack([policy_loss, value_loss, entropy, kl, moved]).tolist()
        for name, value in zip(METRICS, found, strict=True):
            self.metrics.log_value((module_id, name), value, reduce="mean")
        self.metrics.log_value((module_id, MINIBATCHES), 1, reduce="sum")
        bonus = self.entropy_coeff_schedulers_per_module[module_id].get_current_value()
        loss: th.Tensor = policy_loss + config.vf_loss_coeff * value_loss - bonus * entropy
        return loss

    def after_gradient_based_update(self, *, timesteps: dict[str, Any]) -> None:
        super().after_gradient_based_update(timesteps=timesteps)
        if self.config.num_learners:
            now = time.process_time()
            key = (DEFAULT_MODULE_ID, CPU_SECONDS)
            self.metrics.log_value(key, now - self._cpu_time, reduce="sum")
            self._cpu_time = now
