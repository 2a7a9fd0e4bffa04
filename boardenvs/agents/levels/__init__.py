"""Players of ten strengths, `level:1` to `level:10`, at even steps.

A level plays as one of two players, the stronger one in a share of its moves, drawn move by move.
Which two, and the share, are in a file here for each game and rules; `python .ci/tables` of a
checkout writes it, with the rating pool (`boardenvs.arena.pools`), and measures each
level's rating and its score against the level below.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from boardenvs.agents.base import Agent, AgentByGame, analysis_by, check_game
from boardenvs.agents.spec import make_agent
from boardenvs.game.game import Game
from boardenvs.game.position import Position
from boardenvs.game.state import IntArray, State, take
from boardenvs.games.files import require_file
from boardenvs.search.analysis import Analysis
from boardenvs.utils.checks import check_whole

FOLDER = Path(__file__).parent
LEVELS = 10


@dataclass(frozen=True)
class Mixture:
    """Plays each move as the stronger of two players with the probability `share`, else as the
    weaker one.
    """

    weaker: Agent
    stronger: Agent
    share: float

    def act(self, game: Game, state: State, rng: np.random.Generator | None = None) -> IntArray:
        rng = np.random.default_rng(rng)
        chosen = np.empty(game.check_state(state), np.int64)
        strong = rng.random(len(chosen)) < self.share
        for agent, rows in ((self.stronger, strong), (self.weaker, ~strong)):
            if rows.any():
                chosen[rows] = agent.act(game, take(state, rows), rng)
        return chosen

    def analyse(self, position: Position, rng: np.random.Generator) -> Analysis:
        """Analyse as the one of the two that plays this move."""
        strong = rng.random(1)[0] < self.share
        return analysis_by(self.stronger if strong else self.weaker, position, rng)

    def check_game(self, game: Game) -> None:
        for agent in (self.weaker, self.stronger):
            check_game(agent, game)


@dataclass(frozen=True)
class LevelAgent(AgentByGame):
    """One of ten strengths in any game that has levels, from random play (1) to strong play (10):
    each scores about as well against the one below.
    """

    level: int

    def __post_init__(self) -> None:
        check_whole("level", self.level, 1, LEVELS)

    def player(self, game: Game) -> Mixture:
        return _player(self, game)


@lru_cache(maxsize=64)
def _player(agent: LevelAgent, game: Game) -> Mixture:
    """Return the players of a level in a game, cached: making agents can take longer than their
    moves.
    """
    level = read_levels(game)[agent.level - 1]
    return Mixture(make_agent(level["weaker"]), make_agent(level["stronger"]), level["share"])


@cache
def read_levels(game: Game) -> tuple[Mapping[str, Any], ...]:
    """Return the levels of a game, the weakest first: `weaker`, `stronger` and `share`, see
    `Mixture`, what was measured: `beats_level_below`, except for the first, and `rating` with its
    interval from `low` to `high`, which follow from games with the pool and between levels, and in
    which game: `measured_in`.

    ValueError for a game without levels.
    """
    advice = "alphabeta and mcts have strengths in every game"
    path = require_file(FOLDER, game, "there are no levels", ".json", advice)
    values = json.loads(path.read_text(encoding="utf-8"))
    return tuple(level | {"measured_in": values["game"]} for level in values["levels"])
