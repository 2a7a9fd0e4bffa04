"""Entries in the registries of PettingZoo and Gymnasium.

pettingzoo.make("aec", "boardenvs/othello-v0")
gymnasium.make("boardenvs/Othello-v0", opponent="greedy")
gymnasium.make_vec("boardenvs/Othello-v0", 1024, vectorization_mode="vector_entry_point")
"""

from __future__ import annotations

import gymnasium
from pettingzoo.env_registry import registration

from boardenvs.envs.factory import module_name
from boardenvs.games import GAMES


def gymnasium_id(game_id: str) -> str:
    """The name in Gymnasium's registry: "othello_holes" -> "boardenvs/OthelloHoles-v0"."""
    return f"boardenvs/{game_id.title().replace('_', '')}-v0"


def register() -> None:
    """Register every game that is not yet registered."""
    for game_id in GAMES:
        name, module = f"boardenvs/{game_id}-v0", f"boardenvs.{module_name(game_id)}"
        if name not in registration.aec_registry:
            registration.register("aec", name, f"{module}:env")
            registration.register("parallel", name, f"{module}:parallel_env")
        if gymnasium_id(game_id) not in gymnasium.registry:
            gymnasium.register(
                gymnasium_id(game_id),
                entry_point="boardenvs.envs.factory:single_env",
                vector_entry_point="boardenvs.envs.factory:vector_env",
                kwargs={"game_id": game_id},
            )
