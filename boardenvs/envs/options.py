"""The keyword options of the environments, so that type checkers know them by name (PEP 692).

Here are the parameters of the built-in games' rules; those of another game stand in its text, or
are given to `boardenvs.games.make`. Tests hold these names against the constructors.
"""

from __future__ import annotations

from typing import Literal, TypedDict

from gymnasium.vector import AutoresetMode

from boardenvs.envs.core import RenderMode, Reward, VectorRenderMode
from boardenvs.envs.opponent import Opponent


class BoardOptions(TypedDict, total=False):
    """Of `env`, `raw_env` and `parallel_env`; see `BoardAECEnv`."""

    reward: Reward
    render_mode: RenderMode | None


class VectorOptions(TypedDict, total=False):
    """Of `vec_env`; see `BoardVectorEnv`."""

    opponent: Opponent | None
    seat: str
    reward: Reward
    opening_plies: tuple[int, int]
    autoreset_mode: AutoresetMode | str
    copy: bool
    mask_in_observation: bool
    render_mode: VectorRenderMode | None


class SingleOptions(BoardOptions, total=False):
    """Of `gymnasium.make`; see `BoardSingleEnv`."""

    opponent: Opponent
    seat: str
    mask_in_observation: bool


class RuleOptions(TypedDict, total=False):
    """The parameters of the rules of the built-in games."""

    holes: int
    empties: Literal["nobody", "winner"]
    rules: Literal["classic", "described"]
    max_plies: int | None
    max_steps: int


class EnvOptions(BoardOptions, RuleOptions):
    """Of `boardenvs.env`, `raw_env` and `parallel_env`."""


class SingleEnvOptions(SingleOptions, RuleOptions):
    """Of `gymnasium.make`."""


class VecEnvOptions(VectorOptions, RuleOptions):
    """Of `boardenvs.vec_env`."""
