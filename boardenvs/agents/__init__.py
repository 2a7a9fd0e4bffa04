"""Players: anything with `act(game, state, rng)`, and `make_agent` to have one by its name."""

from boardenvs.agents.base import Agent
from boardenvs.agents.greedy import GreedyAgent
from boardenvs.agents.random import RandomAgent
from boardenvs.agents.spec import AGENTS, make_agent

__all__ = ["AGENTS", "Agent", "GreedyAgent", "RandomAgent", "make_agent"]
