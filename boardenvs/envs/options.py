"""The keyword options of the environments, so that type checkers know them by name (PEP 692).

A public module adds its game's rule parameters; tests hold these names against the constructors.
"""

from __future__ import annotations

from typing import TypedDict

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
