"""Kaggle environments: specification, interpreter, renderer and html_renderer of a game of two.

    register()
    env = kaggle_environments.make("boardenvs", configuration={"game": "lines_of_action"})
    env.run([agent, agent])

An agent gets `observation.prompt`, and returns what it writes. This file imports nothing of
Kaggle's but where it registers itself.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from boardenvs.records.page import write_page
from boardenvs.text.env import TextEnv
from boardenvs.text.question import RETRIES

specification: dict[str, Any] = {
    "name": "boardenvs",
    "title": "Board games",
    "description": "Othello, Lines of Action, Wolf and Sheep and other games of two, in words",
    "version": "1.0.0",
    "agents": [2],
    "configuration": {
        "episodeSteps": 2000,
        "actTimeout": 60,
        "runTimeout": 100_000,
        "game": {"description": "A game's text.", "type": "string", "default": "othello"},
        "style": {
            "description": "How positions are shown.",
            "enum": ["ascii", "fen", "json"],
            "default": "ascii",
        },
        "legalMoves": {"description": "List them.", "type": "boolean", "default": True},
        "retries": {"description": "After a wrong reply.", "type": "integer", "default": RETRIES},
        "seed": {"description": "Of openings and disguise.", "type": "integer", "default": 0},
        "openingPlies": {"description": "Played at random.", "type": "integer", "default": 0},
        "disguise": {"description": "Show other names.", "type": "boolean", "default": False},
    },
    "reward": {"description": "1: won, -1: lost", "enum": [-1, 0, 1], "default": 0},
    "observation": {
        "prompt": {"description": "What is asked, to the side to move.", "type": "string"},
        "board": {"description": "The position.", "type": "string", "shared": True},
        "reading": {"description": "What the last reply was read as.", "type": "string"},
        "remainingOverageTime": 60,
    },
    "action": {"description": "A reply, in words.", "type": "string", "default": ""},
    "status": {"defaults": ["ACTIVE", "INACTIVE"]},
}


def interpreter(state: list[Any], env: Any) -> list[Any]:
    """Read the reply of the side to move, and ask the next."""
    begins = env.done
    if begins or not hasattr(env, "text"):
        env.text = _replayed(env)
    text: TextEnv = env.text
    if not begins:
        agent, other = state[text.role], state[1 - text.role]
        if agent.status != "ACTIVE":  # late, or its code raised: it has its status already
            agent.reward, other.reward, other.status = -1, 1, "DONE"
            return state
        agent.observation.reading = text.step(agent.action).reading.kind
    for role, agent in enumerate(state):
        asked = role == text.role
        agent.status = "DONE" if text.done else "ACTIVE" if asked else "INACTIVE"
        agent.reward = int(text.reward) * (1 if role == 0 else -1)
        agent.observation.prompt = text.prompt if asked else ""
    state[0].observation.board = text.style.draw(text.position)
    return state


def renderer(state: list[Any], env: Any) -> str:
    """The position, in characters."""
    return str(state[0].observation.board)


def html_renderer(env: Any) -> str:
    """A page of its own: the game on a board to step through."""
    return write_page([replace(env.text.result.record, info={})])


def register(name: str = "boardenvs") -> None:
    """Have `kaggle_environments.make` know the environment by this name."""
    import kaggle_environments

    parts = (interpreter, renderer, html_renderer)
    functions = {part.__name__: part for part in parts}
    kaggle_environments.register(name, {"specification": specification, "agents": {}, **functions})


def _replayed(env: Any) -> TextEnv:
    """The game with all that was replied so far: an episode may go on from its steps."""
    given = env.configuration
    text = TextEnv(
        given.game,
        opponent=None,
        board=given.style,
        legal_moves=given.legalMoves,
        retries=given.retries,
        opening_plies=(given.openingPlies, given.openingPlies),
        disguise=given.seed if given.disguise else None,
    )
    text.reset(seed=given.seed)
    for states in env.steps[1:]:
        text.step(states[text.role].action)
    return text
