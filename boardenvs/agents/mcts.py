"""Monte Carlo tree search as a player."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from boardenvs.agents.base import check_game
from boardenvs.agents.history import History
from boardenvs.agents.policy_file import load_policy
from boardenvs.agents.trained import TrainedAgent
from boardenvs.game.game import Game
from boardenvs.game.position import Position, stack
from boardenvs.game.state import FloatArray, IntArray, State, take
from boardenvs.search.analysis import OUTCOMES, Analysis, MoveAnalysis
from boardenvs.search.compiler import Subtree
from boardenvs.search.limits import check_time
from boardenvs.search.mcts import (
    MAX_SIMULATIONS,
    Evaluator,
    TreeResults,
    Trees,
    TreeSettings,
    parts,
)
from boardenvs.utils.checks import check_whole, is_number, quote

_MOST_SIMULATIONS = 10_000_000  # whose tree takes some 20 GB
_MOST_IN_TIME = 1 << 22  # whose tree takes some 2 to 6 GB
_SIMULATIONS = 200  # without any limit

_CHANCE = 1e-6  # decides between equal actions
_FIRST = 64  # simulations of the first analysis of `analyse_until`
_MORE = 1.3  # growth of the simulations from one to the next
_Stop: TypeAlias = Callable[[], bool]


@dataclass(frozen=True)
class MCTSAgent:
    """Plays the action with the most visits of a Monte Carlo tree search: UCT, or with an evaluator
    Gumbel search without noise (see `compiled.policies`). With a time, more than 4,096 simulations,
    and in `analyse_until`, the latter has no sequential halving, and the best action of the
    improved policy is played.

    simulations: positions evaluated for a move, by random games or by the evaluator; 200 without
    simulations and time. time: seconds a move, approximately; only this limit makes play depend on
    the machine and its load. With it boards are searched one after the other, each in a tree of at
    most four million positions. c: the weight of exploration, or of the evaluator's probabilities,
    against values from -1 to 1. The evaluator gets as many positions of a tree at once as is fast:
    the next one and probable later ones, so that play stays the same, except for the last digits of
    a network's values.

    In matches a tree with a time starts from the subtree of the move before (tree reuse). Its
    simulations count.

    Wins, draws and losses that the tree proves are exact: a proven win is played, a proven loss is
    avoided, a proven draw is played if all else seems worse, and a proven root ends the search.
    Among actions with equal visits the mean value or the improved policy decides, then chance. A
    position with one legal action is not searched.
    """

    simulations: int | None = None
    c: float = 1.0
    evaluator: Evaluator | None = None
    time: float | None = None

    def __post_init__(self) -> None:
        if self.simulations is not None:
            check_whole("simulations", self.simulations, 1, _MOST_SIMULATIONS)
        if not is_number(self.c, 0, sys.float_info.max):
            raise ValueError(f"c is {quote(self.c)}: it must be 0 or more, and finite")
        check_time(self.time)

    def _most(self) -> int:
        """Return the most simulations of a move."""
        if self.simulations is not None:
            return self.simulations
        return _SIMULATIONS if self.time is None else _MOST_IN_TIME

    def _settings(self) -> TreeSettings:
        """Return the settings of the trees of a move."""
        room = self._most() if self.time is None else min(self._most(), MAX_SIMULATIONS)
        halved = self._most() if self.time is None else 0
        return TreeSettings(room, self.c, self.evaluator, halved=halved)

    def _stop(self) -> _Stop | None:
        """Return a function that tells whether the time of a move that begins now is over; None
        without a time.
        """
        if self.time is None:
            return None
        end = time.monotonic() + self.time
        return lambda: time.monotonic() >= end

    def act(
        self,
        game: Game,
        state: State,
        rng: np.random.Generator | None = None,
        history: History | None = None,
    ) -> IntArray:
        rng = np.random.default_rng(rng)
        seeds = rng.integers(1 << 64, size=game.check_state(state), dtype=np.uint64)
        chance = rng.random((len(seeds), game.num_actions))
        legal = game.legal(state)
        chosen: IntArray = legal.argmax(axis=1)
        chosen[state.terminated] = game.noop
        choice = np.flatnonzero(legal.sum(axis=1) > 1)
        settings = self._settings()
        together = settings.simulations if self.time is None else MAX_SIMULATIONS
        memory = (history.memory or ()) if history and self.time is not None else ()
        plies = [history.plies(row) for row in range(len(memory))] if history else []
        before = [*map(_subtree, memory, plies)]
        for part in parts(len(choice), together):
            rows = choice[part]
            kept = [before[row] for row in rows if before]
            trees = Trees(game, take(state, rows), seeds[rows], settings, kept)
            trees.search(self._most(), self._stop())
            preference = _preference(trees.read()) + chance[rows] * _CHANCE
            preference[~legal[rows]] = -1.0
            chosen[rows] = preference.argmax(axis=1)
            for place, row in enumerate(rows.tolist() if memory else ()):
                memory[row]["tree"] = trees.keep(place, int(chosen[row])), len(plies[row]) + 1
        return chosen

    def analyse(self, position: Position, rng: np.random.Generator) -> Analysis:
        """Analyse by the tree's visits, values, most visited lines and proofs."""
        trees, chance = _begin(position, self._settings(), rng)
        trees.search(self._most(), self._stop())
        return self._analysis(position, trees, chance)

    def analyse_until(
        self, position: Position, stop: _Stop, rng: np.random.Generator
    ) -> Iterator[Analysis]:
        """Grow one tree, beyond all limits, until its root is proven or memory is full."""
        settings = self._settings()._replace(simulations=MAX_SIMULATIONS, halved=0)
        trees, chance = _begin(position, settings, rng)
        trees.search(_FIRST)
        analysis = self._analysis(position, trees, chance)
        yield analysis
        while analysis.outcome is None and analysis.nodes < MAX_SIMULATIONS and not stop():
            trees.search(min(int(_MORE * analysis.nodes) + 1, MAX_SIMULATIONS), stop)
            if trees.visits()[0] > analysis.nodes:
                analysis = self._analysis(position, trees, chance)
                yield analysis

    def _analysis(self, position: Position, trees: Trees, chance: FloatArray) -> Analysis:
        """Return the current analysis by the tree of a position."""
        results = trees.read()
        preference = _preference(results)[0] + chance
        moves, most = list[MoveAnalysis](), 1.0
        for action in sorted(position.legal_actions(), key=lambda action: -preference[action]):
            visits, value, lower, upper = (of_actions[0, action] for of_actions in results[:4])
            if visits:  # a move is later because it seems worse: by luck its value may be higher
                most = min(float(value), most)
            moves.append(
                MoveAnalysis(
                    action=action,
                    outcome=OUTCOMES[lower] if lower == upper else None,
                    probability=None if self.evaluator is None else float(trees.priors[0, action]),
                    visits=int(visits),
                    value=most if visits else None,
                    line=tuple(trees.line(0, action)),
                )
            )
        (lower,), (upper,) = trees.proven()
        return Analysis(
            position=position,
            outcome=OUTCOMES[lower] if lower == upper else None,
            moves=tuple(moves),
            nodes=int(trees.visits()[0]),
        )

    def check_game(self, game: Game) -> None:
        check_game(self.evaluator, game)


def _subtree(memory: dict[str, Any], plies: list[int]) -> Subtree | None:
    """Take the tree of the move before from a game's memory, and return what is left after the
    plies since then.
    """
    tree: Subtree | None
    tree, count = memory.pop("tree", (None, 0))
    for action in plies[count:]:
        tree = tree and tree.after(action)
    return tree


def _begin(
    position: Position, settings: TreeSettings, rng: np.random.Generator
) -> tuple[Trees, FloatArray]:
    """Return the tree of a position, and random numbers that decide between equal actions, as in
    `act`.
    """
    seeds = rng.integers(1 << 64, size=1, dtype=np.uint64)
    chance = rng.random(position.game.num_actions) * _CHANCE
    return Trees(position.game, stack([position]), seeds, settings), chance


def _preference(results: TreeResults) -> FloatArray:
    """Return the preference of each action, (B, A), 0 or more: by score, actions without visits
    after the others.

    Actions that are proven to be no better than another come last. Proven best actions come first,
    unless another one promises more.
    """
    preference: FloatArray = results.scores - results.scores.min(axis=1, keepdims=True, initial=0)
    preference += (results.visits > 0) * (preference.max(axis=1, keepdims=True, initial=0) + 1)
    more_than_all = preference.max(axis=1, keepdims=True, initial=0) + 1
    sure = results.lower.max(axis=1, keepdims=True, initial=-1)
    hopeful = results.upper > sure
    tried_most = np.where(hopeful, preference, -1).argmax(axis=1)[:, None]
    promised = np.take_along_axis(results.values, tried_most, axis=1)
    settle = ~hopeful.any(axis=1, keepdims=True) | ((sure > -1) & (promised <= sure))
    settled = (results.lower == sure) & (results.upper == sure)
    preference += more_than_all * np.where(settled, 2 * settle, hopeful)
    return preference


def mcts_agent(
    simulations: int | None = None,
    c: float = 1.0,
    policy: str | None = None,
    time: float | None = None,
    rollouts: int | None = None,
) -> MCTSAgent:
    """Return the agent, with the policy of a file, or with the "trained" ones, as evaluator.

    `rollouts` is another word for simulations.
    """
    if rollouts is not None:
        if simulations is not None:
            raise ValueError("simulations and rollouts are one thing: give only one of them")
        simulations = rollouts
    evaluator: Evaluator | None = None
    if policy is not None:
        evaluator = TrainedAgent() if policy == "trained" else load_policy(policy)
    return MCTSAgent(simulations, c, evaluator, time)
