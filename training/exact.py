"""Compare a policy with the exact solution of Wolf and Sheep; the tablebase finds every mistake."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from boardenvs.agents import Agent
from boardenvs.agents.perfect import PerfectAgent
from boardenvs.game.contract import Game
from boardenvs.game.perft import parts, successors
from boardenvs.game.state import BoolArray, IntArray, State, concat, take
from boardenvs.tablebase import Tablebase, new_positions, won_positions
from boardenvs.tablebase.numbering import COUNT

# At most this many positions are drawn of those that a role can win; the sheep have 38,297.
POSITIONS = 40_000

# The metric that is a count and not a share.
LEAKS = "leaks"  # the metric that is a count and not a share

# Mistakes of the other role that are drawn; the policy must win after them.
MISTAKES = 1000


def examine(game: Game, agent: Agent, seed: int) -> dict[str, float]:
    """Return the agent's metrics by the exact solution; empty for a game that is not solved.

    Over all positions that games can reach, for each ROLE that wins some:

    - `ROLE keeps`: the share of its won positions in which its move keeps the win;
    - `ROLE only`: the same, if only one move keeps it;
    - `ROLE punishes`: the share of the other role's mistakes after which the agent wins against
      perfect play.

    `ROLE leaks`, for the role that wins from the start: the number of positions in which the agent
    gives its win away, of all that any replies to its moves can lead to.
    """
    try:
        table = Tablebase.load(game)
    except ValueError:
        return {}
    sample_rng, rng = np.random.default_rng(seed).spawn(2)
    metrics: dict[str, float] = {}
    for role, name in enumerate(game.roles):
        state = _drawn(won_positions(game, role), POSITIONS, sample_rng)
        if not len(state.ply):
            continue
        keeping = table.preserving(state)
        kept = _keeps(keeping, agent.act(game, state, rng))
        only = (keeping.sum(axis=1) == 1) & (game.legal(state).sum(axis=1) > 1)
        metrics[f"{name} keeps"] = float(kept.mean())
        metrics[f"{name} only"] = float(kept[only].mean()) if only.any() else 1.0
        mistakes = _drawn(_mistakes(game, 1 - role), MISTAKES, sample_rng)
        if len(mistakes.ply):
            metrics[f"{name} punishes"] = _wins(game, agent, mistakes, rng)
    winner = _winner_of_the_start(table)
    metrics[f"{game.roles[winner]} {LEAKS}"] = float(_leaks(table, agent, winner, rng))
    return metrics


def _winner_of_the_start(table: Tablebase) -> int:
    start = table.game.init(1)
    value, _ = table.lookup(start)
    return int(start.to_move[0]) if value[0] > 0 else 1 - int(start.to_move[0])


@lru_cache(maxsize=4)
def _mistakes(game: Game, role: int) -> State:
    """Return the positions after each move of the role that gives a win away."""
    moves = map(Tablebase.load(game).moves, parts(won_positions(game, role)))
    found = concat([take(move.after, move.value < 0) for move in moves])
    return new_positions(game, found, np.zeros(COUNT, np.bool_))


def _leaks(table: Tablebase, agent: Agent, role: int, rng: np.random.Generator) -> int:
    game, leaks = table.game, 0
    seen: BoolArray = np.zeros(COUNT, np.bool_)
    level = new_positions(game, game.init(1), seen)
    while len(level.ply):
        after = []
        for part in parts(level):
            mine = part.to_move == role
            own = take(part, mine)
            actions = agent.act(game, own, rng)
            value, _ = table.lookup(own)
            leaks += int(((value > 0) & ~_keeps(table.preserving(own), actions)).sum())
            after += [game.step(own, actions), successors(game, take(part, ~mine))[2]]
        level = new_positions(game, concat(after), seen)
    return leaks


def _wins(game: Game, agent: Agent, state: State, rng: np.random.Generator) -> float:
    """Return the share of these positions that the agent, to move, wins against perfect play."""
    role, wins, count = int(state.to_move[0]), 0, len(state.ply)
    players: dict[int, Agent] = {role: agent, 1 - role: PerfectAgent()}
    while len(state.ply):
        state = game.step(state, players[int(state.to_move[0])].act(game, state, rng))
        over = game.is_over(state)
        wins += int((game.goal(take(state, over))[:, role] == 100).sum())
        state = take(state, ~over)
    return wins / count


def _drawn(state: State, count: int, rng: np.random.Generator) -> State:
    rows = rng.permutation(len(state.ply))[:count]
    return take(state, np.sort(rows))


def _keeps(keeping: BoolArray, actions: IntArray) -> BoolArray:
    kept: BoolArray = keeping[np.arange(len(actions)), actions]
    return kept
