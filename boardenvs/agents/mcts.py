"""Monte Carlo tree search."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

from boardenvs.agents.base import check_game
from boardenvs.agents.policy_file import load_policy
from boardenvs.agents.trained import TrainedAgent
from boardenvs.game.contract import Game
from boardenvs.game.state import IntArray, State, take
from boardenvs.search.evaluator import Evaluator
from boardenvs.search.trees import search_trees
from boardenvs.utils.checks import is_number, is_whole, quote

MAX_ROLLOUTS = 10_000_000  # a tree of so many takes some 20 GB


@dataclass(frozen=True)
class MCTSAgent:
    """Plays the action most often tried by a Monte Carlo tree search.

    rollouts: positions judged a move, by random games (UCT) or by the evaluator (PUCT).
    c: the weight of exploration against values from -1 to 1.
    leaves: positions judged at once in each tree. With an evaluator more are faster; the more, the
    less each of them can learn from the others.

    Of actions tried as often the one of the higher mean value is played, and then one by chance.
    A position with one legal action is not searched.
    """

    rollouts: int = 200
    c: float = 1.0
    leaves: int = 1
    evaluator: Evaluator | None = None

    def __post_init__(self) -> None:
        if not is_whole(self.rollouts, 1, MAX_ROLLOUTS):
            raise ValueError(
                f"rollouts is {quote(self.rollouts)}: it must be 1 or more, at most "
                f"{MAX_ROLLOUTS}, and whole"
            )
        if not is_whole(self.leaves, 1):
            raise ValueError(f"leaves is {quote(self.leaves)}: it must be 1 or more")
        if not is_number(self.c, 0, sys.float_info.max):
            raise ValueError(f"c is {quote(self.c)}: it must be 0 or more, and finite")

    def act(self, game: Game, state: State, rng: np.random.Generator | None = None) -> IntArray:
        rng = np.random.default_rng(rng)
        seeds = rng.integers(1 << 64, size=len(state.ply), dtype=np.uint64)
        chance = rng.random((len(state.ply), game.num_actions))
        legal = game.legal(state)
        rows = np.flatnonzero(legal.sum(axis=1) > 1)  # those with a choice
        tries, values = search_trees(
            game, take(state, rows), seeds[rows],
            rollouts=self.rollouts, c=self.c, leaves=self.leaves, evaluator=self.evaluator,
        )  # fmt: skip
        preference = chance * 1e-6
        preference[rows] += tries + (values + 1) / 4
        preference[~legal] = -1.0
        chosen: IntArray = preference.argmax(axis=1)
        chosen[state.terminated] = game.noop
        return chosen

    def check_game(self, game: Game) -> None:
        check_game(self.evaluator, game)


def mcts_agent(
    rollouts: int = 200, c: float = 1.0, leaves: int = 1, policy: str | None = None
) -> MCTSAgent:
    """The agent, judging positions with the policy of a file, or with the "trained" ones."""
    if policy is None:
        return MCTSAgent(rollouts, c, leaves)
    evaluator = TrainedAgent() if policy == "trained" else load_policy(policy)
    return MCTSAgent(rollouts, c, leaves, evaluator)
