"""How strong a policy is: paired games against a panel, and the exact solution where there is one.

The opponents of a panel are fixed, and so are the openings: each is played twice, with roles
swapped.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from pydantic import BaseModel

from boardenvs.agents import Agent, make_agent
from boardenvs.arena import MatchResult, play_match
from boardenvs.games import Game
from boardenvs.openings import distinct_openings
from boardenvs.state import BoolArray, IntArray, State, take, where
from boardenvs.tablebase import Tablebase
from training.config import Panel

# Positions from random games by which agreement with the exact solution is measured.
_POSITIONS = 4000
_POSITION_PLIES = (0, 30)


class Score(BaseModel):
    """The result against one opponent; `low` to `high` is the score's 95 % interval."""

    score: float
    low: float
    high: float
    wins: int
    draws: int
    losses: int
    by_role: tuple[float, float] = (0.0, 0.0)  # the scores in the first and in the second role
    wiped_out: int = 0  # games lost without a piece left
    plies: float = 0.0  # the mean length of a game

    def __str__(self) -> str:
        return (
            f"{self.score:.3f} [{self.low:.3f}, {self.high:.3f}] "
            f"+{self.wins} ={self.draws} -{self.losses}"
        )


class PanelResult(BaseModel):
    """The results of a policy after `steps`, `minutes` into the training, by opponent."""

    steps: int
    minutes: float
    scores: dict[str, Score]
    agreement: dict[str, float] = {}  # by role, see `agreement`

    @property
    def worst(self) -> tuple[float, float]:
        """What policies are ranked by: the worst score, and the mean where that is equal."""
        scores = [s.score for s in self.scores.values()]
        return min(scores), sum(scores) / len(scores)

    def __str__(self) -> str:
        parts = [f"{name} {score}" for name, score in self.scores.items()]
        return "   ".join(parts + [f"exact ({k}) {v:.3f}" for k, v in self.agreement.items()])


def evaluate(game: Game, agent: Agent, panel: Panel, seed: int) -> dict[str, Score]:
    """The scores of the agent against each opponent of the panel, by the opponent's name."""
    return {
        spec: score_of(game, match(game, agent, make_agent(spec), panel, seed))
        for spec in panel.opponents
    }


def match(game: Game, a: Agent, b: Agent, panel: Panel, seed: int) -> MatchResult:
    """The games between two agents; RuntimeError where one of them fails."""
    result = play_match(
        game, a, b, panel.pairs, opening_plies=panel.opening_plies, seed=seed, record=True
    )
    for conduct in result.conduct:
        if conduct.forfeits:
            raise RuntimeError(f"an agent failed in an evaluation: {conduct.message}")
    return result


def score_of(game: Game, result: MatchResult) -> Score:
    """What a match says of its first agent."""
    low, high = result.interval
    first, second = result.scores.mean(axis=1).tolist()
    return Score(
        score=result.score,
        low=low,
        high=high,
        wins=result.wins,
        draws=result.draws,
        losses=result.losses,
        by_role=(first, second),
        wiped_out=_wiped_out(game, result),
        plies=result.mean_plies,
    )


def _wiped_out(game: Game, result: MatchResult) -> int:
    """The games that the first agent lost without a piece left."""
    assert result.actions is not None
    final = _replay(game, result.actions.reshape(result.games, -1))
    role = np.repeat([0, 1], result.games // 2)
    mine = np.where(final.to_move == role, final.own, final.opp)
    lost: BoolArray = (result.scores == 0).ravel()
    return int((lost & (mine == 0)).sum())


def _replay(game: Game, actions: IntArray) -> State:
    """The positions after these actions, (B, P), -1 after the last of each row."""
    state = game.init(len(actions))
    for played in actions.T:
        going = played >= 0
        state = where(going, game.step(state, np.where(going, played, game.noop)), state)
    return state


def agreement(game: Game, agent: Agent, seed: int) -> Mapping[str, float]:
    """The share of positions in which the agent's move keeps what the position is worth.

    They come from random games, and are those in which some move gives it away; by the role to
    move. Empty for a game that is not solved exactly, or where no move can spoil anything.
    """
    try:
        table = Tablebase.load(game)
    except ValueError:
        return {}
    openings_rng, rng = np.random.default_rng(seed).spawn(2)
    state = distinct_openings(game, _POSITIONS, _POSITION_PLIES, openings_rng).state
    keeps = table.preserving(state)
    matters = np.flatnonzero(keeps.sum(axis=1) < game.legal(state).sum(axis=1))
    state, keeps = take(state, matters), keeps[matters]
    kept = keeps[np.arange(len(matters)), agent.act(game, state, rng)]
    return {
        role: float(kept[state.to_move == i].mean())
        for i, role in enumerate(game.roles)
        if (state.to_move == i).any()
    }
