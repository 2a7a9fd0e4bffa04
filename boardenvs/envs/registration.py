"""Entries in PettingZoo's registry: `pettingzoo.make("aec", "boardenvs/othello-v0")`."""

from __future__ import annotations

from pettingzoo.env_registry import registration

from boardenvs.envs.factory import module_name
from boardenvs.games import GAMES


def register() -> None:
    """Register every game, once."""
    for game_id in GAMES:
        name = f"boardenvs/{game_id}-v0"
        module = f"boardenvs.{module_name(game_id)}"
        if name not in registration.aec_registry:
            registration.register("aec", name, f"{module}:env")
            registration.register("parallel", name, f"{module}:parallel_env")
