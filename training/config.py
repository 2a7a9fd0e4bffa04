"""The settings of a run: read from YAML, checked, and told in full when they are wrong."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from pydantic_core import ErrorDetails

from boardenvs import games
from boardenvs.agents import make_agent
from boardenvs.errors import unknown

Plies = tuple[Annotated[int, Field(ge=0)], Annotated[int, Field(ge=0)]]
Positive = Annotated[int, Field(gt=0)]


class ConfigError(Exception):
    """A configuration that cannot be used; the message says where and why."""


class Settings(BaseModel):
    """A group of settings: fixed once read, and without unknown ones."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class SelfPlay(Settings):
    boards: Positive = 512
    random_plies: Plies = (0, 40)

    @field_validator("random_plies")
    @classmethod
    def _ordered(cls, plies: tuple[int, int]) -> tuple[int, int]:
        return _ascending(plies)


class PPO(Settings):
    hidden: tuple[Positive, ...] = (512, 512)
    steps_per_update: Positive = 64
    batch_size: Positive = 2048
    epochs: Positive = 2
    learning_rate: Annotated[float, Field(gt=0)] = 1e-3
    final_learning_rate: Annotated[float, Field(gt=0)] = 1e-3
    gae_lambda: Annotated[float, Field(ge=0, le=1)] = 0.95
    clip_range: Annotated[float, Field(gt=0)] = 0.2
    entropy_bonus: Annotated[float, Field(ge=0)] = 0.01
    value_weight: Annotated[float, Field(ge=0)] = 0.5
    max_gradient: Annotated[float, Field(gt=0)] = 0.5


class Evaluation(Settings):
    every: Positive = 500_000
    pairs: Positive = 100
    final_pairs: Positive = 200
    opening_plies: Plies = (6, 10)
    opponents: Annotated[tuple[str, ...], Field(min_length=1)] = ("random", "greedy")

    @field_validator("opening_plies")
    @classmethod
    def _ordered(cls, plies: tuple[int, int]) -> tuple[int, int]:
        return _ascending(plies)

    @field_validator("opponents")
    @classmethod
    def _known(cls, opponents: tuple[str, ...]) -> tuple[str, ...]:
        for spec in opponents:
            make_agent(spec)
        if len(set(opponents)) < len(opponents):
            raise ValueError("an opponent is named twice")
        return opponents


class Config(Settings):
    """All settings of a run; `configs/othello.yaml` says what each means."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    game: str
    rules: dict[str, Any] = Field(default_factory=dict)
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 0
    steps: Positive
    minutes: Annotated[float, Field(gt=0)] | None = None
    checkpoint_every: Positive = 500_000
    self_play: SelfPlay = Field(default_factory=SelfPlay)
    ppo: PPO = Field(default_factory=PPO)
    evaluation: Evaluation = Field(default_factory=Evaluation)

    @field_validator("game")
    @classmethod
    def _known(cls, game: str) -> str:
        games.make(game)
        return game

    @model_validator(mode="after")
    def _possible(self) -> Config:
        try:
            self.make_game()
        except TypeError as error:  # an unknown parameter; pydantic reports ValueErrors only
            raise ValueError(f"rules: {error}") from None
        rollout = self.self_play.boards * self.ppo.steps_per_update
        if rollout % self.ppo.batch_size:
            raise ValueError(
                f"ppo.batch_size is {self.ppo.batch_size}: it must divide self_play.boards * "
                f"ppo.steps_per_update = {rollout}, the steps of an update"
            )
        return self

    def make_game(self) -> games.Game:
        return games.make(self.game, **self.rules)


def read_config(path: Path, overrides: Sequence[str] = ()) -> Config:
    """The settings in a YAML file, changed by overrides such as "ppo.epochs=3".

    The run's name is the file's, where none is set. ConfigError for whatever is wrong.
    """
    values = {"name": path.stem} | _read_yaml(path)
    for override in overrides:
        _override(values, override)
    try:
        return Config.model_validate(values)
    except ValidationError as errors:
        lines = [f"  {_explain(error)}" for error in errors.errors()]
        raise ConfigError("\n".join([f"{path} cannot be used:", *lines])) from None


def _read_yaml(path: Path) -> dict[str, Any]:
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        known = sorted(str(p) for p in path.parent.glob("*.yaml"))
        raise ConfigError(unknown("configuration file", str(path), known)) from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from None
    except yaml.YAMLError as error:
        raise ConfigError(f"{path} is not YAML: {error}") from None
    if not isinstance(values, dict):
        raise ConfigError(f"{path} holds no settings: it must have lines such as 'game: othello'")
    return values


def _override(values: dict[str, Any], override: str) -> None:
    key, separator, text = override.partition("=")
    if not separator:
        raise ConfigError(f"--set {override}: write it as key=value, for example ppo.epochs=3")
    *groups, last = key.split(".")
    for group in groups:
        values = values.setdefault(group, {})
        if not isinstance(values, dict):
            raise ConfigError(f"--set {override}: {group} is no group of settings")
    try:
        values[last] = yaml.safe_load(text)
    except yaml.YAMLError:
        raise ConfigError(f"--set {override}: {text!r} is not a YAML value") from None


def _explain(error: ErrorDetails) -> str:
    *groups, last = error["loc"] or ("",)
    where = ".".join(map(str, error["loc"]))
    if error["type"] == "extra_forbidden":
        return f"{where}: {unknown('setting', last, _fields_of(groups))}"
    if error["type"] == "missing":
        return f"{where} is missing: it must be set"
    message = error["msg"].removeprefix("Value error, ")
    return f"{where} is {error['input']!r}: {message}" if where else message


def _fields_of(groups: Sequence[int | str]) -> list[str]:
    model: Any = Config
    for group in groups:
        model = model.model_fields[group].annotation
    return list(model.model_fields)


def _ascending(plies: tuple[int, int]) -> tuple[int, int]:
    if plies[0] > plies[1]:
        raise ValueError("it must be a range [low, high]")
    return plies
