"""Agents by name: "greedy", or with parameters "name:key=value,key=value"."""

from __future__ import annotations

from collections.abc import Callable

from boardenvs.agents.alphabeta import AlphaBetaAgent
from boardenvs.agents.base import Agent, check_game
from boardenvs.agents.foreign import adapt, load_agent
from boardenvs.agents.levels import LevelAgent
from boardenvs.agents.mcts import mcts_agent
from boardenvs.agents.openspiel.player import openspiel_agent
from boardenvs.agents.perfect import PerfectAgent
from boardenvs.agents.rust_reversi import RustReversiAgent
from boardenvs.agents.simple import GreedyAgent, PositionalAgent, RandomAgent
from boardenvs.agents.trained import TrainedAgent, policy_agent
from boardenvs.engines import EngineAgent
from boardenvs.game.contract import Game
from boardenvs.utils.spec import make_from_spec


def level_agent(level: int) -> LevelAgent:
    """The player of this level, 1 to 10; ValueError for any other."""
    return LevelAgent(level, make_agent)


# What makes each agent; the parameters of its constructor are those of the text.
AGENTS: dict[str, Callable[..., Agent]] = {
    "random": RandomAgent,
    "greedy": GreedyAgent,
    "positional": PositionalAgent,
    "alphabeta": AlphaBetaAgent,
    "mcts": mcts_agent,
    "perfect": PerfectAgent,
    "level": level_agent,
    "policy": policy_agent,
    "trained": TrainedAgent,
    "python": load_agent,
    "openspiel": openspiel_agent,
    "rust_reversi": RustReversiAgent,
    "engine": EngineAgent,
}


def make_agent(spec: str) -> Agent:
    """The agent that a text such as "greedy" or "alphabeta:depth=4,endgame=10" describes.

    ValueError for unknown names, with the nearest one that exists, and for wrong values.

    ```python
    import boardenvs
    import numpy as np

    game = boardenvs.games.make("othello")
    agent = boardenvs.make_agent("alphabeta:depth=2")
    actions = agent.act(game, game.init(8), np.random.default_rng(0))  # eight boards at once
    ```
    """
    return make_from_spec("agent", spec, AGENTS)


def as_agent(given: object) -> Agent:
    """The agent that is given as a text (`make_agent`) or as an object of Python (`adapt`)."""
    return make_agent(given) if isinstance(given, str) else adapt(given)


def agent_for(game: Game, given: object) -> Agent:
    """The agent that is given as a text or as an object of Python, to play this game.

    ValueError or TypeError, with what would be right, where it is not an agent or cannot play the
    game.
    """
    agent = as_agent(given)
    check_game(agent, game)
    return agent


def runs_code(spec: str) -> bool:
    """Whether an agent's text names a module or program, which may be any code, to be run, or an
    address that is sent a key.
    """
    return spec.partition(":")[0] in ("python", "engine", "llm")
