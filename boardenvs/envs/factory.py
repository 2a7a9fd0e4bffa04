"""The functions of a public module such as `boardenvs.othello_v0`, for any game."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from boardenvs import games
from boardenvs.envs.aec import BoardAECEnv, OnIllegal
from boardenvs.envs.parallel import BoardParallelEnv
from boardenvs.envs.single import BoardSingleEnv
from boardenvs.envs.vector import BoardVectorEnv
from boardenvs.utils.checks import unknown

VERSION = "v0"


class Module(NamedTuple):
    """What a public module offers; all take the game's rule parameters as keywords as well."""

    env: Callable[..., BoardAECEnv]
    raw_env: Callable[..., BoardAECEnv]
    parallel_env: Callable[..., BoardParallelEnv]
    vec_env: Callable[..., BoardVectorEnv]


def module_name(game_id: str) -> str:
    """The public module of a game, "othello" -> "othello_v0"."""
    return f"{game_id}_{VERSION}"


def make_module(game_id: str) -> Module:
    """The environment makers of this game."""
    name = module_name(game_id)

    def env(**options: Any) -> BoardAECEnv:
        """A turn-based environment in which an illegal action loses the game."""
        return aec_env(game_id, on_illegal="forfeit", **options)

    def raw_env(**options: Any) -> BoardAECEnv:
        """A turn-based environment in which an illegal action raises IllegalActionError."""
        return aec_env(game_id, on_illegal="raise", **options)

    def parallel_env(**options: Any) -> BoardParallelEnv:
        """An environment of joint moves: the agent not in control says noop."""
        options, rules = _split(game_id, BoardParallelEnv, options)
        return BoardParallelEnv(games.make(game_id, **rules), name=name, **options)

    def vec_env(num_envs: int = 1, **options: Any) -> BoardVectorEnv:
        """Many games at once, as Gymnasium's vector environment; options: `BoardVectorEnv`."""
        return vector_env(game_id, num_envs, **options)

    made = Module(env, raw_env, parallel_env, vec_env)
    makers = (BoardAECEnv, BoardAECEnv, BoardParallelEnv, BoardVectorEnv)
    for function, maker in zip(made, makers, strict=True):
        _show_options(function, maker, game_id)
    return made


def aec_env(game_id: str, *, on_illegal: OnIllegal, **options: Any) -> BoardAECEnv:
    """A turn-based environment; options: `BoardAECEnv`."""
    options, rules = _split(game_id, BoardAECEnv, options)
    return BoardAECEnv(
        games.make(game_id, **rules), name=module_name(game_id), on_illegal=on_illegal, **options
    )


def single_env(game_id: str, **options: Any) -> BoardSingleEnv:
    """A seat against an opponent, as Gymnasium's environment; options: `BoardSingleEnv`."""
    options, rules = _split(game_id, BoardSingleEnv, options)
    return BoardSingleEnv(games.make(game_id, **rules), name=module_name(game_id), **options)


def vector_env(game_id: str, num_envs: int = 1, **options: Any) -> BoardVectorEnv:
    """Many games at once, as Gymnasium's vector environment; options: `BoardVectorEnv`."""
    options, rules = _split(game_id, BoardVectorEnv, options)
    game = games.make(game_id, **rules)
    return BoardVectorEnv(game, num_envs, name=module_name(game_id), **options)


def _options(maker: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """The keywords of an environment that users give."""
    return {
        name: parameter
        for name, parameter in inspect.signature(maker).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY and name not in ("name", "on_illegal")
    }


def _show_options(function: Callable[..., Any], maker: Callable[..., Any], game_id: str) -> None:
    """Have `help` and editors show the options by name, those of the rules included."""
    signature = inspect.signature(function)
    given = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    rules = inspect.signature(games.GAMES[game_id]).parameters
    named = [*_options(maker).values(), *(rules[name] for name in games.parameters(game_id))]
    shown = [*given, *(p.replace(kind=p.KEYWORD_ONLY) for p in named)]
    vars(function)["__signature__"] = signature.replace(parameters=shown)


def _split(
    game_id: str, maker: Callable[..., Any], options: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options of the environment and those of the rules; TypeError for any other."""
    own = _options(maker)
    rules = games.parameters(game_id)
    for name in options:
        if name not in own and name not in rules:
            raise TypeError(unknown(f"option of {module_name(game_id)}", name, [*own, *rules]))
    return (
        {name: value for name, value in options.items() if name in own},
        {name: value for name, value in options.items() if name in rules},
    )
