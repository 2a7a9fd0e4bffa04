"""The settings of a training by PPO, and the callbacks of Stable-Baselines3 beside it.

Callbacks are named in the settings or given in Python. They see what callbacks of SB3 see: the
model, its logger, every step. The logger gets the metrics of each update, and its `dir` is the
run's folder. They have no part in a checkpoint.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

from pydantic import Field, field_validator, model_validator
from stable_baselines3.common.callbacks import BaseCallback, CallbackList

from boardenvs.utils.checks import quote
from boardenvs.utils.imports import import_object
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


class Callbacks(CallbackList):
    """Those of a run. One that returns False ends the run after the update, not at once."""

    def __init__(self, callbacks: Sequence[BaseCallback]) -> None:
        super().__init__(list(callbacks))
        self.stop_requested = False
        self._begun = False

    def _on_training_start(self) -> None:
        super()._on_training_start()
        self._begun = True

    def _on_step(self) -> bool:
        if not super()._on_step():
            self.stop_requested = True
        return True

    def _on_training_end(self) -> None:
        """Not yet: the last policy has not been evaluated."""

    def end(self) -> None:
        """Tell them that the training has ended, with all its files, or was interrupted."""
        if self._begun:
            super()._on_training_end()


def check_callback(target: str, parameters: Mapping[str, Any]) -> None:
    """ValueError where "MODULE:NAME" is nothing that can be called with these parameters."""
    found = import_object(target)
    if not callable(found):
        raise ValueError(f"it is {quote(found)}: it must be a class of callbacks, or a function")
    try:
        inspect.signature(found).bind(**parameters)
    except TypeError as error:
        raise ValueError(f"{error}: it takes {inspect.signature(found)}") from None


def make_callback(target: str, parameters: Mapping[str, Any]) -> BaseCallback:
    """What "MODULE:NAME" makes with these parameters; ValueError where it is no callback."""
    made = import_object(target)(**parameters)
    if not isinstance(made, BaseCallback):
        raise ValueError(
            f"callback {target} is {quote(made)}: it must be a BaseCallback of Stable-Baselines3"
        )
    return made


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
