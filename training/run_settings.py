"""The settings of a training run; `training.command` reads them from YAML files.

`configs/othello.yaml` explains each setting.
"""

from __future__ import annotations

import sys
from ctypes import CDLL
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import torch as th
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    model_validator,
)

from boardenvs import games
from boardenvs.agents import agent_for
from boardenvs.game.openings import MAX_PLIES

if TYPE_CHECKING:
    from boardenvs.agents.policy import Policy


def _ascending(ends: tuple[int, int]) -> tuple[int, int]:
    if ends[0] > ends[1]:
        raise ValueError("it must be a range [low, high]")
    return ends


Ascending = AfterValidator(_ascending)
Ply = Annotated[int, Field(ge=0, le=MAX_PLIES)]
PlyRange = Annotated[tuple[Ply, Ply], Ascending]
Positive = Annotated[int, Field(gt=0, le=10**15)]  # floats hold these exactly
Boards = Annotated[int, Field(gt=0, le=1 << 24)]
# Widths of layers; files of larger networks are not read.
Widths = Annotated[
    tuple[Annotated[int, Field(gt=0, le=2048)], ...], Field(min_length=1, max_length=4)
]
NotNegative = Annotated[float, Field(ge=0)]
Above0 = Annotated[float, Field(gt=0)]
Share = Annotated[float, Field(ge=0, le=1)]
Part = Annotated[float, Field(gt=0, le=1)]
Device = Annotated[str, Field(pattern=r"^(auto|cpu|cuda(:\d+)?)$")]

# Values of `start`, beside a file.
SCRATCH, TRAINED = "scratch", "trained"

# The names of groups of boards without a named opponent.
SELF_PLAY, POOL = "self-play", "pool"

POOL_SIZE = 20  # the latest snapshots that are kept as opponents
POOL_AT_ONCE = 4  # the snapshots that divide the pool's boards between two updates


class ConfigError(Exception):
    """A configuration that cannot be used; the message says where and why."""


class Section(BaseModel):
    """A group of settings, immutable; unknown names are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class NetworkSettings(Section):
    """The layers that policy and value share: `hidden` are widths of fully connected ones, and
    `channels` and `blocks` the size of a residual tower.
    """

    hidden: Widths | None = None
    channels: Annotated[int, Field(gt=0, le=256)] | None = None
    blocks: Annotated[int, Field(gt=0, le=12)] | None = None

    @model_validator(mode="after")
    def _of_one_kind(self) -> Self:
        size = self.size
        if size.keys() not in ({"hidden"}, {"channels", "blocks"}):
            raise ValueError(
                f"it has {sorted(size) or 'nothing'}: it must have hidden, or channels and blocks"
            )
        return self

    @property
    def size(self) -> dict[str, Any]:
        """What is set."""
        return self.model_dump(mode="json", exclude_none=True)


class PoolSettings(Section):
    share: Share = 0.0
    every: Positive = 250_000


class SelfPlaySettings(Section):
    boards: Boards = 512
    threads: Positive = 1
    openings: Annotated[dict[str, Part], Field(min_length=1)] = {"random": 1.0}
    opening_plies: PlyRange = (0, 40)
    undecided: Share = 0.0
    opponents: dict[str, Part] = {}
    pool: PoolSettings = PoolSettings()

    @model_validator(mode="after")
    def _repeatable(self) -> SelfPlaySettings:
        foreign = [spec for spec in self.opponents if spec.startswith("python:")]
        if foreign and self.threads > 1:
            raise ValueError(
                f"threads is {self.threads}, and {foreign[0]!r} may draw from random generators "
                "that threads share, Python's or NumPy's own: threads must be 1"
            )
        return self

    def groups(self) -> list[tuple[str, int]]:
        """Return the name and the number of boards of each group; the rest is self-play.

        ValueError if the shares are too large or too small for the number of boards.
        """
        taken = [
            (spec, self._boards(f"opponents.{spec}", share, 1))
            for spec, share in self.opponents.items()
        ]
        if self.pool.share:
            each = self._boards("pool.share", self.pool.share, POOL_AT_ONCE) // POOL_AT_ONCE
            taken += [(POOL, each)] * POOL_AT_ONCE
        rest = self.boards - sum(n for _, n in taken)
        if rest < 0:
            raise ValueError("the shares of opponents and pool add up to more than 1")
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
    """Opponents for an evaluation, and the openings of the games."""

    opponents: Annotated[tuple[str, ...], Field(min_length=1)] = ("random", "greedy")
    pairs: Positive = 200
    opening_plies: PlyRange | None = None  # None: the game's own


class EvaluationSettings(SuiteSettings):
    pairs: Positive = 100
    every: Positive = 500_000


class GameSettings(Section):
    """The settings that every run has: its name, its game and its seed."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    game: str
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 0

    @model_validator(mode="after")
    def _possible_game(self) -> Self:
        try:
            games.to_file(self.make_game())  # as policies will name it
        except (TypeError, ValueError) as error:  # pydantic reports ValueErrors only
            raise ValueError(f"game is {self.game!r}: {error}") from None
        return self

    def make_game(self) -> games.Game:
        """Return the game."""
        return games.make(self.game)

    def check_players(self, *settings: str) -> None:
        """Raise ValueError if a player that these settings name does not exist or cannot play the
        game.
        """
        for where in settings:
            for spec in attrgetter(where)(self):
                try:
                    agent_for(self.make_game(), spec)
                except ValueError as error:
                    raise ValueError(f"{where}: {error}") from None


class RunSettings(GameSettings):
    """The settings of every training of a policy."""

    steps: Positive
    checkpoint_every: Positive = 500_000
    device: Device = "cpu"
    start: str = SCRATCH
    network: NetworkSettings = NetworkSettings(hidden=(256, 256))
    self_play: SelfPlaySettings = SelfPlaySettings()
    evaluation: EvaluationSettings = EvaluationSettings()
    report: SuiteSettings = SuiteSettings()

    @model_validator(mode="after")
    def _possible(self) -> Self:
        own = self.self_play
        self.check_players("self_play.openings", "self_play.opponents")
        self.check_players("evaluation.opponents", "report.opponents")
        among_others = len(own.groups()) > 1  # else the run is to beat one player
        for spec in own.opponents:
            if among_others and spec in self.report.opponents:
                raise ValueError(
                    f"report.opponents has {spec!r}, which self_play.opponents has too: report "
                    "on opponents that the policy was not trained against"
                )
        return self

    def game_to_train(self) -> games.Game:
        """Return the game that the boards play."""
        return self.make_game()

    def start_policy(self) -> Policy | None:
        """Return the policy whose weights the network starts with; None for random weights.

        ValueError if there is no such policy, or its network has another size.
        """
        if self.start == SCRATCH:
            return None
        from boardenvs.agents.policy_file import load_policy
        from boardenvs.agents.trained import trained_policy

        game = self.game_to_train()
        policy = trained_policy(game) if self.start == TRAINED else load_policy(self.start)
        policy.check_game(game)
        if policy.game.kernels.num_planes != game.kernels.num_planes:
            raise ValueError(
                f"start is {self.start!r}, whose network sees the planes of "
                f"{games.spec_of(policy.game)}: game must be that"
            )
        view = game.mover_symmetry is not None
        wanted = {**self.network.size, "activation": "relu", "mover_view": view}
        size = {**policy.network.size, "mover_view": policy.mover_view}
        if not wanted.items() <= size.items():
            raise ValueError(
                f"start is {self.start!r}, a network of {size}: network is {wanted}, and must be "
                "like it"
            )
        return policy


class PPOSettings(Section):
    steps_per_update: Positive = 64
    batch_size: Positive = 2048
    learning_rate: Above0 = 1e-3
    final_learning_rate: Above0 = 1e-3
    gae_lambda: Share = 0.95
    entropy_bonus: NotNegative = 0.01
    final_entropy_bonus: NotNegative | None = None  # None: as at the start

    # Constants of all configurations: passes over each rollout, PPO's clip range, the weight of the
    # value loss, and the largest norm of a gradient.
    EPOCHS: ClassVar = 2
    CLIP_RANGE: ClassVar = 0.2
    VALUE_WEIGHT: ClassVar = 0.5
    MAX_GRADIENT: ClassVar = 0.5

    def entropy_bonus_at(self, done: float) -> float:
        """Return the entropy bonus when this share of the run is done, 0 to 1."""
        last = self.final_entropy_bonus
        return between(self.entropy_bonus, self.entropy_bonus if last is None else last, done)


class PPOConfig(RunSettings):
    """All settings of `training.ppo`."""

    network: NetworkSettings = NetworkSettings(hidden=(512, 512))
    ppo: PPOSettings = PPOSettings()

    @model_validator(mode="after")
    def _divisible(self) -> Self:
        rollout = self.self_play.boards * self.ppo.steps_per_update
        if rollout % self.ppo.batch_size:
            raise ValueError(
                f"ppo.batch_size is {self.ppo.batch_size}: it must divide self_play.boards * "
                f"ppo.steps_per_update = {rollout}, the steps of an update"
            )
        self.start_policy()
        return self


def between(first: float, last: float, done: float) -> float:
    """Return what lies between first and last where `done`, 0 to 1, is done."""
    return first + (last - first) * min(1.0, done)


# ---- where and how precisely torch computes -----------------------------------------------------


def find_device(name: str) -> th.device:
    """Return torch's device of this name; "auto" is a GPU if there is one, else the processor.

    ConfigError if this machine does not have it.
    """
    gpus = th.cuda.device_count()
    if name == "auto":
        return th.device("cuda" if gpus else "cpu")
    device = th.device(name)
    if device.type == "cuda" and (device.index or 0) >= gpus:
        raise ConfigError(f"device is {name!r}: torch has {gpus} GPUs here, auto takes what it has")
    return device


def set_up_torch() -> None:
    """Set torch to one thread, and the C library to keep freed memory for the next arrays.

    glibc would return it to Linux, which clears each page before it is used again: 7 to 9 % of the
    CPU time of a training with fully connected layers.
    """
    th.set_num_threads(1)
    if sys.platform == "linux":
        glibc = CDLL(None)
        glibc.mallopt(-1, 1 << 30)  # M_TRIM_THRESHOLD
        glibc.mallopt(-3, 1 << 25)  # M_MMAP_THRESHOLD, at most


def find_precision(device: th.device) -> str:
    """Return the precision of layers: "bfloat16" if the device has it, else "float32"."""
    processor: dict[str, Any] = getattr(th.cpu, "get_capabilities", dict)()
    fast = processor.get("avx512_bf16") or processor.get("amx_bf16")
    if device.type == "cuda":
        fast = th.cuda.is_bf16_supported()
    return "bfloat16" if fast else "float32"
