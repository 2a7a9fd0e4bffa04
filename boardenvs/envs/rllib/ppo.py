"""RLlib's PPO on whole batches of boards, in self-play and against opponents.

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
default of .99, and without a word. `BoardPPOConfig` refuses it; the sign comes from each episode.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Mapping, Sequence
from typing import Any

from ray.rllib.algorithms.ppo import PPO, PPOConfig
from ray.rllib.core import DEFAULT_MODULE_ID
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.utils.metrics import ENV_RUNNER_RESULTS, NUM_ENV_STEPS_SAMPLED_LIFETIME

from boardenvs import games
from boardenvs.agents.network import flat_planes
from boardenvs.agents.policy import Policy
from boardenvs.envs.batch import BoardGroup
from boardenvs.envs.rllib.advantages import BoardAdvantages
from boardenvs.envs.rllib.learner import BoardLearner
from boardenvs.envs.rllib.module import BoardModule
from boardenvs.envs.rllib.runner import BoardEnvRunner
from boardenvs.envs.rllib.vector import MaskedVectorEnv
from boardenvs.game.contract import Game

# RLlib waits so long for a sign of runners that have failed, and so long before an error of one
# makes it start anew: its own 30 and 60 s are for environments that are slow to make.
_PROBE_SECONDS, _RESTART_SECONDS = 1.0, 2.0

# RLlib asks before each update; where a node is gone for good, that would be most of the time.
_PROBE_EVERY = 10.0


class NoRunnersError(ConnectionError):
    """No env runner has sampled anything: there is nothing to learn from."""


class BoardPPOConfig(PPOConfig):
    """The config of a `BoardPPO`; `boards` says what is played.

    `gamma` must be above 0: it is what the next state's value counts, whoever is to move there.
    ValueError for what this PPO does not do.
    """

    def __init__(self, algo_class: Any = None) -> None:
        super().__init__(algo_class=algo_class or BoardPPO)
        self.gamma = 1.0
        self.use_kl_loss = False
        self.model_options: dict[str, Any] = {}
        self.env_runners(
            env_runner_cls=BoardEnvRunner,
            num_env_runners=0,
            rollout_fragment_length=32,
        )
        self.learners(add_default_connectors_to_learner_pipeline=False)
        self.fault_tolerance(
            restart_failed_env_runners=True,
            delay_between_env_runner_restarts_s=_RESTART_SECONDS,
            env_runner_health_probe_timeout_s=_PROBE_SECONDS,
        )

    def boards(
        self, game: str | Game, groups: int | Sequence[BoardGroup], **options: Any
    ) -> BoardPPOConfig:
        """What each env runner plays: so many boards of self-play, or these groups.

        `options` are `opening_plies`, `starts`, `symmetries` and `threads` of `Batch`.
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

    def training(self, **settings: Any) -> BoardPPOConfig:
        """See `PPOConfig.training`."""
        super().training(**settings)
        self._check_gamma()
        return self

    def get_state(self) -> dict[str, Any]:
        self._check_gamma()  # here RLlib drops settings of -1
        state: dict[str, Any] = super().get_state()
        return state

    def validate(self) -> None:
        if self.use_kl_loss:
            raise ValueError("use_kl_loss is True: BoardPPO's loss has no such term")
        super().validate()

    def get_default_rl_module_spec(self) -> RLModuleSpec:
        return RLModuleSpec(module_class=BoardModule, model_config=self.model_options)

    def get_default_learner_class(self) -> type[BoardLearner]:
        return BoardLearner

    def build_learner_connector(self, *spaces: Any, **options: Any) -> Any:
        make = functools.partial(BoardAdvantages, gamma=self.gamma, lambda_=self.lambda_)
        self._learner_connector = make
        return super().build_learner_connector(*spaces, **options)

    def _check_gamma(self) -> None:
        if self.gamma == -1:
            raise ValueError(
                "gamma is -1: RLlib takes that for a setting that was not given, and would learn "
                "with its default instead. Leave gamma at 1: the value of the other side's state "
                "counts with -1 already, by the factor that each episode brings"
            )
        if not 0 < self.gamma <= 1:
            raise ValueError(f"gamma is {self.gamma}: it must be above 0 and at most 1")


class BoardPPO(PPO):
    """RLlib's PPO; where it would go on without a sample, NoRunnersError says so."""

    @classmethod
    def get_default_config(cls) -> BoardPPOConfig:
        return BoardPPOConfig()

    _probed = -_PROBE_EVERY  # when runners that have failed were last asked for

    def restore_env_runners(self, env_runner_group: Any) -> list[int]:
        """Take in runners that have been started again; asked for every few seconds."""
        healthy = env_runner_group.num_healthy_remote_env_runners()
        now = time.monotonic()
        if healthy < env_runner_group.num_remote_env_runners():
            if now < self._probed + _PROBE_EVERY:
                return []
            self._probed = now
        restored: list[int] = super().restore_env_runners(env_runner_group)
        return restored

    def training_step(self) -> None:
        before = self.steps
        super().training_step()
        if self.steps == before:
            group = self.env_runner_group
            raise NoRunnersError(
                f"no env runner has played: of {group.num_remote_env_runners()} "
                f"{group.num_healthy_remote_env_runners()} are healthy, after "
                f"{group.num_remote_worker_restarts()} restarts. Their last words are in Ray's "
                "logs (`ray logs cluster`)"
            )

    def restore_from_path(self, path: Any, *arguments: Any, **named: Any) -> None:
        super().restore_from_path(path, *arguments, **named)
        # RLlib does so for Tune's `restore` alone, and forgets it for `from_checkpoint`.
        for callback in self.callbacks:
            callback.on_checkpoint_loaded(algorithm=self)

    def as_policy(self, notes: Mapping[str, Any] | None = None) -> Policy:
        """A copy of what the learner knows, which plays without torch and Ray."""
        module = self.get_module()
        module.set_state(self.learner_group.get_weights()[DEFAULT_MODULE_ID])
        policy: Policy = module.network.as_policy(self.config.env_config["game"], notes)
        return policy

    @property
    def steps(self) -> int:
        """The actions of the learner so far, in all games together."""
        key = (ENV_RUNNER_RESULTS, NUM_ENV_STEPS_SAMPLED_LIFETIME)
        return int(self.metrics.peek(key, default=0))
