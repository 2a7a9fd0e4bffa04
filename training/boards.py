"""The boards of a training: opponents, openings, and metrics of the games that ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from boardenvs.agents import make_agent
from boardenvs.agents.simple import RandomAgent
from boardenvs.envs.batch import BoardGroup, EndedGames
from boardenvs.envs.groups import Opponent
from boardenvs.game.contract import Game
from boardenvs.game.openings import PlayedBy, distinct_openings, random_openings
from boardenvs.game.state import State, concat
from training.run_settings import POOL, SELF_PLAY, RunSettings, SelfPlaySettings

_STARTS = 1 << 16  # openings that players play before the training begins
_NOISE = 0.25  # the share of random plies in openings by players


def board_groups(config: RunSettings) -> list[BoardGroup]:
    """Return the groups of boards; the pool's have random players until there are snapshots."""
    special: dict[str, Opponent | None] = {SELF_PLAY: None, POOL: RandomAgent()}
    return [
        BoardGroup(boards, special.get(name, name), "alternating", name)
        for name, boards in config.self_play.groups()
    ]


def board_options(config: RunSettings) -> dict[str, Any]:
    """Return the keyword arguments of `Batch` that all groups share."""
    settings, starts = config.self_play, None
    if settings.openings.keys() != {"random"} or settings.undecided:
        rng = np.random.default_rng([config.seed, _STARTS])
        starts = played_openings(config.make_game(), settings, _STARTS, rng)
    return {
        "opening_plies": settings.opening_plies,
        "starts": starts,
        "symmetries": True,
        "threads": settings.threads,
    }


def played_openings(
    game: Game, settings: SelfPlaySettings, count: int, rng: np.random.Generator
) -> State:
    """Return about `count` positions that are not over, played by the players of the settings.

    Random play reaches some kinds of positions only: in Lines of Action hardly ever one near a
    win. Undecided openings are distinct before they are repeated, or the few short ones of Wolf
    and Sheep would crowd out the rest. ValueError if there are none.
    """
    from boardenvs.arena.match import same_winner

    parts = []
    for spec, share in settings.openings.items():
        by = None if spec == "random" else PlayedBy(make_agent(spec), _NOISE)
        undecided = round(share * settings.undecided * count)
        others = round(share * (1 - settings.undecided) * count)
        plies = settings.opening_plies
        if others:
            parts.append(random_openings(game, others, plies, rng, by))
        if undecided:
            parts.append(distinct_openings(game, undecided, plies, rng, same_winner, by).state)
    return concat(parts)


def game_metrics(ended: Mapping[str, EndedGames]) -> dict[str, float]:
    """Return the metrics of the games that ended, by group; nan if none did."""
    games = sum(e.games for e in ended.values()) or np.nan
    metrics = {
        "games/plies": sum(e.plies for e in ended.values()) / games,
        "games/wiped_out": sum(e.wiped_out for e in ended.values()) / games,
    }
    for name, e in ended.items():
        if name != SELF_PLAY:
            metrics[f"games/{name}"] = e.points / (e.games or np.nan)
    return metrics
