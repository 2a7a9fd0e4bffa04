"""PPO's loss for masked actions, with the metrics that `training.ppo` has too."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import torch as th
from ray.rllib.algorithms.ppo.torch.ppo_torch_learner import PPOTorchLearner
from ray.rllib.core import DEFAULT_MODULE_ID
from ray.rllib.core.columns import Columns
from ray.rllib.evaluation.postprocessing import Postprocessing

from boardenvs.envs.rllib.runner import CPU_SECONDS

# The mean of each over an update's minibatches is in the learner's results.
METRICS = ("policy_loss", "value_loss", "entropy", "approx_kl", "clip_fraction")
MINIBATCHES = "minibatches"


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
        module = self.module[module_id].unwrapped()
        values = module.compute_values(batch, fwd_out[Columns.EMBEDDINGS])
        value_loss = th.nn.functional.mse_loss(values, batch[Postprocessing.VALUE_TARGETS])
        with th.no_grad():
            kl = (ratio - 1 - log_ratio).mean()
            moved = ((ratio - 1).abs() > clip).float().mean()
            self._log(module_id, th.stack([policy_loss, value_loss, entropy, kl, moved]))
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

    def _log(self, module_id: str, metrics: th.Tensor) -> None:
        for name, value in zip(METRICS, metrics.tolist(), strict=True):
            self.metrics.log_value((module_id, name), value, reduce="mean")
        self.metrics.log_value((module_id, MINIBATCHES), 1, reduce="sum")
