"""The functions of a public module such as `boardenvs.othello_v0`, for any game."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from boardenvs import games
from boardenvs.envs.aec import BoardAECEnv
from boardenvs.envs.core import RenderMode, Reward
from boardenvs.envs.parallel import BoardParallelEnv
from boardenvs.errors import unknown

VERSION = "v0"


class Module(NamedTuple):
    """What a public module offers; all take the game's rule parameters as keywords as well."""

    env: Callable[..., BoardAECEnv]
    raw_env: Callable[..., BoardAECEnv]
    parallel_env: Callable[..., BoardParallelEnv]


def module_name(game_id: str) -> str:
    """The public module of a game, "othello" -> "othello_v0"."""
    return f"{game_id}_{VERSION}"


def make_module(game_id: str) -> Module:
    """The environment makers of this game."""
    name = module_name(game_id)

    def env(
        render_mode: RenderMode | None = None, reward: Reward = "goal", **rules: Any
    ) -> BoardAECEnv:
        """A turn-based environment in which an illegal action loses the game."""
        return BoardAECEnv(
            _game(game_id, rules),
            name=name,
            on_illegal="forfeit",
            reward=reward,
            render_mode=render_mode,
        )

    def raw_env(
        render_mode: RenderMode | None = None, reward: Reward = "goal", **rules: Any
    ) -> BoardAECEnv:
        """A turn-based environment in which an illegal action raises IllegalActionError."""
        return BoardAECEnv(
            _game(game_id, rules),
            name=name,
            on_illegal="raise",
            reward=reward,
            render_mode=render_mode,
        )

    def parallel_env(
        render_mode: RenderMode | None = None, reward: Reward = "goal", **rules: Any
    ) -> BoardParallelEnv:
        """An environment of joint moves: the agent not in control says noop."""
        return BoardParallelEnv(
            _game(game_id, rules), name=name, reward=reward, render_mode=render_mode
        )

    return Module(env, raw_env, parallel_env)


def _game(game_id: str, rules: dict[str, Any]) -> games.Game:
    known = [*games.parameters(game_id), "render_mode", "reward"]
    for name in rules:
        if name not in known:
            raise TypeError(unknown(f"option of {module_name(game_id)}", name, known))
    return games.make(game_id, **rules)
