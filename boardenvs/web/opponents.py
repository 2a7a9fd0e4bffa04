"""Who there is to play against, as the page offers them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from boardenvs.agents.base import AnalysingUntil
from boardenvs.agents.levels import LEVELS, read_levels
from boardenvs.agents.spec import agent_for
from boardenvs.game.contract import Game

# From the weakest to the strongest, about.
AGENTS = (
    "random",
    "greedy",
    "positional",
    "mcts:rollouts=400",
    "trained",
    "mcts:simulations=200,policy=trained",
    "alphabeta:depth=4",
    "alphabeta:depth=6,endgame=14,evaluation=trained",
    "perfect",
)


def list_opponents(game: Game, named: Sequence[str]) -> list[dict[str, Any]]:
    """The levels, agents and those that the server was told to offer: `agent`, the `rating` of a
    level, whether it `searches` for as long as it is given, and the `problem` of one that cannot
    play this game.
    """
    levels = [f"level:{level}" for level in range(1, LEVELS + 1)]
    try:
        ratings = [level["rating"] for level in read_levels(game)]
    except ValueError:  # which each of them says
        ratings = []
    rated = dict(zip(levels, ratings, strict=False))
    return [
        {"agent": text, "rating": rated.get(text), **_describe(game, text)}
        for text in (*levels, *AGENTS, *named)
    ]


def _describe(game: Game, text: str) -> dict[str, Any]:
    try:
        return {"problem": None, "searches": isinstance(agent_for(game, text), AnalysingUntil)}
    except (ValueError, TypeError) as error:
        return {"problem": str(error), "searches": False}
