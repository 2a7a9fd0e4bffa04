"""Environments of any game: `boardenvs.env("othello")`, `boardenvs.vec_env(game, 1024)`.

A game is a text (see `boardenvs.games.make`) or a Game. The public modules, such as
`boardenvs.othello_v0`, have the same functions for one game, with its options by name. The games
have entries in the registries of PettingZoo and Gymnasium too:

    pettingzoo.make("aec", "boardenvs/othello-v0")
    gymnasium.make("boardenvs/Othello-v0", opponent="greedy")
    gymnasium.make_vec("boardenvs/Othello-v0", 1024, vectorization_mode="vector_entry_point")

Gymnasium's play against `random` by default; `make_vec` with `opponent=None` is self-play, as is
`vec_env` without an opponent.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypedDict

import gymnasium
from gymnasium.vector import AutoresetMode

from boardenvs import games
from boardenvs.envs.aec import BoardAECEnv
from boardenvs.envs.core import VERSION, RenderMode, Reward, VectorRenderMode
from boardenvs.envs.groups import Opponent
from boardenvs.envs.parallel import BoardParallelEnv
from boardenvs.envs.single import BoardSingleEnv
from boardenvs.envs.vector import BoardVectorEnv
from boardenvs.game.game import Game
from boardenvs.utils.checks import unknown

try:
    from pettingzoo.env_registry import registration as in_pettingzoo
except ModuleNotFoundError:  # older, as AgileRL wants it; nothing else of 1.27 is used here
    in_pettingzoo = None


class Options(TypedDict, total=False):
    """The options of the environments of one game; see `BoardAECEnv`."""

    reward: Reward
    render_mode: RenderMode | None


class VectorOptions(TypedDict, total=False):
    """The options of environments of many games; see `BoardVectorEnv`."""

    opponent: Opponent | None
    seat: str
    reward: Reward
    opening_plies: tuple[int, int]
    autoreset_mode: AutoresetMode | str
    copy: bool
    mask_in_observation: bool
    render_mode: VectorRenderMode | None


def env(
    game: str | Game,
    *,
    reward: Reward = "goal",
    render_mode: RenderMode | None = None,
    **rules: Any,
) -> BoardAECEnv:
    """Make PettingZoo's turn-based environment, in which an illegal action loses the game.

    See `BoardAECEnv` for `reward` and `render_mode`. `rules` are the parameters of the game's rules
    if `game` is a text. TypeError for an option that neither the environment nor the game has.

    ```python
    import boardenvs

    env = boardenvs.env("wolf_and_sheep", rules="described")
    env.reset(seed=1)
    observation, reward, terminated, truncated, info = env.last()
    env.step(observation["action_mask"].argmax())  # the first legal action
    ```
    """
    made = _make_game(game, rules, env)
    return BoardAECEnv(made, on_illegal="forfeit", reward=reward, render_mode=render_mode)


def raw_env(
    game: str | Game,
    *,
    reward: Reward = "goal",
    render_mode: RenderMode | None = None,
    **rules: Any,
) -> BoardAECEnv:
    """Make the same as `env`, but an illegal action raises IllegalActionError, changing nothing.

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
    made = _make_game(game, rules, raw_env)
    return BoardAECEnv(made, on_illegal="raise", reward=reward, render_mode=render_mode)


def parallel_env(
    game: str | Game,
    *,
    reward: Reward = "goal",
    render_mode: RenderMode | None = None,
    **rules: Any,
) -> BoardParallelEnv:
    """Make PettingZoo's parallel environment: both agents act, the side not to move says noop.

    See `BoardParallelEnv` for `reward` and `render_mode`. `rules` are the parameters of the game's
    rules if `game` is a text.

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
    made = _make_game(game, rules, parallel_env)
    return BoardParallelEnv(made, reward=reward, render_mode=render_mode)


def vec_env(
    game: str | Game,
    num_envs: int = 1,
    *,
    opponent: Opponent | None = None,
    seat: str = "random",
    reward: Reward = "zero_sum",
    opening_plies: tuple[int, int] = (0, 0),
    autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
    copy: bool = True,
    mask_in_observation: bool = False,
    render_mode: VectorRenderMode | None = None,
    **rules: Any,
) -> BoardVectorEnv:
    """Make Gymnasium's vector environment of many games at once.

    See `BoardVectorEnv` for the options. `rules` are the parameters of the game's rules if `game`
    is a text.

    ```python
    import boardenvs

    envs = boardenvs.vec_env("othello", 1024, opponent="greedy")
    observations, infos = envs.reset(seed=1)  # (1024, 8, 8, 2) int8
    actions = infos["action_mask"].argmax(axis=1)
    observations, rewards, terminations, truncations, infos = envs.step(actions)
    ```
    """
    return BoardVectorEnv(
        _make_game(game, rules, vec_env),
        num_envs,
        opponent=opponent,
        seat=seat,
        reward=reward,
        opening_plies=opening_plies,
        autoreset_mode=autoreset_mode,
        copy=copy,
        mask_in_observation=mask_in_observation,
        render_mode=render_mode,
    )


def single_env(
    game: str | Game,
    *,
    opponent: Opponent = "random",
    seat: str = "random",
    reward: Reward = "zero_sum",
    mask_in_observation: bool = False,
    render_mode: RenderMode | None = None,
    **rules: Any,
) -> BoardSingleEnv:
    """Make Gymnasium's environment of one game against an opponent; `gymnasium.make` calls this.

    See `BoardSingleEnv` for the options. `rules` are the parameters of the game's rules if `game`
    is a text.
    """
    return BoardSingleEnv(
        _make_game(game, rules, single_env),
        opponent=opponent,
        seat=seat,
        reward=reward,
        mask_in_observation=mask_in_observation,
        render_mode=render_mode,
    )


def _make_game(game: str | Game, rules: Mapping[str, Any], maker: Callable[..., object]) -> Game:
    """Return the game with these rule parameters.

    TypeError for a name that is neither a parameter of the rules nor an option of the `maker`.
    """
    named = game if isinstance(game, str) else games.name_of(game)
    parameters = games.parameters(named) if rules else []
    for name in rules:
        if name not in parameters:
            named_options = inspect.signature(maker).parameters.values()
            options = [p.name for p in named_options if p.kind is p.KEYWORD_ONLY]
            # Python's own words first: libraries such as TorchRL try options, and look for them.
            raise TypeError(
                f"{maker.__name__}() got an unexpected keyword argument {name!r}: "
                + unknown("option", name, [*options, *parameters])
            )
    return games.make(game, **rules)


# ---- the registries of PettingZoo, which has one since its version 1.27, and of Gymnasium --------


def gymnasium_id(game_id: str) -> str:
    """Return the name in Gymnasium's registry: "othello_holes" -> "boardenvs/OthelloHoles-v0"."""
    return f"boardenvs/{game_id.title().replace('_', '')}-{VERSION}"


def register_game(game_id: str, factory: Callable[..., Game]) -> None:
    """Register a game under an id, wherever games are named by a text, until the process ends.

    game_id: small letters, digits and underscores. factory: the game's class, or a function that
    makes the game; its parameters are those of the rules. PettingZoo then has the game as
    "boardenvs/ID-v0" and Gymnasium as "boardenvs/Id-v0".

    Packages declare an entry point in the group "boardenvs.games" instead, and other processes,
    such as the workers of a tournament, know the game by its place, "MODULE:NAME". ValueError for
    an id that cannot be one or that another game has, and for a factory that makes no such game.

    ```python
    from functools import partial

    import boardenvs
    from boardenvs.games import Othello

    boardenvs.register_game("small_othello", partial(Othello, id="small_othello", holes=0xFF))
    env = boardenvs.env("small_othello")  # rank 1 is out of play
    ```
    """
    games.add(game_id, factory)
    add_names(game_id)


def register() -> None:
    """Give every game its names."""
    for game_id in games.GAMES:
        add_names(game_id)


def add_names(game_id: str) -> None:
    """Give a game its names in the registries of PettingZoo and Gymnasium, if it lacks them."""
    name = f"boardenvs/{game_id}-{VERSION}"
    if in_pettingzoo is not None and name not in in_pettingzoo.aec_registry:
        makers = "boardenvs.envs.factory"
        in_pettingzoo.register("aec", name, f"{makers}:env", kwargs={"game": game_id})
        in_pettingzoo.register("parallel", name, f"{makers}:parallel_env", kwargs={"game": game_id})
    if gymnasium_id(game_id) not in gymnasium.registry:
        gymnasium.register(
            gymnasium_id(game_id),
            entry_point="boardenvs.envs.factory:single_env",
            vector_entry_point="boardenvs.envs.factory:vec_env",
            kwargs={"game": game_id, "opponent": "random"},
        )
