"""Environments of any game: `boardenvs.env("othello")`, `boardenvs.vec_env(game, 1024)`.

A game is a text (see `boardenvs.games.make`) or a Game. `make_module` makes the same functions for
one game, as the public modules such as `boardenvs.othello_v0` have them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, TypeVar

from boardenvs import games
from boardenvs.envs.aec import BoardAECEnv
from boardenvs.envs.parallel import BoardParallelEnv
from boardenvs.envs.single import BoardSingleEnv
from boardenvs.envs.vector import BoardVectorEnv
from boardenvs.game.contract import Game
from boardenvs.utils.checks import cut, unknown

VERSION = "v0"

Env = TypeVar("Env")


class Module(NamedTuple):
    """What a public module offers; all take the game's rule parameters as keywords as well."""

    env: Callable[..., BoardAECEnv]
    raw_env: Callable[..., BoardAECEnv]
    parallel_env: Callable[..., BoardParallelEnv]
    vec_env: Callable[..., BoardVectorEnv]


def env(game: str | Game, **options: Any) -> BoardAECEnv:
    """A turn-based environment in which an illegal action loses the game.

    Options are those of `BoardAECEnv` and, where `game` is a text, the parameters of its rules.
    """
    return _make(partial(BoardAECEnv, on_illegal="forfeit"), game, options)


def raw_env(game: str | Game, **options: Any) -> BoardAECEnv:
    """A turn-based environment in which an illegal action raises IllegalActionError; see `env`."""
    return _make(partial(BoardAECEnv, on_illegal="raise"), game, options)


def parallel_env(game: str | Game, **options: Any) -> BoardParallelEnv:
    """An environment of joint moves, where the agent not in control says noop.

    Options are those of `BoardParallelEnv` and, where `game` is a text, the parameters of its
    rules.
    """
    return _make(BoardParallelEnv, game, options)


def vec_env(game: str | Game, num_envs: int = 1, **options: Any) -> BoardVectorEnv:
    """Many games at once, as Gymnasium's vector environment.

    Options are those of `BoardVectorEnv` and, where `game` is a text, the parameters of its rules.
    """
    return _make(partial(BoardVectorEnv, num_envs=num_envs), game, options)


def single_env(game: str | Game, **options: Any) -> BoardSingleEnv:
    """A seat against an opponent, as Gymnasium's environment.

    Options are those of `BoardSingleEnv` and, where `game` is a text, the parameters of its rules.
    """
    return _make(BoardSingleEnv, game, options)


def make_module(game_id: str) -> Module:
    """The makers of this game's environments."""
    return Module(
        _of(game_id, env, BoardAECEnv),
        _of(game_id, raw_env, BoardAECEnv),
        _of(game_id, parallel_env, BoardParallelEnv),
        _of(game_id, vec_env, BoardVectorEnv),
    )


def env_name(game: Game) -> str:
    """The name of a game's environments, and of its public module if it has one: "othello_v0"."""
    return f"{game.id}_{VERSION}"


def _of(game_id: str, make: Callable[..., Env], shown: Callable[..., object]) -> Callable[..., Env]:
    """`make` for one game; `help` and editors show the options by name, those of the rules too."""

    def made(*arguments: Any, **options: Any) -> Env:
        return make(game_id, *arguments, **options)

    made.__name__ = made.__qualname__ = make.__name__
    made.__doc__ = make.__doc__
    signature = inspect.signature(make)
    given = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD][1:]
    rules = inspect.signature(games.GAMES[game_id]).parameters
    named = [*_options(shown).values(), *(rules[name] for name in games.parameters(game_id))]
    parameters = [*given, *(p.replace(kind=p.KEYWORD_ONLY) for p in named)]
    vars(made)["__signature__"] = signature.replace(parameters=parameters)
    return made


def _options(maker: Callable[..., object]) -> dict[str, inspect.Parameter]:
    """The keywords of an environment that users give."""
    return {
        name: parameter
        for name, parameter in inspect.signature(maker).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY
        and name not in ("name", "on_illegal", "num_envs")
    }


def _make(maker: Callable[..., Env], game: str | Game, options: dict[str, Any]) -> Env:
    """The environment with its options; what is left of them are those of the rules.

    TypeError for an option that neither has.
    """
    own = _options(maker)
    rules = {name: value for name, value in options.items() if name not in own}
    known = games.parameters(game) if isinstance(game, str) else []
    for name in rules:
        if name not in known:
            title = game.id if isinstance(game, Game) else cut(str(game))
            raise TypeError(unknown(f"option of {title}_{VERSION}", name, [*own, *known]))
    made = games.make(game, **rules)
    given = {name: value for name, value in options.items() if name in own}
    return maker(made, name=env_name(made), **given)
