"""The settings of a training with RLlib."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Self

from pydantic import Field, field_validator, model_validator

from boardenvs.envs.rllib.ppo import BoardPPOConfig
from boardenvs.utils.checks import unknown
from training.run_settings import NotNegative, PPORunSettings, Section

Count = Annotated[int, Field(ge=0)]

# Settings of RLlib that are taken from ours as they are.
COPIED = {
    "clip_param": "ppo.CLIP_RANGE",
    "grad_clip": "ppo.MAX_GRADIENT",
    "lambda_": "ppo.gae_lambda",
    "minibatch_size": "ppo.batch_size",
    "num_cpus_per_env_runner": "cluster.cpus_per_runner",
    "num_cpus_per_learner": "cluster.cpus_per_learner",
    "num_env_runners": "cluster.runners",
    "num_epochs": "ppo.EPOCHS",
    "num_gpus_per_env_runner": "cluster.gpus_per_runner",
    "num_gpus_per_learner": "cluster.gpus_per_learner",
    "num_learners": "cluster.learners",
    "rollout_fragment_length": "ppo.steps_per_update",
    "seed": "seed",
    "vf_loss_coeff": "ppo.VALUE_WEIGHT",
}
# What `rllib` may not set, and what sets it.
_SET_ELSEWHERE = {
    **COPIED,
    "entropy_coeff": "ppo.entropy_bonus",
    "env": "game",
    "env_config": "self_play",
    "lr": "ppo.learning_rate",
    "num_envs_per_env_runner": "self_play.boards",
    "train_batch_size_per_learner": "ppo.steps_per_update",
}


class ClusterSettings(Section):
    """What plays and what learns, and what each of them takes of the cluster."""

    runners: Count = 2  # 0: the process of the command plays by itself
    cpus_per_runner: NotNegative = 1
    gpus_per_runner: NotNegative = 0
    learners: Count = 0  # 0: the process of the command learns by itself
    cpus_per_learner: NotNegative = 1
    gpus_per_learner: NotNegative = 0

    @property
    def cpus(self) -> float:
        """The CPUs that runners and learners take together."""
        return self.runners * self.cpus_per_runner + self.learners * self.cpus_per_learner

    @property
    def gpus(self) -> float:
        """The GPUs that runners and learners take together."""
        return self.runners * self.gpus_per_runner + self.learners * self.gpus_per_learner


class RLlibSettings(PPORunSettings):
    """All settings of a run; `configs/rllib/othello.yaml` says what each means."""

    packages: ClassVar = (*PPORunSettings.packages, "ray")
    cluster: ClusterSettings = Field(default_factory=ClusterSettings)
    rllib: dict[str, Any] = Field(default_factory=dict)

    @property
    def steps_per_update(self) -> int:
        """The steps of an update, on the boards of all runners."""
        return max(self.cluster.runners, 1) * self.self_play.boards * self.ppo.steps_per_update

    @field_validator("rllib")
    @classmethod
    def _known(cls, given: dict[str, Any]) -> dict[str, Any]:
        """ValueError for what RLlib does not know, or what is set elsewhere."""
        config = BoardPPOConfig()
        for name in given:
            if name in _SET_ELSEWHERE:
                raise ValueError(f"{name} is set by {_SET_ELSEWHERE[name]}")
            if name.startswith("_") or not hasattr(config, name):
                known = sorted(known for known in vars(config) if not known.startswith("_"))
                raise ValueError(unknown("setting of RLlib", name, known))
        config.update_from_dict(dict(given))
        config.get_state()  # refuses gamma=-1 and says why
        return given

    @model_validator(mode="after")
    def _fits(self) -> Self:
        learners = max(self.cluster.learners, 1)
        if self.ppo.batch_size * learners > self.steps_per_update:
            raise ValueError(
                f"ppo.batch_size is {self.ppo.batch_size} for each of {learners} learners: an "
                f"update has cluster.runners * self_play.boards * ppo.steps_per_update = "
                f"{self.steps_per_update} steps"
            )
        if self.device != "cpu":
            raise ValueError(
                f"device is {self.device!r}: here cluster.gpus_per_learner and "
                "cluster.gpus_per_runner say where GPUs compute, so it must be 'cpu'"
            )
        return self
