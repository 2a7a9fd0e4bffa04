"""A shield for any agent in any game: it takes a win in one and avoids a loss in one.

Trained policies lose most of their lost games by short tactics that a search of two plies sees. The
shield finds them by the rules alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from boardenvs.agents.base import Agent, analysis_by, check_game
from boardenvs.agents.policy import Policy, PolicyAgent
from boardenvs.game.game import Game
from boardenvs.game.perft import successors
from boardenvs.game.position import Position, stack
from boardenvs.game.state import Array, BoolArray, FloatArray, IntArray, State, take
from boardenvs.game.stepping import check_actions
from boardenvs.search.analysis import MOST, Analysis, MoveAnalysis, Outcome, final_scores
from boardenvs.search.mcts import Evaluator

# Positions whose replies are looked at together; bounds the memory.
_CHUNK = 1 << 13


@dataclass(frozen=True)
class Shield:
    """Plays as `agent`, but wins at once if it can, and avoids moves that lose at once or let the
    opponent win with its reply, if there is another move.

    Instead of such a move it plays the allowed one that the agent prefers, if the agent is an
    `Evaluator`, else a uniformly random one. A win or loss by a cap on plies counts too.
    """

    agent: Agent

    def act(self, game: Game, state: State, rng: np.random.Generator | None = None) -> IntArray:
        rng = np.random.default_rng(rng)
        answers = check_actions(self.agent.act(game, state, rng), game.check_state(state))
        chosen = np.where(game.is_legal(state, answers), answers, game.noop)
        wins, losses = wins_and_losses(game, state, chosen)
        allowed = np.where(wins.any(axis=1, keepdims=True), wins, game.legal(state) & ~losses)
        refused = np.flatnonzero(allowed.any(axis=1) & ~allowed[np.arange(len(chosen)), chosen])
        if refused.size:
            preferences: Array
            if isinstance(self.agent, Evaluator):
                preferences, _ = self.agent.evaluate(game, take(state, refused))
            else:
                preferences = rng.random((len(refused), game.num_actions))
            chosen[refused] = np.where(allowed[refused], preferences, -np.inf).argmax(axis=1)
        return chosen

    def analyse(self, position: Position, rng: np.random.Generator) -> Analysis:
        """Return the agent's analysis, of all moves, with the results that the shield proves: wins
        at once, and losses at once or by the opponent's reply.
        """
        analysis = analysis_by(self.agent, position, rng)
        (wins,), (losses,) = wins_and_losses(position.game, stack([position]))
        moves, most = list[MoveAnalysis](), MOST[analysis.unit]
        named = {move.action: move for move in analysis.moves}
        for action in dict.fromkeys([*named, *position.legal_actions()]):
            move = named.get(action) or MoveAnalysis(action=action, line=(action,))
            if wins[action]:
                move = replace(move, outcome="win", value=most, plies=1)
            elif losses[action]:
                move = replace(move, outcome="loss", value=None if move.value is None else -most)
            moves.append(move)
        outcome: Outcome | None = "win" if wins.any() else analysis.outcome
        if losses.sum() == len(moves):
            outcome = "loss"
        elif wins.any() or losses[moves[0].action]:
            allowed = wins if wins.any() else ~losses
            moves.sort(key=lambda move: not allowed[move.action])
        plies = 1 if wins.any() else None
        return replace(analysis, moves=tuple(moves), outcome=outcome, plies=plies)

    def check_game(self, game: Game) -> None:
        check_game(self.agent, game)


def policy_player(
    policy: Policy, sample: bool = False, shield: bool = False, symmetries: bool = False
) -> Agent:
    """Return the player of a policy: a `PolicyAgent`, with a shield if that is asked for."""
    agent = PolicyAgent(policy, sample, symmetries)
    return Shield(agent) if shield else agent


def wins_and_losses(
    game: Game, state: State, chosen: IntArray | None = None
) -> tuple[BoolArray, BoolArray]:
    """Return the moves that win at once, and those that lose at once or let the opponent win with
    its reply, each (B, A) bool. If moves are `chosen`, (B,), losses are marked only in rows without
    a win whose chosen move loses.
    """
    wins = np.zeros((len(state.ply), game.num_actions), np.bool_)
    losses = np.zeros_like(wins)
    rows, actions, after = successors(game, state)
    movers = state.to_move[rows]
    gain = _gain(game, movers, after)
    wins[rows, actions] = gain > 0

    def losing(moves: IntArray) -> IntArray:
        return moves[_loses(game, movers[moves], take(after, moves), gain[moves])]

    moves = np.arange(len(rows))
    if chosen is not None:  # look at the others only if the chosen move loses
        undecided: BoolArray = ~np.any(wins, axis=1)
        played = np.flatnonzero(undecided[rows] & (actions == chosen[rows]))
        moves = np.flatnonzero(np.isin(rows, rows[losing(played)]))
    lost = losing(moves)
    losses[rows[lost], actions[lost]] = True
    return wins, losses


def _gain(game: Game, movers: IntArray, after: State) -> FloatArray:
    """Return the result to the sides that have just moved, 0 where the game goes on, (B,)."""
    return np.where(game.is_over(after), final_scores(game, movers, after), 0.0)


def _loses(game: Game, movers: IntArray, after: State, gain: FloatArray) -> BoolArray:
    """Return whether the move before lost, or the opponent has a reply that wins, (B,) bool."""
    loses = gain < 0
    live = np.flatnonzero(~game.is_over(after) & (after.to_move != movers))
    for start in range(0, len(live), _CHUNK):
        part = live[start : start + _CHUNK]
        rows, _, replied = successors(game, take(after, part))
        loses[part[rows[_gain(game, after.to_move[part][rows], replied) > 0]]] = True
    return loses
