"""Monte Carlo tree search."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from boardenvs.agents.base import check_game
from boardenvs.agents.explain import Explanation, MoveExplanation, Stop
from boardenvs.agents.policy_file import load_policy
from boardenvs.agents.trained import TrainedAgent
from boardenvs.game.contract import Game
from boardenvs.game.state import FloatArray, IntArray, Position, State, stack, take
from boardenvs.search.evaluator import Evaluator
from boardenvs.search.trees import MAX_ROLLOUTS, Trees, TreeSettings, search_trees
from boardenvs.utils.checks import is_number, is_whole, quote

_MOST_ROLLOUTS = 10_000_000  # a tree of so many takes some 20 GB

_CHANCE = 1e-6  # decides between actions that nothing else does
_FIRST = 64  # rollouts of the first explanation of a search that goes on
_MORE = 1.3  # times as many rollouts has each one after it
_ROLLOUTS_A_QUESTION = 32  # between two questions whether to stop


@dataclass(frozen=True)
class MCTSAgent:
    """Plays the action most often tried by a Monte Carlo tree search.

    rollouts: positions judged a move, by random games (UCT) or by the evaluator (PUCT).
    c: the weight of exploration against values from -1 to 1.
    leaves: positions judged at once in each tree. With an evaluator more are faster; the more, the
    less each of them can learn from the others: of 220 games with 200 rollouts a move, 8 leaves
    scored 26 % against 1 in Othello and 28 % in Lines of Action.

    Of actions tried as often the one of the higher mean value is played, and then one by chance.
    A position with one legal action is not searched.
    """

    rollouts: int = 200
    c: float = 1.0
    leaves: int = 1
    evaluator: Evaluator | None = None

    def __post_init__(self) -> None:
        if not is_whole(self.rollouts, 1, _MOST_ROLLOUTS):
            raise ValueError(
                f"rollouts is {quote(self.rollouts)}: it must be 1 or more, at most "
                f"{_MOST_ROLLOUTS}, and whole"
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
        preference = chance * _CHANCE
        preference[rows] += _liking(tries, values)
        preference[~legal] = -1.0
        chosen: IntArray = preference.argmax(axis=1)
        chosen[state.terminated] = game.noop
        return chosen

    def explain(self, game: Game, position: Position, rng: np.random.Generator) -> Explanation:
        """By the visits, mean values and most visited lines of the tree."""
        view = _TreeView(self, game, position, rng, self.rollouts)
        view.search(self.rollouts)
        return view.explanation()

    def explain_steadily(
        self, game: Game, position: Position, stop: Stop, rng: np.random.Generator
    ) -> Iterator[Explanation]:
        """One tree that grows, beyond `rollouts`, until its memory is full."""
        view = _TreeView(self, game, position, rng, MAX_ROLLOUTS)
        step = max(_ROLLOUTS_A_QUESTION // self.leaves, 1) * self.leaves
        shown = 0
        while view.rollouts < MAX_ROLLOUTS and not (shown and stop()):
            view.search(min(step, MAX_ROLLOUTS - view.rollouts))
            if view.rollouts >= max(_FIRST, _MORE * shown):
                shown = view.rollouts
                yield view.explanation()
        if view.rollouts > shown:
            yield view.explanation()

    def check_game(self, game: Game) -> None:
        check_game(self.evaluator, game)


class _TreeView:
    """The tree of one position, and what it says so far; all chance is that of `MCTSAgent.act`."""

    def __init__(
        self,
        agent: MCTSAgent,
        game: Game,
        position: Position,
        rng: np.random.Generator,
        room: int,
    ) -> None:
        self._game, self._position = game, position
        state = stack([position])
        seeds = rng.integers(1 << 64, size=1, dtype=np.uint64)
        self._chance = rng.random(game.num_actions) * _CHANCE
        self._prior = None if agent.evaluator is None else agent.evaluator.evaluate(game, state)[0]
        settings = TreeSettings(room, agent.c, agent.leaves, agent.evaluator)
        self._trees = Trees(game, state, seeds, settings)
        self.rollouts = 0

    def search(self, rollouts: int) -> None:
        self._trees.search(rollouts)
        self.rollouts += rollouts

    def explanation(self) -> Explanation:
        shape = (1, self._game.num_actions)
        visits: IntArray = np.zeros(shape, np.int64)
        totals: FloatArray = np.zeros(shape)
        self._trees.read(visits, totals)
        values = totals / np.maximum(visits, 1)
        liking = _liking(visits, values)[0] + self._chance
        actions = sorted(self._position.legal_actions(), key=lambda action: -liking[action])
        moves = tuple(self._move(action, visits[0], values[0]) for action in actions)
        return Explanation(
            value=moves[0].value,
            unit="score",
            exact=False,
            outcome=None,
            plies=None,
            moves=moves,
            line=moves[0].line,
            positions=self.rollouts,
        )

    def _move(self, action: int, visits: IntArray, values: FloatArray) -> MoveExplanation:
        return MoveExplanation(
            action=action,
            name=self._game.action_name(action, self._position),
            probability=None if self._prior is None else float(self._prior[0, action]),
            visits=int(visits[action]),
            value=float(values[action]) if visits[action] else None,
            line=tuple(self._trees.line(0, action)),
        )


def _liking(visits: IntArray, values: FloatArray) -> FloatArray:
    """The more visits the better, then the higher the mean value."""
    liking: FloatArray = visits + (values + 1) / 4
    return liking


def mcts_agent(
    rollouts: int = 200, c: float = 1.0, leaves: int = 1, policy: str | None = None
) -> MCTSAgent:
    """The agent, judging positions with the policy of a file, or with the "trained" ones."""
    if policy is None:
        return MCTSAgent(rollouts, c, leaves)
    evaluator = TrainedAgent() if policy == "trained" else load_policy(policy)
    return MCTSAgent(rollouts, c, leaves, evaluator)
