"""A shield for any agent in any game: it takes a win in one and avoids a loss in one.

Trained policies lose most of their lost games to short tactics that two plies of search see. The
shield finds them from the rules alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from boardenvs.agents.base import Agent, analysis_by, check_game
from boardenvs.game.contract import Game, Position, stack
from boardenvs.game.perft import successors
from boardenvs.game.rules import MAX_VALUE
from boardenvs.game.state import Array, BoolArray, FloatArray, IntArray, State, take
from boardenvs.search.analysis import Analysis, Outcome, final_scores
from boardenvs.search.trees import Evaluator

# Positions whose replies are looked at together; bounds the memory.
_CHUNK = 1 << 13


@dataclass(frozen=True)
class Shield:
    """Plays as `agent` does, but wins at once where it can, and makes no move that loses at once,
    or lets the opponent win with its reply, where there is another one.

    Instead of such a move it plays the allowed one that the agent likes best, where the agent is
    an `Evaluator`, and else a uniformly random one. A win or loss by a cap on plies counts too.
    """

    agent: Agent

    def act(self, game: Game, state: State, rng: np.random.Generator | None = None) -> IntArray:
        rng = np.random.default_rng(rng)
        chosen = np.array(self.agent.act(game, state, rng))
        allowed = _allowed(game, state, chosen)
        row = np.arange(len(chosen))
        refused = np.flatnonzero(allowed.any(axis=1) & ~allowed[row, chosen])
        if refused.size:
            preferences = self._preferences(game, take(state, refused), rng)
            preferences[~allowed[refused]] = -np.inf
            chosen[refused] = preferences.argmax(axis=1)
        return chosen

    def _preferences(self, game: Game, state: State, rng: np.random.Generator) -> Array:
        if isinstance(self.agent, Evaluator):
            return self.agent.evaluate(game, state)[0].copy()
        return rng.random((len(state.ply), game.num_actions))

    def analyse(self, position: Position, rng: np.random.Generator) -> Analysis:
        """As the agent sees the position, with what the shield proves: wins at once, and losses at
        once or by the opponent's reply.
        """
        game, state = position.game, stack([position])
        found = analysis_by(self.agent, position, rng)
        allowed = _allowed(game, state, np.array([found.moves[0].action]))[0]
        rows, actions, after = successors(game, state)
        gain = _gain(game, state.to_move[rows], after)
        wins, losses = actions[gain > 0], actions[_loses(game, state.to_move[rows], after, gain)]
        most = {"score": 1, "margin": 64, "heuristic": MAX_VALUE}[found.unit]
        moves = []
        for move in found.moves:
            if move.action in wins:
                move = replace(move, outcome="win", value=most, plies=1)
            elif move.action in losses:
                move = replace(move, outcome="loss", value=-most)
            moves.append(move)
        moves.sort(key=lambda move: bool(allowed.any() and not allowed[move.action]))
        outcome: Outcome | None = "win" if len(wins) else found.outcome
        if len(losses) == len(moves):
            outcome = "loss"
        return replace(found, moves=tuple(moves), outcome=outcome, plies=1 if len(wins) else None)

    def check_game(self, game: Game) -> None:
        check_game(self.agent, game)


def _allowed(game: Game, state: State, chosen: IntArray) -> BoolArray:
    """The moves to choose from, (B, A) bool: those that win at once; if there are none and the
    chosen move loses at once, those that do not lose at once. Nothing is marked where the chosen
    move can stay, or where all moves lose.
    """
    allowed: BoolArray = np.zeros((len(chosen), game.num_actions), np.bool_)
    rows, actions, after = successors(game, state)
    movers = state.to_move[rows]
    gain = _gain(game, movers, after)
    wins = gain > 0
    allowed[rows[wins], actions[wins]] = True
    undecided: BoolArray = ~np.any(allowed, axis=1)
    moves = np.flatnonzero(undecided[rows] & (actions == chosen[rows]))
    losing = rows[moves[_loses(game, movers[moves], take(after, moves), gain[moves])]]
    # Only where the chosen move loses are all the others looked at.
    moves = np.flatnonzero(np.isin(rows, losing))
    safe = moves[~_loses(game, movers[moves], take(after, moves), gain[moves])]
    allowed[rows[safe], actions[safe]] = True
    return allowed


def _gain(game: Game, movers: IntArray, after: State) -> FloatArray:
    """+1, 0 or -1 to the sides that have just moved where that ended the game, else 0, (B,)."""
    return np.where(game.is_over(after), final_scores(game, movers, after), 0.0)


def _loses(game: Game, movers: IntArray, after: State, gain: FloatArray) -> BoolArray:
    """Where the move that led here lost, or the opponent has a reply that wins, (B,) bool."""
    loses: BoolArray = np.zeros(len(gain), np.bool_)
    loses[gain < 0] = True
    live = np.flatnonzero(~game.is_over(after) & (after.to_move != movers))
    for start in range(0, len(live), _CHUNK):
        part = live[start : start + _CHUNK]
        rows, _, replied = successors(game, take(after, part))
        loses[part[rows[_gain(game, after.to_move[part][rows], replied) > 0]]] = True
    return loses
