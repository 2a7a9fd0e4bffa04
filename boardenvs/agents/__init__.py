"""Players: anything with `act(game, state, rng)`, and `make_agent` to have one by its name."""

from boardenvs.agents.analyse import (
    analyse,
    analyse_until,
    default_analyst,
    exact_analyst,
)
from boardenvs.agents.base import Agent, GameSpecific, check_game
from boardenvs.agents.export import policy_from_sb3
from boardenvs.agents.perfect import PerfectAgent
from boardenvs.agents.simple import GreedyAgent, RandomAgent
from boardenvs.agents.spec import AGENTS, agent_for, as_agent, make_agent

__all__ = [
    "AGENTS",
    "Agent",
    "GameSpecific",
    "GreedyAgent",
    "PerfectAgent",
    "RandomAgent",
    "agent_for",
    "analyse",
    "analyse_until",
    "as_agent",
    "check_game",
    "default_analyst",
    "exact_analyst",
    "make_agent",
    "policy_from_sb3",
]
