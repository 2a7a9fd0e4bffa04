"""The env runner that steps all its boards at once, in self-play and against opponents; and what
learns from it: a network with masked actions, and PPO's loss for it.

RLlib's own makes a Python object a board and step: it spends most of its time there. This one has
the boards of `boardenvs.envs.batch`, and one network call and one call of the rules a step; what
it has seen travels as a dozen arrays.

It computes the returns too, as games of turns want them. RLlib takes one discount for all. In
self-play the next state is the other side's, and what is good for it is bad for the one who acted:
its value must count with the factor -1. Against an opponent, whose plies are played inside the
step, the next state is the learner's own, as where a turn goes on: the factor is +1. Here each step
has its factor.
(RLlib does not understand `gamma=-1`: see `boardenvs.envs.rllib.ppo`.)
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch as th
from gymnasium import spaces
from gymnasium.vector.utils import batch_space
from ray.rllib.algorithms.ppo.torch.ppo_torch_learner import PPOTorchLearner
from ray.rllib.core import DEFAULT_MODULE_ID
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
from ray.rllib.core.rl_module.torch import TorchRLModule
from ray.rllib.env.single_agent_env_runner import SingleAgentEnvRunner
from ray.rllib.evaluation.postprocessing import Postprocessing

from boardenvs.agents.network import BoardNetwork, draw
from boardenvs.envs.advantages import advantages
from boardenvs.envs.batch import Batch
from boardenvs.envs.core import observation_and_mask
from boardenvs.envs.rllib.environments import ACTION_MASK, OBSERVATIONS
from boardenvs.game.state import Array

# Under which RLlib's results have what became of the games, by the groups' names.
GAMES = "games"

# The CPU time of a process of RLlib since it was asked last, its start included.
CPU_SECONDS = "cpu_seconds"


class _Boards(Batch):
    """Boards with the spaces that RLlib asks an environment for."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.unwrapped = self
        seen = observation_and_mask(self.game)
        self.single_observation_space = spaces.Dict(
            {OBSERVATIONS: seen["observation"], ACTION_MASK: seen["action_mask"]}
        )
        self.single_action_space = spaces.Discrete(self.game.num_actions)
        self.observation_space = batch_space(self.single_observation_space, self.size)
        self.action_space = batch_space(self.single_action_space, self.size)

    def seen_by_network(self) -> dict[str, Array]:
        """What the side to move, or the learner, sees on every board."""
        planes, mask = self.observe()
        return {OBSERVATIONS: planes, ACTION_MASK: mask.view(np.int8)}


class BoardEnvRunner(SingleAgentEnvRunner):
    """Samples `rollout_fragment_length` steps on all its boards.

    `env_config` has "game" (a Game) and "groups" (of `BoardGroup`, their boards being those of one
    runner), and may have the other arguments of `Batch`. Opponents think here.

    A sample is the columns of a batch that PPO learns from, with advantages and value targets, the
    steps of all boards one after the other, (T * B, ...). A game that ends is replaced within the
    step; one that is cut off by its cap on plies is paid out by its position, and counts as ended.
    Connectors and callbacks of episodes and steps are not called.
    """

    env: Any
    _cpu_time = 0.0  # when it was last logged

    def make_env(self) -> None:
        if self.env is not None:
            self.env.close()
        self.env = _Boards(**self.config.env_config)
        self.num_envs = self.env.size
        self._needs_initial_reset = True

    def make_module(self) -> None:
        # RLlib warns of a deprecated class that it makes itself, in each runner.
        logging.getLogger("ray._common.deprecation").setLevel(logging.ERROR)
        super().make_module()

    def _sample(
        self,
        *,
        num_timesteps: int | None = None,
        num_episodes: int | None = None,
        explore: bool,
        random_actions: bool = False,
        force_reset: bool = False,
    ) -> dict[str, Any]:
        if num_timesteps is None or random_actions:
            raise NotImplementedError(
                "boards are sampled by steps and by the policy: batch_mode must be "
                '"truncate_episodes". To evaluate a policy write it to a file, '
                "save_policy(algorithm.as_policy(), PATH) of boardenvs.agents.policy_file, which "
                "plays as policy:PATH in `boardenvs match`, `arena` and boardenvs.play_match"
            )
        if force_reset or self._needs_initial_reset:
            self._restart()
        steps = -(-num_timesteps // self.num_envs)
        columns = self._play(steps, explore)
        ended = self.env.take_ended()
        played, games = steps * self.num_envs, sum(part.games for part in ended.values())
        self._log_env_steps(metric=self._metrics_num_env_steps_sampled, num_steps=played)
        self._increase_sampled_metrics(played, games)
        self.num_env_steps_sampled_lifetime += played
        for name, part in ended.items():
            for metric, value in vars(part).items():
                self.metrics.log_value((GAMES, name, metric), value, reduce="sum")
        if self.worker_index:
            now = time.process_time()
            self.metrics.log_value(CPU_SECONDS, now - self._cpu_time, reduce="sum")
            self._cpu_time = now
        return columns

    def _restart(self) -> None:
        """New games everywhere, by a seed of this runner and of how far the training is."""
        seed = None if self._seed is None else [self._seed, self.num_env_steps_sampled_lifetime]
        boards, chance = np.random.SeedSequence(seed).generate_state(2, np.uint64).tolist()
        self._generator = th.Generator(self._device).manual_seed(chance)
        self.env.seed(boards)
        self.env.restart()
        self._needs_initial_reset = False

    @th.no_grad()
    def _play(self, steps: int, explore: bool) -> dict[str, Any]:
        """So many steps on every board, as the columns of a batch."""
        boards = self.env
        seen, played = [], []
        for _ in range(steps):
            observed = boards.seen_by_network()
            logits, judged = self._evaluate(observed)
            chosen = draw(th.softmax(logits, 1), self._generator) if explore else logits.argmax(1)
            logp = th.log_softmax(logits, 1).gather(1, chosen[:, None])[:, 0].cpu().numpy()
            acted = chosen.cpu().numpy()
            result = boards.step(acted)
            over = result.terminated | result.truncated
            seen.append(observed)
            played.append((acted, logp, judged, result.rewards, over, boards.discounts))
        actions, logp, values, rewards, over, discounts = map(np.stack, zip(*played, strict=True))
        values = np.concatenate([values, self._evaluate(boards.seen_by_network())[1][None]])
        factors = self.config.gamma * discounts.astype(np.float32)
        rewards = rewards.astype(np.float32)
        gained = advantages(rewards, over, values, factors, self.config.lambda_)
        columns = {
            Columns.ACTIONS: actions,
            Columns.ACTION_LOGP: logp,
            Columns.VF_PREDS: values[:-1],
            Postprocessing.ADVANTAGES: gained,
            Postprocessing.VALUE_TARGETS: gained + values[:-1],
        }
        observed = {name: np.concatenate([x[name] for x in seen]) for name in seen[0]}
        return {Columns.OBS: observed} | {name: x.reshape(-1) for name, x in columns.items()}

    def _evaluate(self, observed: Mapping[str, Array]) -> tuple[th.Tensor, Array]:
        """The logits of all actions (B, A), and the values (B,)."""
        batch = {Columns.OBS: {k: th.from_numpy(x).to(self._device) for k, x in observed.items()}}
        found = self.module.forward_exploration(batch)
        return found[Columns.ACTION_DIST_INPUTS], found[Columns.VF_PREDS].cpu().numpy()


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
