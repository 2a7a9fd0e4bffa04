"""Players: anything with `act(game, state, rng)`; `make_agent` makes one by its name."""

from boardenvs.agents.base import Agent, GameSpecific, check_game
from boardenvs.agents.history import History
from boardenvs.agents.spec import AGENTS, agent_for, as_agent, make_agent

__all__ = [
    "AGENTS",
    "Agent",
    "GameSpecific",
    "History",
    "agent_for",
    "as_agent",
    "check_game",
    "make_agent",
]
