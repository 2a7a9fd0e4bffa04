"""Environments of any game: `boardenvs.env("othello")`, `boardenvs.vec_env(game, 1024)`.

A game is a text (see `boardenvs.games.make`) or a Game. The public modules, such as
`boardenvs.othello_v0`, have the same functions for one game, with its options by name. The games
have entries in the registries of PettingZoo and Gymnasium too:

    pettingzoo.make("aec", "boardenvs/othello-v0")
    gymnasium.make("boardenvs/Othello-v0", opponent="greedy")
    gymnasium.make_vec("boardenvs/Othello-v0", 1024, vectorization_mode="vector_entry_point")
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import (
    Any,
    Generic,
    Literal,
    NamedTuple,
    ParamSpec,
    Protocol,
    TypedDict,
    TypeVar,
    Unpack,
)

import gymnasium
from gymnasium.vector import AutoresetMode

from boardenvs import games
from boardenvs.envs.aec import BoardAECEnv
from boardenvs.envs.core import VERSION, RenderMode, Reward, VectorRenderMode
from boardenvs.envs.groups import Opponent
from boardenvs.envs.parallel import BoardParallelEnv
from boardenvs.envs.single import BoardSingleEnv
from boardenvs.envs.vector import BoardVectorEnv
from boardenvs.game.contract import Game
from boardenvs.utils.checks import cut, unknown


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


try:
    from pettingzoo.env_registry import registration as in_pettingzoo
except ModuleNotFoundError:  # older, as AgileRL wants it; nothing else of 1.27 is used here
    in_pettingzoo = None

Env = TypeVar("Env")
Board = ParamSpec("Board")  # the options of a board's environments
Batch = ParamSpec("Batch")


def env(game: str | Game, **options: Unpack[EnvOptions]) -> BoardAECEnv:
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
    return _make(partial(BoardAECEnv, on_illegal="forfeit"), BoardOptions, game, options)


def raw_env(game: str | Game, **options: Unpack[EnvOptions]) -> BoardAECEnv:
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
    return _make(partial(BoardAECEnv, on_illegal="raise"), BoardOptions, game, options)


def parallel_env(game: str | Game, **options: Unpack[EnvOptions]) -> BoardParallelEnv:
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
    return _make(BoardParallelEnv, BoardOptions, game, options)


def vec_env(
    game: str | Game, num_envs: int = 1, **options: Unpack[VecEnvOptions]
) -> BoardVectorEnv:
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
    return _make(partial(BoardVectorEnv, num_envs=num_envs), VectorOptions, game, options)


def single_env(game: str | Game, **options: Unpack[SingleEnvOptions]) -> BoardSingleEnv:
    """One game against an opponent, as Gymnasium's environment; `gymnasium.make` calls this.

    Options are those of `BoardSingleEnv` (`reward`, "zero_sum" by default, `opponent`, `seat`,
    `mask_in_observation`, `render_mode`) and, where `game` is a text, the parameters of its rules.
    """
    return _make(BoardSingleEnv, SingleOptions, game, options)


class VectorMaker(Protocol[Batch]):
    """`vec_env` of one game."""

    def __call__(
        self, num_envs: int = 1, *args: Batch.args, **options: Batch.kwargs
    ) -> BoardVectorEnv: ...


class Makers(NamedTuple, Generic[Board, Batch]):
    """What the public module of a game offers; see the functions above of the same names."""

    env: Callable[Board, BoardAECEnv]
    raw_env: Callable[Board, BoardAECEnv]
    parallel_env: Callable[Board, BoardParallelEnv]
    vec_env: VectorMaker[Batch]


def makers(
    game_id: str, board: Callable[Board, None], batch: Callable[Batch, None]
) -> Makers[Board, Batch]:
    """The functions that make environments of one game.

    To type checkers those of a board have the parameters of the function `board`, and `vec_env`
    those of `batch`; `help` shows the options that the environments' constructors and the game's
    rules have.
    """
    return Makers(
        _maker_of(game_id, env, BoardAECEnv),
        _maker_of(game_id, raw_env, BoardAECEnv),
        _maker_of(game_id, parallel_env, BoardParallelEnv),
        _maker_of(game_id, vec_env, BoardVectorEnv),
    )


def _maker_of(game_id: str, make: Any, environment: Callable[..., object]) -> Any:
    def make_env(*args: Any, **options: Any) -> Any:
        return make(game_id, *args, **options)

    rules = inspect.signature(games.GAMES[game_id]).parameters
    known = {*BoardOptions.__optional_keys__, *VectorOptions.__optional_keys__}
    options = [p for name, p in inspect.signature(environment).parameters.items() if name in known]
    options += [rules[name] for name in games.parameters(game_id)]
    signature = inspect.signature(make)
    _, *given, _ = signature.parameters.values()  # without the game and the options
    shown = [*given, *(p.replace(kind=p.KEYWORD_ONLY) for p in options)]
    vars(make_env)["__signature__"] = signature.replace(parameters=shown)
    make_env.__module__ = f"boardenvs.{game_id}_{VERSION}"
    make_env.__name__ = make_env.__qualname__ = make.__name__
    make_env.__doc__ = f"See `boardenvs.{make.__name__}`."
    return make_env


def _make(
    maker: Callable[..., Env], known: Any, game: str | Game, options: Mapping[str, Any]
) -> Env:
    """The environment with those options that are `known` (a TypedDict); what is left of them are
    those of the rules.

    TypeError for an option that neither has.
    """
    own = known.__optional_keys__
    given: dict[str, Any] = {}
    rules: dict[str, Any] = {}
    for name, value in options.items():
        (given if name in own else rules)[name] = value
    if rules:
        parameters = games.parameters(game) if isinstance(game, str) else []
        for name in rules:
            if name not in parameters:
                title = game.id if isinstance(game, Game) else cut(str(game))
                raise TypeError(unknown(f"option of {title}_{VERSION}", name, [*own, *parameters]))
    return maker(games.make(game, **rules), **given)


# ---- the registries of PettingZoo, which has one since its version 1.27, and of Gymnasium --------


def gymnasium_id(game_id: str) -> str:
    """The name in Gymnasium's registry: "othello_holes" -> "boardenvs/OthelloHoles-v0"."""
    return f"boardenvs/{game_id.title().replace('_', '')}-{VERSION}"


def register_game(game_id: str, factory: Callable[..., Game]) -> None:
    """Make a game known by an id, wherever games are named by a text, until the process ends.

    game_id: small letters, digits and underscores. factory: the game's class, or a function that
    makes the game; its parameters are those of the rules. PettingZoo has the game then as
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
    """Give every known game its names."""
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
            kwargs={"game": game_id},
        )
