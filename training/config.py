"""The settings of a training by PPO."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from pydantic import Field, field_validator, model_validator

from training.callbacks import check_callback
from training.device import find_device
from training.settings import (
    Above0,
    NotNegative,
    Positive,
    RunSettings,
    Section,
    Share,
    Widths,
    between,
)


class PPOSettings(Section):
    hidden: Widths = (512, 512)
    steps_per_update: Positive = 64
    batch_size: Positive = 2048
    epochs: Positive = 2
    learning_rate: Above0 = 1e-3
    final_learning_rate: Above0 = 1e-3
    gae_lambda: Share = 0.95
    clip_range: Above0 = 0.2
    target_kl: Above0 | None = None
    entropy_bonus: NotNegative = 0.01
    final_entropy_bonus: NotNegative | None = None
    value_weight: NotNegative = 0.5
    max_gradient: Above0 = 0.5

    def entropy_bonus_at(self, done: float) -> float:
        """The entropy bonus after this share of the run, 0 to 1."""
        last = self.final_entropy_bonus
        return between(self.entropy_bonus, self.entropy_bonus if last is None else last, done)


class PPORunSettings(RunSettings):
    """The settings of every training by PPO."""

    hidden_setting: ClassVar = "ppo.hidden"

    ppo: PPOSettings = PPOSettings()

    def check_machine(self) -> None:
        find_device(self.device)


class Config(PPORunSettings):
    """All settings of a run; `configs/othello.yaml` says what each means."""

    packages: ClassVar = (*PPORunSettings.packages, "stable-baselines3", "sb3-contrib")

    callbacks: dict[str, dict[str, Any]] = Field(default_factory=dict)

    @field_validator("callbacks")
    @classmethod
    def _callable(cls, callbacks: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        for target, parameters in callbacks.items():
            try:
                check_callback(target, parameters)
            except ValueError as error:
                raise ValueError(f"callback {target}: {error}") from None
        return callbacks

    @model_validator(mode="after")
    def _divisible(self) -> Self:
        rollout = self.self_play.boards * self.ppo.steps_per_update
        if rollout % self.ppo.batch_size:
            raise ValueError(
                f"ppo.batch_size is {self.ppo.batch_size}: it must divide self_play.boards * "
                f"ppo.steps_per_update = {rollout}, the steps of an update"
            )
        return self
