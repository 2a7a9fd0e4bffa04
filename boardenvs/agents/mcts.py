"""Monte Carlo tree search."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np

from boardenvs.agents.base import check_game
from boardenvs.agents.kept_trees import KeptTrees
from boardenvs.agents.policy_file import load_policy
from boardenvs.agents.trained import TrainedAgent
from boardenvs.game.contract import Game, Position, stack
from boardenvs.game.state import FloatArray, IntArray, State, take
from boardenvs.search.analysis import Analysis, MoveAnalysis, Outcome
from boardenvs.search.evaluator import Evaluator
from boardenvs.search.kept_tree import KeptTree
from boardenvs.search.results import TreeResults
from boardenvs.search.trees import MAX_ROLLOUTS, Trees, TreeSettings, parts
from boardenvs.utils.checks import is_number, is_whole, quote

_MOST_ROLLOUTS = 10_000_000  # a tree of so many takes some 20 GB
_ROLLOUTS = 200  # without any limit

_CHANCE = 1e-6  # decides between actions that nothing else does
_FIRST = 64  # rollouts of the first analysis of a search that goes on
_MORE = 1.3  # times as many rollouts has each one after it
_Stop: TypeAlias = Callable[[], bool]
_Keep: TypeAlias = Callable[[int, int, KeptTree | None], None]
_OUTCOMES: dict[int, Outcome] = {-1: "loss", 0: "draw", 1: "win"}


@dataclass(frozen=True)
class MCTSAgent:
    """Plays the action most often tried by a Monte Carlo tree search.

    rollouts: positions judged for a move, by random games (UCT) or by the evaluator (PUCT); 200
    where neither they nor a time are given. time: seconds a move, about; only this limit makes play
    depend on the machine, and with it boards are searched one after the other.
    c: the weight of exploration against values from -1 to 1.
    leaves: positions of a tree that the evaluator is asked about at once, by default as many as is
    fast. Beside the next position these are the ones that are likely to come after it, so that what
    is played stays the same, but for the last digits of what a network says.

    In matches a tree with an evaluator or a time goes on from what the one of the move before knows
    of the position. Those rollouts count: with an evaluator the same is played, in less time.

    Wins, draws and losses that the tree proves are exact: a proven win is played, a proven loss is
    avoided, a proven draw is played where all else seems worse, and a tree whose root is proven is
    searched no further. Else, of actions tried as often, the one of the higher mean value is
    played, and then one by chance. A position with one legal action is not searched.
    """

    rollouts: int | None = None
    c: float = 1.0
    leaves: int | None = None
    evaluator: Evaluator | None = None
    time: float | None = None
    _kept: KeptTrees = field(default_factory=KeptTrees, init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.rollouts is not None and not is_whole(self.rollouts, 1, _MOST_ROLLOUTS):
            raise ValueError(
                f"rollouts is {quote(self.rollouts)}: it must be 1 or more, at most "
                f"{_MOST_ROLLOUTS}, and whole"
            )
        if self.leaves is not None and not is_whole(self.leaves, 1):
            raise ValueError(f"leaves is {quote(self.leaves)}: it must be 1 or more")
        if not is_number(self.c, 0, sys.float_info.max):
            raise ValueError(f"c is {quote(self.c)}: it must be 0 or more, and finite")
        if self.time is not None and not (is_number(self.time, 0) and self.time > 0):
            raise ValueError(f"time is {quote(self.time)}: it must be more than 0 seconds")

    def _room(self) -> int:
        """Rollouts a move, at most."""
        if self.rollouts is not None:
            return self.rollouts
        return _ROLLOUTS if self.time is None else MAX_ROLLOUTS

    def _settings(self, rollouts: int) -> TreeSettings:
        """Of trees with room for so many rollouts."""
        return TreeSettings(rollouts, self.c, self.leaves, self.evaluator)

    def _stop(self) -> Callable[[], bool] | None:
        """Says when the time of a move that begins now is over; None where time does not matter."""
        if self.time is None:
            return None
        end = time.monotonic() + self.time
        return lambda: time.monotonic() >= end

    def act(self, game: Game, state: State, rng: np.random.Generator | None = None) -> IntArray:
        nothing = [None] * len(state.ply)
        return self._act(game, state, np.random.default_rng(rng), nothing, None)

    def act_after(
        self, game: Game, state: State, actions: IntArray, rng: np.random.Generator
    ) -> IntArray:
        """As `act`, but with an evaluator or a time each tree begins with what the one of the move
        before knows of the position, if `rng` was the same; see `HistoryAgent.act_after`.
        """
        if self.evaluator is None and self.time is None:
            return self.act(game, state, rng)  # random games are played faster than trees are kept
        known = self._kept.take(game, rng, actions)

        def keep(row: int, action: int, after: KeptTree | None) -> None:
            self._kept.put(actions[row], action, after)

        return self._act(game, state, rng, known, keep)

    def _act(
        self,
        game: Game,
        state: State,
        rng: np.random.Generator,
        known: Sequence[KeptTree | None],
        keep: _Keep | None,
    ) -> IntArray:
        """Search the rows with a choice; `keep` gets what is known after the actions chosen."""
        seeds = rng.integers(1 << 64, size=len(state.ply), dtype=np.uint64)
        chance = rng.random((len(state.ply), game.num_actions))
        legal = game.legal(state)
        chosen: IntArray = legal.argmax(axis=1)
        chosen[state.terminated] = game.noop
        choice = np.flatnonzero(legal.sum(axis=1) > 1)
        settings = self._settings(self._room())
        for part in parts(len(choice), settings.rollouts if self.time is None else MAX_ROLLOUTS):
            rows = choice[part]
            before = [known[row] for row in rows]
            trees = Trees(game, take(state, rows), seeds[rows], settings, before)
            trees.search(settings.rollouts, self._stop())
            preference = _liking(trees.read()) + chance[rows] * _CHANCE
            preference[~legal[rows]] = -1.0
            chosen[rows] = preference.argmax(axis=1)
            if keep is not None:
                for place, row in enumerate(rows.tolist()):
                    keep(row, int(chosen[row]), trees.keep(place, int(chosen[row])))
        return chosen

    def analyse(self, position: Position, rng: np.random.Generator) -> Analysis:
        """By the visits, values and most visited lines of the tree, and what it proves."""
        settings = self._settings(self._room())
        view = _TreeView(settings, position, rng)
        view.search(settings.rollouts, self._stop())
        return view.analysis()

    def analyse_steadily(
        self, position: Position, stop: _Stop, rng: np.random.Generator
    ) -> Iterator[Analysis]:
        """One tree that grows, beyond all limits, until its root is proven or its memory full."""
        view = _TreeView(self._settings(MAX_ROLLOUTS), position, rng)
        view.search(_FIRST)
        yield view.analysis()
        while not (view.is_done() or stop()):
            shown = view.rollouts
            view.search(min(int(_MORE * shown) + 1, MAX_ROLLOUTS), stop)
            if view.rollouts > shown:
                yield view.analysis()

    def check_game(self, game: Game) -> None:
        check_game(self.evaluator, game)


class _TreeView:
    """The tree of one position, and what it says so far; all chance is that of `MCTSAgent.act`."""

    def __init__(
        self,
        settings: TreeSettings,
        position: Position,
        rng: np.random.Generator,
    ) -> None:
        self._position, game, state = position, position.game, stack([position])
        seeds = rng.integers(1 << 64, size=1, dtype=np.uint64)
        self._chance = rng.random(game.num_actions) * _CHANCE
        evaluator = settings.evaluator
        self._prior = None if evaluator is None else evaluator.evaluate(game, state)[0]
        self._trees = Trees(game, state, seeds, settings)
        self._room, self.rollouts = settings.rollouts, 0

    def search(self, rollouts: int, stop: _Stop | None = None) -> None:
        self._trees.search(rollouts, stop)
        self.rollouts = int(self._trees.visits()[0])

    def is_done(self) -> bool:
        """Whether more search would change nothing, or finds no room."""
        lower, upper = self._trees.proven()
        return self.rollouts >= self._room or bool(lower[0] == upper[0])

    def analysis(self) -> Analysis:
        found = self._trees.read()
        liking = _liking(found)[0] + self._chance
        actions = sorted(self._position.legal_actions(), key=lambda action: -liking[action])
        moves, most = [], 1.0
        for action in actions:
            # A move is tried less because it seems worse: by luck it may not seem better.
            move = self._move(action, found)
            most = most if move.value is None else min(move.value, most)
            moves.append(move if move.value is None else replace(move, value=most))
        (lower,), (upper,) = self._trees.proven()
        exact = bool(lower == upper)
        return Analysis(
            position=self._position,
            outcome=_OUTCOMES[int(lower)] if exact else None,
            moves=tuple(moves),
            nodes=self.rollouts,
        )

    def _move(self, action: int, found: TreeResults) -> MoveAnalysis:
        visits = int(found.visits[0, action])
        lower, upper = int(found.lower[0, action]), int(found.upper[0, action])
        return MoveAnalysis(
            action=action,
            outcome=_OUTCOMES[lower] if lower == upper else None,
            probability=None if self._prior is None else float(self._prior[0, action]),
            visits=visits,
            value=float(found.values[0, action]) if visits else None,
            line=tuple(self._trees.line(0, action)),
        )


def _liking(found: TreeResults) -> FloatArray:
    """How good each action is, (B, A): the more visits the better, then the higher the value.

    Actions that cannot better what is proven of others come last, and those for which that is
    proven first, if nothing else promises more.
    """
    liking: FloatArray = found.visits + (found.values + 1) / 4
    more_than_all = liking.max(axis=1, keepdims=True, initial=0) + 1
    sure = found.lower.max(axis=1, keepdims=True, initial=-1)
    hopeful = found.upper > sure
    tried_most = np.where(hopeful, liking, -1).argmax(axis=1)[:, None]
    promised = np.take_along_axis(found.values, tried_most, axis=1)
    settle = ~hopeful.any(axis=1, keepdims=True) | ((sure > -1) & (promised <= sure))
    settled = (found.lower == sure) & (found.upper == sure)
    liking += more_than_all * np.where(settled, 2 * settle, hopeful)
    return liking


def mcts_agent(
    rollouts: int | None = None,
    c: float = 1.0,
    leaves: int | None = None,
    policy: str | None = None,
    time: float | None = None,
) -> MCTSAgent:
    """The agent, judging positions with the policy of a file, or with the "trained" ones."""
    evaluator: Evaluator | None = None
    if policy is not None:
        evaluator = TrainedAgent() if policy == "trained" else load_policy(policy)
    return MCTSAgent(rollouts, c, leaves, evaluator, time)
