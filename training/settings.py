"""The settings of a run, and what they mean on this machine; `training.command` reads them."""

from __future__ import annotations

from dataclasses import replace
from operator import attrgetter
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
import torch as th
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    field_validator,
    model_validator,
)

from boardenvs import games
from boardenvs.agents import agent_for
from boardenvs.agents.policy import Policy
from boardenvs.agents.policy_file import load_policy, readable_shapes
from boardenvs.agents.trained import trained_policy
from boardenvs.game.openings import MAX_PLIES
from boardenvs.utils.checks import check_name


def _ascending(ends: tuple[int, int]) -> tuple[int, int]:
    if ends[0] > ends[1]:
        raise ValueError("it must be a range [low, high]")
    return ends


Ascending = AfterValidator(_ascending)
Ply = Annotated[int, Field(ge=0, le=MAX_PLIES)]
PlyRange = Annotated[tuple[Ply, Ply], Ascending]
Positive = Annotated[int, Field(gt=0, le=10**15)]  # which floats still hold exactly
Boards = Annotated[int, Field(gt=0, le=1 << 24)]
Widths = Annotated[tuple[Positive, ...], Field(min_length=1)]  # of layers
NotNegative = Annotated[float, Field(ge=0)]
Above0 = Annotated[float, Field(gt=0)]
Share = Annotated[float, Field(ge=0, le=1)]
Part = Annotated[float, Field(gt=0, le=1)]

# What networks begin as, beside a file.
SCRATCH, TRAINED = "scratch", "trained"

# The names of boards that are not played against an opponent by specification.
SELF_PLAY, POOL = "self-play", "pool"


class ConfigError(Exception):
    """A configuration that cannot be used; the message says where and why."""


class Section(BaseModel):
    """A group of settings: fixed once read, and without unknown ones."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class PoolSettings(Section):
    share: Share = 0.0
    every: Positive = 250_000
    size: Positive = 20
    at_once: Positive = 4


class SelfPlaySettings(Section):
    boards: Boards = 512
    threads: Positive = 1
    openings: Annotated[dict[str, Part], Field(min_length=1)] = {"random": 1.0}
    opening_plies: PlyRange = (0, 40)
    opening_noise: Share = 0.25
    undecided: Share = 0.0
    symmetries: bool = True
    learn: str = "both"
    opponents: dict[str, Part] = {}
    pool: PoolSettings = PoolSettings()

    @model_validator(mode="after")
    def _repeatable(self) -> SelfPlaySettings:
        foreign = [spec for spec in self.opponents if spec.startswith("python:")]
        if foreign and self.threads > 1:
            raise ValueError(
                f"threads is {self.threads}, and {foreign[0]!r} may take its chance from "
                "generators that threads share, Python's or NumPy's own: threads must be 1"
            )
        return self

    def groups(self) -> list[tuple[str, int]]:
        """The kinds of boards and how many there are of each; what no opponent takes is self-play.

        ValueError where the shares are too large or too small for the boards.
        """
        taken = [
            (spec, self._boards(f"opponents.{spec}", share, 1))
            for spec, share in self.opponents.items()
        ]
        if self.pool.share:
            each = self._boards("pool.share", self.pool.share, self.pool.at_once)
            taken += [(POOL, each // self.pool.at_once)] * self.pool.at_once
        rest = self.boards - sum(n for _, n in taken)
        if rest < 0:
            raise ValueError("the shares of opponents and pool add up to more than 1")
        if self.learn != "both" and rest:
            raise ValueError(
                f"learn is {self.learn!r}, and {rest} of {self.boards} boards have no opponent: "
                "the shares of opponents and pool must add up to 1 where one role learns"
            )
        return ([(SELF_PLAY, rest)] if rest else []) + taken

    def _boards(self, name: str, share: float, least: int) -> int:
        boards = round(share * self.boards)
        if boards < least:
            raise ValueError(
                f"{name} is {share}: of {self.boards} boards that is {boards}, and {least} or more "
                "are needed"
            )
        return boards


class SuiteSettings(Section):
    """A suite of opponents to be evaluated against, and the openings of the games."""

    opponents: Annotated[tuple[str, ...], Field(min_length=1)] = ("random", "greedy")
    pairs: Positive = 100
    opening_plies: PlyRange | None = None  # None: those of the game

    @field_validator("opponents")
    @classmethod
    def _distinct(cls, opponents: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(opponents)) < len(opponents):
            raise ValueError("an opponent is named twice")
        return opponents


class EvaluationSettings(SuiteSettings):
    every: Positive = 500_000


class ReportSettings(SuiteSettings):
    pairs: Positive = 200


class GameSettings(Section):
    """The settings of everything that is learnt of a game: which one, by which name and seed."""

    # What the weights of such a run depend on: the report has their versions.
    packages: ClassVar[tuple[str, ...]] = ("boardenvs", "numpy", "torch")

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    game: str
    rules: dict[str, Any] = {}
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 0
    threads: Positive = 1

    @model_validator(mode="after")
    def _possible_game(self) -> Self:
        try:
            self.make_game()
        except (TypeError, ValueError) as error:  # pydantic reports ValueErrors only
            rules = f" and rules are {self.rules}" if self.rules else ""
            raise ValueError(f"game is {self.game!r}{rules}: {error}") from None
        return self

    def make_game(self) -> games.Game:
        """The game of the text `game`, its parameters there or in `rules`."""
        return games.make(self.game, **self.rules)

    def check_machine(self) -> None:
        """ConfigError where this machine lacks what the settings ask for."""


class RunSettings(GameSettings):
    """The settings of every training of policies; `configs/othello.yaml` says what each means."""

    hidden_setting: ClassVar[str]  # where the widths of the layers that policy and value share are

    steps: Positive
    minutes: Above0 | None = None
    checkpoint_every: Positive = 500_000
    device: Annotated[str, Field(pattern=r"^(auto|cpu|mps|cuda(:\d+)?)$")] = "cpu"
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    start: str = SCRATCH
    self_play: SelfPlaySettings = SelfPlaySettings()
    evaluation: EvaluationSettings = EvaluationSettings()
    report: ReportSettings = ReportSettings()

    @model_validator(mode="after")
    def _possible(self) -> Self:
        game = self.make_game()
        self._check_opponents(game)
        check_name("self_play.learn", self.self_play.learn, ("both", *game.roles))
        self.self_play.groups()
        readable_shapes(game, list(self.hidden))
        self.start_policy()
        return self

    def check_machine(self) -> None:
        find_device(self.device)

    @property
    def hidden(self) -> tuple[int, ...]:
        """The widths of the layers that policy and value share."""
        widths: tuple[int, ...] = attrgetter(self.hidden_setting)(self)
        return widths

    def start_policy(self) -> Policy | None:
        """The policy that the network begins as, with layers as wide; None where it is untrained.

        ValueError where there is no such policy, or it does not fit.
        """
        if self.start == SCRATCH:
            return None
        game, hidden = self.make_game(), self.hidden
        policy = trained_policy(game) if self.start == TRAINED else load_policy(self.start)
        policy.check_game(game)
        widths = tuple(len(biases) for _, biases in policy.hidden)
        wider = [a > b for a, b in zip(widths, hidden, strict=False)]
        if policy.activation != "relu" or len(widths) != len(hidden) or any(wider):
            raise ValueError(
                f"start is {self.start!r}, with layers of {widths} and {policy.activation}: it "
                f"must have relu and as many layers as {self.hidden_setting}, {hidden}, none of "
                "them wider"
            )
        return widened(policy, hidden, np.random.default_rng([self.seed, 3]))

    def _check_opponents(self, game: games.Game) -> None:
        """ValueError where one cannot play, or is met in training and in the report."""
        groups = {
            "self_play.openings": self.self_play.openings,
            "self_play.opponents": self.self_play.opponents,
            "evaluation.opponents": self.evaluation.opponents,
            "report.opponents": self.report.opponents,
        }
        for where, specs in groups.items():
            for spec in specs:
                try:
                    agent_for(game, spec)
                except ValueError as error:
                    raise ValueError(f"{where}: {error}") from None
        for spec in self.self_play.opponents:
            if spec in self.report.opponents:
                raise ValueError(
                    f"report.opponents has {spec!r}, which self_play.opponents has too: report "
                    "on opponents that the policy was not trained against"
                )


def between(first: float, last: float, done: float) -> float:
    """What changes linearly from first to last, after this share of a run, 0 to 1."""
    return first + (last - first) * min(1.0, done)


# ---- where and how precisely torch computes -----------------------------------------------------


def find_device(name: str) -> th.device:
    """The device that a setting means here: "auto" is a GPU if torch finds one, else the processor.

    ConfigError where there is none of that name.
    """
    gpus = th.cuda.device_count()
    if name == "auto":
        return th.device("cuda" if gpus else "cpu")
    device = th.device(name)
    if device.type == "cuda" and (device.index or 0) >= gpus:
        raise ConfigError(f"device is {name!r}: torch has {gpus} GPUs here, auto takes what it has")
    if device.type == "mps" and not th.backends.mps.is_available():
        raise ConfigError(f"device is {name!r}: torch has none here, auto takes what it has")
    return device


def find_precision(setting: str) -> str:
    """The precision that a setting means here: "auto" is bfloat16 where the processor has it."""
    if setting != "auto":
        return setting
    found = processor()
    return "bfloat16" if found.get("avx512_bf16") or found.get("amx_bf16") else "float32"


def processor() -> dict[str, Any]:
    """What torch knows of the processor; nothing in versions that do not tell."""
    capabilities: dict[str, Any] = getattr(th.cpu, "get_capabilities", dict)()
    return capabilities


# ---- what a network begins as -------------------------------------------------------------------


# How far the copies of a unit are moved apart, relative to its weights: else they stay the same.
_APART = 0.02


def widened(policy: Policy, hidden: tuple[int, ...], rng: np.random.Generator) -> Policy:
    """The policy with layers of these widths, none of them narrower than its own, which gives what
    it gave.

    A wider layer has copies of the units, which share what a unit gave (Net2Net, Chen et al.
    2016), moved apart a little.
    """
    layers = list(policy.layers)
    for index, width in enumerate(hidden):
        weights, biases = layers[index]
        units = len(biases)
        if width == units:
            continue
        more = np.resize(rng.permutation(units), width - units)
        source = np.concatenate([np.arange(units), more])
        part = rng.uniform(0.3, 0.7, width)
        part /= np.bincount(source, part)[source]
        noise = 1 + _APART * rng.standard_normal((len(weights), width))
        noise[:, :units] = 1
        layers[index] = (weights[:, source] * noise).astype(np.float32), biases[source]
        readers = layers[index + 1 :] if index == len(hidden) - 1 else [layers[index + 1]]
        for place, (w, b) in enumerate(readers, start=index + 1):
            layers[place] = (w[source] * part[:, None]).astype(np.float32), b
    *wide, policy_head, value_head = layers
    return replace(policy, hidden=tuple(wide), policy_head=policy_head, value_head=value_head)
