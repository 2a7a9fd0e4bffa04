"""Gumbel AlphaZero search of many positions: an improved policy from few simulations.

Policy improvement by planning with Gumbel (Danihelka, Guez, Schrittwieser, Silver, ICLR 2022): the
action comes from sequential halving over a draw of actions, and the improved policy gives every
action its value, tried or not. With exact values the improved policy is never worse than the prior.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from boardenvs.game.contract import Game
from boardenvs.game.state import FloatArray, IntArray, State
from boardenvs.kernel import get_backend
from boardenvs.kernel.link import array_for_loops
from boardenvs.search.compiled import gumbel
from boardenvs.search.compiled.gumbel import GumbelSearch
from boardenvs.search.compiled.tree import Tree
from boardenvs.search.compiler import compile_for
from boardenvs.search.evaluator import Evaluator
from boardenvs.search.memory import (
    empty_tree,
    flat,
    numbers,
    position_words,
    room,
    state_of_words,
)
from boardenvs.search.trees import EDGES_PER_NODE


class GumbelSettings(NamedTuple):
    """How a search goes: the names of the paper."""

    simulations: int  # positions judged below a root
    considered: int = 16  # root actions tried, at most
    c_visit: float = 50.0  # (c_visit + most visits) * c_scale is what values weigh against logits
    c_scale: float = 0.3  # values are -1 to 1


class GumbelResults(NamedTuple):
    """What the searches of B positions found."""

    actions: IntArray  # (B,) int64: to play
    policy: FloatArray  # (B, A) float64: the improved policy, 0 where illegal
    values: FloatArray  # (B,) float64: to the side to move, -1 to 1


def gumbel_search(
    game: Game, state: State, noise: FloatArray, settings: GumbelSettings, evaluator: Evaluator
) -> GumbelResults:
    """Search each row of a state by itself, no game being over there.

    `noise` is (B, A): Gumbel noise, which makes the action a draw from the improved policy, or
    zeros, with which the best is played. ValueError where a game is over, or where there is nothing
    to simulate or to consider.
    """
    if min(settings.simulations, settings.considered) < 1:
        raise ValueError(f"{settings}: simulations and considered must be 1 or more")
    if game.is_over(state).any():
        raise ValueError("a game is over: there is nothing to search")
    search = _Searches(game, state, noise, settings, evaluator)
    for simulation in range(settings.simulations):
        search.simulate(simulation)
    return search.read()


class _Searches:
    """The searches of a batch."""

    def __init__(
        self,
        game: Game,
        state: State,
        noise: FloatArray,
        settings: GumbelSettings,
        evaluator: Evaluator,
    ) -> None:
        self._game, self._evaluator, self._rows = game, evaluator, len(state.ply)
        self._compiled = compile_for(game, get_backend(), gumbel)
        actions = np.bitwise_count(state.legal_bits).sum(axis=1, dtype=np.int64)
        below = EDGES_PER_NODE * settings.simulations
        self._tree = empty_tree(
            game,
            np.zeros(self._rows, np.uint64),
            settings.simulations + 1,
            below + int(actions.max(initial=0)),
        )
        self._compiled.add_roots(flat(position_words(state)), below, self._tree)
        probabilities, values = evaluator.evaluate(game, state)
        with np.errstate(divide="ignore"):
            scores: FloatArray = noise + np.log(probabilities, dtype=np.float64)
        np.maximum(scores, -1e9, out=scores)
        self._search = self._new_search(settings, scores, actions)
        self._take_in(probabilities, values)

    def _new_search(
        self, settings: GumbelSettings, scores: FloatArray, actions: IntArray
    ) -> GumbelSearch:
        """The searches with their roots for leaves."""
        tree: Tree = self._tree
        nodes = self._rows * tree.max_nodes
        leaf = np.arange(self._rows) * tree.max_nodes
        return GumbelSearch(
            c_visit=settings.c_visit,
            c_scale=settings.c_scale,
            scores=flat(scores),
            schedule=flat(schedules(settings.considered, settings.simulations)),
            considered=flat(np.minimum(actions, settings.considered)),
            simulations=settings.simulations,
            num_actions=self._game.num_actions,
            weights=room(self._game.num_actions, np.float64)[0],
            values=room(nodes, np.float64)[0],
            leaf=array_for_loops(leaf),
            final=numbers(self._rows),
            path=room(nodes, np.int64)[0],
            length=numbers(self._rows),
        )

    def simulate(self, simulation: int) -> None:
        """One more simulation in each tree, all their leaves judged together."""
        self._compiled.select_gumbel_leaves(simulation, self._search, self._tree)
        live = np.asarray(self._search.leaf)[np.asarray(self._search.final) == 0]
        if len(live):
            positions = np.asarray(self._tree.positions).reshape(-1, self._tree.position_size)
            judged = self._evaluator.evaluate(self._game, state_of_words(positions[live]))
        else:
            judged = (np.zeros((1, 1), np.float32), np.zeros(1, np.float32))
        self._take_in(*judged)

    def _take_in(self, probabilities: FloatArray, values: FloatArray) -> None:
        self._compiled.expand_and_backup_gumbel(
            flat(np.ascontiguousarray(probabilities)), flat(values), self._search, self._tree
        )

    def read(self) -> GumbelResults:
        actions: IntArray = np.zeros(self._rows, np.int64)
        policy: FloatArray = np.zeros((self._rows, self._game.num_actions))
        values: FloatArray = np.zeros(self._rows)
        self._compiled.read_gumbel_roots(
            self._search, self._tree, flat(actions), flat(policy), flat(values)
        )
        return GumbelResults(actions, policy, values)


@lru_cache(maxsize=32)
def schedules(considered: int, simulations: int) -> IntArray:
    """`schedule` of 0 to `considered` actions, (considered + 1, simulations) int64."""
    rows = [schedule(count, simulations) for count in range(considered + 1)]
    return np.array(rows, np.int64)


def schedule(considered: int, simulations: int) -> list[int]:
    """Sequential halving (Karnin et al. 2013) over so many actions: at each simulation how often
    the action to try has been tried before.

    The simulations are shared among about log2(considered) phases, after each of which the better
    half of the actions goes on, two at least.
    """
    if considered <= 1:
        return list(range(simulations))
    phases = (considered - 1).bit_length()
    found: list[int] = []
    tries, left = 0, considered
    while len(found) < simulations:
        for _ in range(max(1, simulations // (phases * left))):
            found += [tries] * left
            tries += 1
        left = max(2, left // 2)
    return found[:simulations]
