"""Players: anything with `act(game, state, rng)`, and `make_agent` to have one by its name."""

from boardenvs.agents.base import Agent, GameSpecific, check_game
from boardenvs.agents.explain import Explanation, MoveExplanation, explain, explain_steadily
from boardenvs.agents.export import policy_from_sb3
from boardenvs.agents.greedy import GreedyAgent
from boardenvs.agents.perfect import PerfectAgent
from boardenvs.agents.random import RandomAgent
from boardenvs.agents.spec import AGENTS, agent_for, as_agent, make_agent

__all__ = [
    "AGENTS",
    "Agent",
    "Explanation",
    "GameSpecific",
    "GreedyAgent",
    "MoveExplanation",
    "PerfectAgent",
    "RandomAgent",
    "agent_for",
    "as_agent",
    "check_game",
    "explain",
    "explain_steadily",
    "make_agent",
    "policy_from_sb3",
]
