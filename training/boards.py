"""The boards of a training: who plays on them, how games begin, and what became of the games."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from boardenvs.agents import make_agent
from boardenvs.agents.simple import RandomAgent
from boardenvs.arena.match import same_winner
from boardenvs.envs.batch import BoardGroup, EndedGames
from boardenvs.envs.groups import Opponent
from boardenvs.game.contract import Game
from boardenvs.game.openings import PlayedBy, distinct_openings, random_openings
from boardenvs.game.state import State, concat
from training.settings import POOL, SELF_PLAY, RunSettings, SelfPlaySettings

# Openings of players are played before the training begins, so many of them.
_STARTS = 1 << 16


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
    """What all groups share, as `Batch` takes it by name."""
    settings = config.self_play
    return {
        "opening_plies": settings.opening_plies,
        "starts": played_starts(config),
        "symmetries": settings.symmetries,
        "threads": settings.threads,
    }


def played_starts(config: RunSettings) -> State | None:
    """The openings of a run; None where they are random plies, which are played as games begin."""
    settings = config.self_play
    if settings.openings.keys() == {"random"} and not settings.undecided:
        return None
    rng = np.random.default_rng([config.seed, _STARTS])
    return played_openings(config.make_game(), settings, _STARTS, rng)


def played_openings(
    game: Game, settings: SelfPlaySettings, count: int, rng: np.random.Generator
) -> State:
    """About `count` positions that are not over, played by the players of the settings.

    Random play leads to some kinds of positions only. In Lines of Action it hardly ever leads near
    an end, so that all games are drawn and there is nothing to learn from; openings of a player
    that knows where to go also end shortly before a win. Undecided openings are distinct before
    they are repeated: else the few short ones of Wolf and Sheep would crowd out the rest.
    ValueError where there are none.
    """
    parts = []
    for spec, share in settings.openings.items():
        by = None if spec == "random" else PlayedBy(make_agent(spec), settings.opening_noise)
        undecided = round(share * settings.undecided * count)
        others = round(share * (1 - settings.undecided) * count)
        plies = settings.opening_plies
        if others:
            parts.append(random_openings(game, others, plies, rng, by))
        if undecided:
            parts.append(distinct_openings(game, undecided, plies, rng, same_winner, by).state)
    return concat(parts)


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
