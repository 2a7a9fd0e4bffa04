"""The boards of a training: who plays on them, how games begin, and what became of the games."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from boardenvs.agents import RandomAgent
from boardenvs.envs.groups import BoardGroup, EndedGames
from boardenvs.envs.opponent import Opponent
from training.openings import played_starts
from training.settings import POOL, SELF_PLAY, RunSettings


def board_groups(config: RunSettings) -> list[BoardGroup]:
    """The groups of boards; those of the pool have random players until there are snapshots."""
    settings = config.self_play
    seat = "alternating" if settings.learn == "both" else settings.learn
    special: dict[str, Opponent | None] = {SELF_PLAY: None, POOL: RandomAgent()}
    return [
        BoardGroup(boards, special.get(name, name), seat, name)
        for name, boards in settings.groups()
    ]


def board_options(config: RunSettings) -> dict[str, Any]:
    """What all groups share, as `GroupedBoards` takes it by name."""
    settings = config.self_play
    return {
        "opening_plies": settings.opening_plies,
        "starts": played_starts(config),
        "symmetries": settings.symmetries,
        "threads": settings.threads,
    }


def game_metrics(ended: Mapping[str, EndedGames]) -> dict[str, float]:
    """The metrics of the games that ended, by groups' names; nan where none did."""
    games = sum(e.games for e in ended.values())
    metrics = {
        "games/plies": sum(e.plies for e in ended.values()) / games if games else np.nan,
        "games/wiped_out": sum(e.wiped_out for e in ended.values()) / games if games else np.nan,
    }
    for name, e in ended.items():
        if name != SELF_PLAY:
            metrics[f"games/{name}"] = e.points / e.games if e.games else np.nan
    return metrics
