"""Entries in the registries of PettingZoo, which has one since its version 1.27, and Gymnasium.

pettingzoo.make("aec", "boardenvs/othello-v0")
gymnasium.make("boardenvs/Othello-v0", opponent="greedy")
gymnasium.make_vec("boardenvs/Othello-v0", 1024, vectorization_mode="vector_entry_point")
"""

from __future__ import annotations

from collections.abc import Callable

import gymnasium

from boardenvs import games
from boardenvs.envs.factory import VERSION
from boardenvs.game.contract import Game

try:
    from pettingzoo.env_registry import registration as in_pettingzoo
except ModuleNotFoundError:  # older, as AgileRL wants it; nothing else of 1.27 is used here
    in_pettingzoo = None


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
