"""Rewards for training language models, as plain functions of a position and a reply."""

from __future__ import annotations

from collections.abc import Mapping

from boardenvs.agents import Agent
from boardenvs.agents.analyse import analyse
from boardenvs.game.position import Position
from boardenvs.text.reader import read


def reward(
    position: Position,
    reply: str,
    agent: Agent | str | None = None,
    *,
    finish_reason: str = "stop",
) -> float:
    """Return where the move of a reply lies between the worst legal move, 0, and the best, 1.

    The values are an agent's, see `boardenvs.analyse`. 0 for a reply without a legal move.
    finish_reason: as in `read`. ValueError for an agent that values no moves, such as "random".

    ```python
    import boardenvs
    from boardenvs.text import format_reward, reward

    position = boardenvs.games.make("othello").start()
    print(reward(position, '{"move": "e6"}', "alphabeta:depth=4"))
    print(format_reward(position, "I play e6."))
    ```
    """
    action = read(reply, position, finish_reason=finish_reason).action
    if action is None:
        return 0.0
    moves = analyse(position, agent).moves
    values = {move.action: move.value for move in moves if move.value is not None}
    if len(values) < len(moves):
        raise ValueError(f"agent {agent} does not value all moves of {position.fen()!r}")
    return scaled(values)[action]


def format_reward(position: Position, reply: str, *, finish_reason: str = "stop") -> float:
    """Return 1 for a reply that gives its move in the form that prompts ask for, legal or not, or
    in another answer slot, and 0 for one that cannot be read.
    """
    return float(read(reply, position, finish_reason=finish_reason).kind in ("move", "illegal"))


def scaled(values: Mapping[int, float]) -> dict[int, float]:
    """Return the values between 0 for the lowest and 1 for the highest; 1 if all are equal."""
    worst, best = min(values.values()), max(values.values())
    return {k: (v - worst) / (best - worst) if best > worst else 1.0 for k, v in values.items()}
