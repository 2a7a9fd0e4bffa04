"""RLlib's PPO on whole batches of boards, in self-play, against opponents and earlier selves.

    config = (
        BoardPPOConfig()
        .boards("othello", [BoardGroup(192), BoardGroup(64, "greedy")], opening_plies=(0, 30))
        .env_runners(num_env_runners=2)
        .training(lr=1e-3, lambda_=0.9, entropy_coeff=0.05, minibatch_size=1024, num_epochs=2)
    )
    algorithm = config.build_algo()

**Never `gamma=-1`.** Self-play wants the next state's value to count against the mover, which
other libraries express by gamma -1. RLlib (2.60) marks deprecated settings by -1: a config loses
every setting that equals it when it is copied into an Algorithm, so that PPO learns with its
default of .99, and without a word. `BoardPPOConfig` refuses it; the sign comes from each board.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import ray
from ray.rllib.algorithms.ppo import PPO, PPOConfig
from ray.rllib.core import DEFAULT_MODULE_ID
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.evaluation.postprocessing import Postprocessing
from ray.rllib.execution.rollout_ops import synchronous_parallel_sample
from ray.rllib.policy.sample_batch import MultiAgentBatch, SampleBatch
from ray.rllib.utils.metrics import (
    ENV_RUNNER_RESULTS,
    LEARNER_RESULTS,
    NUM_ENV_STEPS_SAMPLED_LIFETIME,
)

from boardenvs import games
from boardenvs.agents.network import flat_planes
from boardenvs.agents.policy import Policy
from boardenvs.agents.pool import OpponentPool
from boardenvs.envs.batch import BoardGroup
from boardenvs.envs.rllib.environments import MaskedVectorEnv
from boardenvs.envs.rllib.runner import BoardEnvRunner, BoardLearner, BoardModule
from boardenvs.game.contract import Game

# RLlib waits so long for a sign of runners that have failed, and so long before an error of one
# makes it start anew: its own 30 and 60 s are for environments that are slow to make.
_PROBE_SECONDS, _RESTART_SECONDS = 1.0, 2.0

# RLlib asks before each update; where a node is gone for good, that would be most of the time.
_PROBE_EVERY = 10.0

_SMALLEST_DEVIATION = 1e-4  # of advantages, which are divided by it: RLlib's own bound

EXPLAINED_VARIANCE = "explained_variance"  # of the values before the update


class NoRunnersError(ConnectionError):
    """No env runner has sampled anything: there is nothing to learn from."""


class BoardPPOConfig(PPOConfig):
    """The config of a `BoardPPO`; `boards` says what is played.

    `gamma` must be above 0: it is what the next state's value counts, whoever is to move there.
    Its loss has no term for KL divergence.
    """

    def __init__(self, algo_class: Any = None) -> None:
        super().__init__(algo_class=algo_class or BoardPPO)
        self.gamma = 1.0
        self.use_kl_loss = False
        self.model_options: dict[str, Any] = {"hidden": (128, 128), "precision": "float32"}
        self.league_options: dict[str, Any] | None = None
        self.env_runners(
            env_runner_cls=BoardEnvRunner,
            num_env_runners=0,
            rollout_fragment_length=32,
        )
        self.fault_tolerance(
            restart_failed_env_runners=True,
            delay_between_env_runner_restarts_s=_RESTART_SECONDS,
            env_runner_health_probe_timeout_s=_PROBE_SECONDS,
        )

    def boards(
        self, game: str | Game, groups: int | Sequence[BoardGroup], **options: Any
    ) -> BoardPPOConfig:
        """What each env runner plays: so many boards of self-play, or these groups.

        `options` are further arguments of `Batch`.
        """
        made = games.make(game)
        listed = [BoardGroup(groups)] if isinstance(groups, int) else list(groups)
        # RLlib wants the class of an environment; the runner makes its boards by itself.
        self.environment(MaskedVectorEnv, env_config={"game": made, "groups": listed, **options})
        self.env_runners(num_envs_per_env_runner=sum(group.boards for group in listed))
        self.model_options |= {"flat": flat_planes(made)}
        return self

    def network(self, hidden: Sequence[int], precision: str = "float32") -> BoardPPOConfig:
        """The widths of the layers that policy and value share, and their precision."""
        self.model_options |= {"hidden": tuple(hidden), "precision": precision}
        return self

    def league(
        self,
        folder: str | Path,
        *,
        every: int = 250_000,
        size: int = 20,
        name: str = "pool",
        notes: Mapping[str, Any] | None = None,
    ) -> BoardPPOConfig:
        """Earlier selves as opponents: a snapshot of the policy joins the pool in `folder` every so
        many steps, and after the first update; the last `size` of them play on the groups of boards
        called `name`, drawn anew for each update. `notes` are kept in the snapshots' files.

        What RLlib keeps in memory is lost when a run is restored from a checkpoint: there the files
        up to its steps are read again.
        """
        given = {"folder": Path(folder), "every": every, "size": size, "name": name}
        self.league_options = {**given, "notes": dict(notes or {})}
        return self

    def get_state(self) -> dict[str, Any]:
        """What copies of the config are made of; here RLlib drops settings of -1."""
        if self.gamma == -1:
            raise ValueError(
                "gamma is -1: RLlib takes that for a setting that was not given, and would learn "
                "with its default instead. Leave gamma at 1: the value of the other side's state "
                "counts with -1 already, by the factor that each board has"
            )
        if not 0 < self.gamma <= 1:
            raise ValueError(f"gamma is {self.gamma}: it must be above 0 and at most 1")
        state: dict[str, Any] = super().get_state()
        return state

    def get_default_rl_module_spec(self) -> RLModuleSpec:
        return RLModuleSpec(module_class=BoardModule, model_config=self.model_options)

    def get_default_learner_class(self) -> type[BoardLearner]:
        return BoardLearner


class BoardPPO(PPO):
    """RLlib's PPO on what `BoardEnvRunner`s sample, and a league where the config has one.

    Where RLlib would go on without a sample, NoRunnersError says so. `problems` says what was
    wrong with files of the league's pool.
    """

    _probed = -_PROBE_EVERY  # when runners that have failed were last asked for

    @classmethod
    def get_default_config(cls) -> BoardPPOConfig:
        return BoardPPOConfig()

    def setup(self, config: Any) -> None:
        self.problems: list[str] = []
        super().setup(config)
        self.pool: OpponentPool | None = None
        if (league := self.config.league_options) is not None:
            self.pool = OpponentPool(league["folder"], league["size"], self.config.seed or 0)

    @property
    def steps(self) -> int:
        """The actions of the learner so far, in all games together."""
        key = (ENV_RUNNER_RESULTS, NUM_ENV_STEPS_SAMPLED_LIFETIME)
        return int(self.metrics.peek(key, default=0))

    def as_policy(self, notes: Mapping[str, Any] | None = None) -> Policy:
        """A copy of what the learner knows, which plays without torch and Ray."""
        module = self.get_module()
        module.set_state(self.learner_group.get_weights()[DEFAULT_MODULE_ID])
        policy: Policy = module.network.as_policy(self.config.env_config["game"], notes)
        return policy

    # ---- updates ---------------------------------------------------------------------------------

    def training_step(self) -> None:
        config, before = self.config, self.steps
        samples, results = synchronous_parallel_sample(
            worker_set=self.env_runner_group,
            max_env_steps=config.total_train_batch_size,
            sample_timeout_s=config.sample_timeout_s,
            concat=False,
            _uses_new_env_runners=True,
            _return_metrics=True,
        )
        if not samples:
            group = self.env_runner_group
            raise NoRunnersError(
                f"no env runner has played: of {group.num_remote_env_runners()} "
                f"{group.num_healthy_remote_env_runners()} are healthy, after "
                f"{group.num_remote_worker_restarts()} restarts. Their last words are in Ray's "
                "logs (`ray logs cluster`)"
            )
        self.metrics.aggregate(results, key=ENV_RUNNER_RESULTS)
        learnt = self.learner_group.update(
            batch=self._batch(samples),
            timesteps={NUM_ENV_STEPS_SAMPLED_LIFETIME: self.steps},
            num_epochs=config.num_epochs,
            minibatch_size=config.minibatch_size,
            shuffle_batch_per_epoch=config.shuffle_batch_per_epoch,
        )
        self.metrics.aggregate(learnt, key=LEARNER_RESULTS)
        self.env_runner_group.sync_weights(
            from_worker_or_learner_group=self.learner_group,
            policies=[DEFAULT_MODULE_ID],
            inference_only=True,
        )
        self._grow_pool(before)
        self._place_opponents()

    def _batch(self, samples: Sequence[Mapping[str, Any]]) -> MultiAgentBatch:
        """What all runners have sampled, shuffled, with standardised advantages; learners get equal
        shares of it.
        """
        size = sum(len(sample[Columns.ACTIONS]) for sample in samples)
        size -= size % max(1, self.config.num_learners)
        order = np.random.default_rng([self.config.seed or 0, self.steps]).permutation(size)
        observed = [sample[Columns.OBS] for sample in samples]
        columns: dict[str, Any] = {
            name: np.concatenate([sample[name] for sample in samples])[order]
            for name in samples[0]
            if name != Columns.OBS
        }
        columns[Columns.OBS] = {
            name: np.concatenate([seen[name] for seen in observed])[order] for name in observed[0]
        }
        gained, targets = columns[Postprocessing.ADVANTAGES], columns[Postprocessing.VALUE_TARGETS]
        variance = float(targets.var())
        explained = 1 - float(gained.var()) / variance if variance else float("nan")
        key = (LEARNER_RESULTS, DEFAULT_MODULE_ID, EXPLAINED_VARIANCE)
        self.metrics.log_value(key, explained, window=1)
        deviation = max(_SMALLEST_DEVIATION, gained.std())
        columns[Postprocessing.ADVANTAGES] = (gained - gained.mean()) / deviation
        return MultiAgentBatch({DEFAULT_MODULE_ID: SampleBatch(columns)}, size)

    def restore_env_runners(self, env_runner_group: Any) -> list[int]:
        """Take in runners that have been started again, which have begun with the opponents of the
        config; asked for every few seconds.
        """
        healthy = env_runner_group.num_healthy_remote_env_runners()
        now = time.monotonic()
        if healthy < env_runner_group.num_remote_env_runners():
            if now < self._probed + _PROBE_EVERY:
                return []
            self._probed = now
        restored: list[int] = super().restore_env_runners(env_runner_group)
        if restored:
            self._place_opponents(restored)
        return restored

    # ---- the league ------------------------------------------------------------------------------

    def restore_from_path(self, path: Any, *arguments: Any, **named: Any) -> None:
        super().restore_from_path(path, *arguments, **named)
        self.restore_pool()

    def restore_pool(self) -> None:
        """Go on from the pool's files, up to the present steps."""
        if self.pool is not None:
            self.problems = self.pool.read(self.steps)
            self._place_opponents()

    @property
    def _seats(self) -> int:
        """How many groups of boards of the pool a runner has."""
        groups, league = self.config.env_config["groups"], self.config.league_options
        return sum(group.name == league["name"] for group in groups) if league else 0

    def _grow_pool(self, before: int) -> None:
        """A new opponent where it is time for one, since there were so many steps."""
        league, steps = self.config.league_options, self.steps
        if self.pool is None or not self._seats:
            return
        if not len(self.pool) or steps // league["every"] > before // league["every"]:
            try:
                self.pool.add(self.as_policy({**league["notes"], "steps": steps}), steps)
            except OSError as error:
                self.problems.append(f"opponent {steps} could not be written ({error})")

    def _place_opponents(self, indices: list[int] | None = None) -> None:
        """Others of the pool on the boards of these runners, by default of all."""
        if self.pool is None or not len(self.pool) or not self._seats:
            return
        name = self.config.league_options["name"]
        drawn = ray.put(self.pool.draw(self._seats))  # once for all runners of a node

        def place(runner: Any) -> None:
            if runner.env is not None:
                runner.env.set_opponents(name, ray.get(drawn))

        self.env_runner_group.foreach_env_runner(
            place, remote_worker_ids=indices, local_env_runner=indices is None
        )
