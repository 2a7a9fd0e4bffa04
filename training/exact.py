"""Compare a policy with the exact solution of Wolf and Sheep."""

from __future__ import annotations

import numpy as np

from boardenvs.agents import Agent
from boardenvs.game.game import Game
from boardenvs.game.state import take
from boardenvs.tablebase import Tablebase, won_positions

# At most this many positions are drawn of those that a role can win; the sheep have 38,297.
POSITIONS = 40_000


def examine(game: Game, agent: Agent, seed: int) -> dict[str, float]:
    """Return `ROLE keeps` for each role: of the positions that games can reach and the role wins
    with perfect play, the share in which the agent's move keeps the win.

    A role that wins nowhere is left out; the result is empty for a game that is not solved.
    """
    try:
        table = Tablebase.load(game)
    except ValueError:
        return {}
    sample_rng, rng = np.random.default_rng(seed).spawn(2)
    metrics: dict[str, float] = {}
    for role, name in enumerate(game.roles):
        state = won_positions(game, role)
        state = take(state, np.sort(sample_rng.permutation(len(state.ply))[:POSITIONS]))
        if len(state.ply):
            actions = agent.act(game, state, rng)
            kept = table.preserving(state)[np.arange(len(actions)), actions]
            metrics[f"{name} keeps"] = float(kept.mean())
    return metrics
