"""Environments of any game: `boardenvs.env("othello")`, `boardenvs.vec_env(game, 1024)`.

A game is a text (see `boardenvs.games.make`) or a Game. The public modules, such as
`boardenvs.othello_v0`, have the same functions for one game, with its options by name.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from boardenvs import games
from boardenvs.envs.aec import BoardAECEnv
from boardenvs.envs.parallel import BoardParallelEnv
from boardenvs.envs.single import BoardSingleEnv
from boardenvs.envs.vector import BoardVectorEnv
from boardenvs.game.contract import Game
from boardenvs.utils.checks import cut, unknown

VERSION = "v0"

Env = TypeVar("Env")
Maker = TypeVar("Maker", bound=Callable[..., object])


def env(game: str | Game, **options: Any) -> BoardAECEnv:
    """PettingZoo's turn-based environment, in which an illegal action loses the game.

    Options are those of `BoardAECEnv` (`reward`, "goal" by default, and `render_mode`) and, where
    `game` is a text, the parameters of its rules. TypeError for an option that neither has.

    ```python
    import boardenvs

    env = boardenvs.env("wolf_and_sheep", rules="described")
    env.reset(seed=1)
    observation, reward, terminated, truncated, info = env.last()
    env.step(observation["action_mask"].argmax())  # the first legal action
    ```
    """
    return _make(partial(BoardAECEnv, on_illegal="forfeit"), game, options)


def raw_env(game: str | Game, **options: Any) -> BoardAECEnv:
    """The same as `env`, but an illegal action raises IllegalActionError and changes nothing.

    ```python
    import boardenvs

    env = boardenvs.raw_env("othello")
    env.reset()
    try:
        env.step(0)
    except boardenvs.IllegalActionError as error:
        print(error)  # which action, by whom, and what is legal
    ```
    """
    return _make(partial(BoardAECEnv, on_illegal="raise"), game, options)


def parallel_env(game: str | Game, **options: Any) -> BoardParallelEnv:
    """PettingZoo's parallel environment: both agents act, the one that is not to move says noop.

    Options are those of `BoardParallelEnv` (`reward`, "goal" by default, and `render_mode`) and,
    where `game` is a text, the parameters of its rules.

    ```python
    import boardenvs

    env = boardenvs.parallel_env("lines_of_action")
    observations, infos = env.reset(seed=1)
    while env.agents:
        masks = {agent: observations[agent]["action_mask"] for agent in env.agents}
        actions = {agent: mask.argmax() for agent, mask in masks.items()}
        observations, rewards, terminations, truncations, infos = env.step(actions)
    print(rewards)
    ```
    """
    return _make(BoardParallelEnv, game, options)


def vec_env(game: str | Game, num_envs: int = 1, **options: Any) -> BoardVectorEnv:
    """Many games at once, as Gymnasium's vector environment.

    Options are those of `BoardVectorEnv` (`reward`, "zero_sum" by default, `opponent`, `seat`,
    `opening_plies`, `autoreset_mode`, `copy`, `mask_in_observation`, `render_mode`) and, where
    `game` is a text, the parameters of its rules.

    ```python
    import boardenvs

    envs = boardenvs.vec_env("othello", 1024, opponent="greedy")
    observations, infos = envs.reset(seed=1)  # (1024, 8, 8, 2) int8
    actions = infos["action_mask"].argmax(axis=1)
    observations, rewards, terminations, truncations, infos = envs.step(actions)
    ```
    """
    return _make(partial(BoardVectorEnv, num_envs=num_envs), game, options)


def single_env(game: str | Game, **options: Any) -> BoardSingleEnv:
    """One game against an opponent, as Gymnasium's environment; `gymnasium.make` calls this.

    Options are those of `BoardSingleEnv` (`reward`, "zero_sum" by default, `opponent`, `seat`,
    `mask_in_observation`, `render_mode`) and, where `game` is a text, the parameters of its rules.
    """
    return _make(BoardSingleEnv, game, options)


def env_name(game: Game) -> str:
    """The name of a game's environments, and of its public module if it has one: "othello_v0"."""
    return f"{game.id}_{VERSION}"


def shows_options(game_id: str, environment: Callable[..., object]) -> Callable[[Maker], Maker]:
    """Let `help` and editors show the options of a public module's function by name.

    They are those of the environment's constructor and the parameters of the game's rules.
    """

    def show(make: Maker) -> Maker:
        signature = inspect.signature(make)
        given = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        rules = inspect.signature(games.GAMES[game_id]).parameters
        named = [*_options(environment).values(), *(rules[n] for n in games.parameters(game_id))]
        parameters = [*given, *(p.replace(kind=p.KEYWORD_ONLY) for p in named)]
        vars(make)["__signature__"] = signature.replace(parameters=parameters)
        return make

    return show


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
    given, rules = dict[str, Any](), dict[str, Any]()
    for name, value in options.items():
        (given if name in own else rules)[name] = value
    known = games.parameters(game) if rules and isinstance(game, str) else []
    for name in rules:
        if name not in known:
            title = game.id if isinstance(game, Game) else cut(str(game))
            raise TypeError(unknown(f"option of {title}_{VERSION}", name, [*own, *known]))
    made = games.make(game, **rules)
    return maker(made, name=env_name(made), **given)
