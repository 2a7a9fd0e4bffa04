"""Gumbel search against one written plainly, and the paper's promise: policies only get better."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from three_in_a_row import ThreeInARow
from variants import make, random_position

from boardenvs.game.contract import Game, Position, stack
from boardenvs.game.openings import random_openings
from boardenvs.game.state import Array, FloatArray, State, take
from boardenvs.kernel import set_backend
from boardenvs.search.gumbel import GumbelSettings, gumbel_search, schedule

BACKENDS: list[Any] = ["numpy", "numba"] if find_spec("numba") else ["numpy"]


@pytest.fixture(autouse=True)
def default_backend():
    yield
    set_backend(None)


# ---- the same search, plainly --------------------------------------------------------------------


@dataclass
class Node:
    position: Position
    value: float
    priors: dict[int, float]
    sure: int | None = None  # an action that wins at once
    children: dict[int, Node] = field(default_factory=dict)
    visits: dict[int, int] = field(default_factory=dict)
    totals: dict[int, float] = field(default_factory=dict)

    def mean(self, action: int) -> float:
        return self.totals[action] / self.visits[action]

    def improved(
        self, settings: GumbelSettings
    ) -> tuple[dict[int, float], dict[int, float], float]:
        """The improved policy, the completed values times their scale, and the mixed value."""
        tries = sum(self.visits.values())
        mixed = self.value
        if tries:
            chance = sum(self.priors[a] for a in self.visits)
            seen = sum(self.priors[a] * self.mean(a) for a in self.visits) / chance
            mixed = (self.value + tries * seen) / (1 + tries)
        scale = (settings.c_visit + max(self.visits.values(), default=0)) * settings.c_scale
        sigma = {a: scale * (self.mean(a) if a in self.visits else mixed) for a in self.priors}
        logits = {a: math.log(p) + sigma[a] for a, p in self.priors.items()}
        top = max(logits.values())
        total = sum(math.exp(x - top) for x in logits.values())
        return {a: math.exp(x - top) / total for a, x in logits.items()}, sigma, mixed


def plain_search(
    game: Game, position: Position, noise: Array, settings: GumbelSettings, evaluator: Any
) -> tuple[int, dict[int, float], float]:
    """The action, the improved policy and the value."""

    def judged(here: Position) -> Node:
        if here.terminated:
            mine = here.result()[here.to_move]
            return Node(here, mine / 50 - 1, {})
        chances, values = evaluator.evaluate(game, stack([here]))
        actions = here.legal_actions()
        for action in actions:  # a win in one
            after = here.step(action)
            if after.terminated and after.result()[here.to_move] == 100:
                rest = dict.fromkeys(actions, 1e-9)
                return Node(here, 1.0, rest | {action: 1.0}, sure=action)
        return Node(here, float(values[0]), {a: chances[0, a] for a in actions})

    def simulate(node: Node, action: int | None) -> float:
        if not node.priors:
            return node.value
        if action is None:
            policy, _, _ = node.improved(settings)
            tries = 1 + sum(node.visits.values())
            action = max(policy, key=lambda a: policy[a] - node.visits.get(a, 0) / tries)
        if action in node.children:
            value = -simulate(node.children[action], None)
        else:
            node.children[action] = judged(node.position.step(action))
            value = -node.children[action].value
        node.visits[action] = node.visits.get(action, 0) + 1
        node.totals[action] = node.totals.get(action, 0.0) + value
        return value

    def best(tries: int) -> int:
        sigma = root.improved(settings)[1]
        among = [a for a in root.priors if root.visits.get(a, 0) == tries]
        if root.sure in among:
            return int(root.sure)
        return max(among, key=lambda a: noise[a] + math.log(root.priors[a]) + sigma[a])

    root = judged(position)
    considered = min(settings.considered, len(root.priors))
    for tries in schedule(considered, settings.simulations):
        simulate(root, best(tries))
    policy, _, mixed = root.improved(settings)
    return best(max(root.visits.values())), policy, mixed


class Toy:
    """Sees a number in a position that stands for its worth, and likes some actions better."""

    def evaluate(self, game: Game, state: State) -> tuple[FloatArray, FloatArray]:
        x = (state.own * np.uint64(7) ^ state.opp * np.uint64(13)) % np.uint64(101)
        likes = game.legal(state) * (np.arange(game.num_actions) % 7 + 1.0)
        return likes / likes.sum(axis=1, keepdims=True), x / 50.0 - 1


@pytest.mark.parametrize("settings", [GumbelSettings(24, 5, 50, 0.1), GumbelSettings(7, 16, 2, 1)])
def test_searches_are_as_plainly_written(settings: GumbelSettings) -> None:
    """Positions from the start to shortly before the end, where leaves are ends of games."""
    game, rng = make("wolf_and_sheep"), np.random.default_rng(0)
    positions = [random_position(game, seed, 4 * seed) for seed in range(12)]
    positions = [p for p in positions if not p.terminated]
    assert len(positions) > 6
    noise = rng.gumbel(size=(len(positions), game.num_actions))
    for backend in BACKENDS:
        set_backend(backend)
        found = gumbel_search(game, stack(positions), noise, settings, Toy())
        for row, position in enumerate(positions):
            expected = plain_search(game, position, noise[row], settings, Toy())
            action, policy, value = expected
            assert found.actions[row] == action
            assert found.values[row] == pytest.approx(value)
            np.testing.assert_allclose(
                found.policy[row], [policy.get(a, 0) for a in range(game.num_actions)], atol=1e-9
            )


# ---- what it is for ------------------------------------------------------------------------------

TINY = ThreeInARow()


@cache
def exact(position: Position) -> float:
    """To the side to move, with best play."""
    if position.terminated:
        return position.result()[position.to_move] / 50 - 1
    return max(-exact(position.step(a)) for a in position.legal_actions())


class Exact:
    """Knows what every position is worth, and has likings of its own."""

    def evaluate(self, game: Game, state: State) -> tuple[FloatArray, FloatArray]:
        return Toy().evaluate(game, state)[0], np.array([exact(p) for p in game.positions(state)])


def test_policies_get_better() -> None:
    """With the exact value of each action the improved policy is worth no less than the prior,
    wherever it is; and the action chosen without noise is worth most.
    """
    set_backend("numpy")
    gains = []
    for plies in range(5):
        actions = 9 - plies  # each of them is tried once
        state = random_openings(TINY, 15, (plies, plies), np.random.default_rng(plies))
        prior, _ = Toy().evaluate(TINY, state)
        noise = np.zeros((15, TINY.num_actions))
        settings = GumbelSettings(actions, actions, 50, 0.2)
        found = gumbel_search(TINY, state, noise, settings, Exact())
        np.testing.assert_allclose(found.policy.sum(axis=1), 1)
        for row, position in enumerate(TINY.positions(state)):
            worth = {a: -exact(position.step(a)) for a in position.legal_actions()}
            before = sum(prior[row, a] * value for a, value in worth.items())
            gains.append(sum(found.policy[row, a] * x for a, x in worth.items()) - before)
            assert worth[int(found.actions[row])] == exact(position)
    assert min(gains) > -1e-6
    assert np.mean(gains) > 0.2


def test_a_win_in_one_is_seen() -> None:
    """By one simulation, whatever the evaluator thinks; and, a ply later, what allows one."""
    set_backend("numpy")
    state = TINY.init(2)
    for actions in ((0, 0), (8, 8), (1, 9), (16, 16)):  # the second: nobody has two in a row
        state = TINY.step(state, np.array(actions))
    noise = np.zeros((2, TINY.num_actions))
    found = gumbel_search(TINY, state, noise, GumbelSettings(1, 1), Toy())
    assert found.actions[0] == 2
    assert found.policy[0, 2] > 0.999
    assert found.values[0] == 1
    before = take(TINY.init(1), [0])
    for action in (0, 8, 1):  # cross will win on c1
        before = TINY.step(before, np.array([action]))
    found = gumbel_search(TINY, before, noise[:1], GumbelSettings(6, 6), Toy())
    assert found.actions[0] == 2
    assert found.policy[0, 2] > 0.999


def test_a_draw_at_once_is_no_win() -> None:
    set_backend("numpy")
    state = TINY.init(1)
    for action in (0, 1, 2, 9, 8, 10, 17, 16):  # the last square is left
        state = TINY.step(state, np.array([action]))
    noise = np.zeros((1, TINY.num_actions))
    found = gumbel_search(TINY, state, noise, GumbelSettings(1, 1), Exact())
    assert (found.actions[0], found.values[0]) == (18, 0)


def test_noise_draws_from_the_prior() -> None:
    """Where values weigh nothing, actions are chosen as often as the prior says, by few of them."""
    set_backend("numpy")
    rows, rng = 3000, np.random.default_rng(0)
    state = take(TINY.init(1), np.zeros(rows, np.int64))
    noise = rng.gumbel(size=(rows, TINY.num_actions))
    found = gumbel_search(TINY, state, noise, GumbelSettings(3, 3, 0, 1e-9), Toy())
    prior = Toy().evaluate(TINY, take(state, slice(1)))[0][0]
    share = np.bincount(found.actions, minlength=TINY.num_actions) / rows
    assert np.abs(share - prior).max() < 4 * np.sqrt(0.25 / rows)


# ---- the schedule and what is refused ------------------------------------------------------------


def test_sequential_halving() -> None:
    assert schedule(4, 8) == [0, 0, 0, 0, 1, 1, 2, 2]
    assert schedule(1, 3) == [0, 1, 2]
    # Phases with as many simulations each: 16 among 16, 8, 4 and at last 2 actions.
    tries = [Counter(schedule(16, 64))[k] for k in range(15)]
    assert tries == [16, 8, 8, 4, 4, 4, 4, 2, 2, 2, 2, 2, 2, 2, 2]
    for considered in range(1, 20):
        for simulations in range(1, 70):
            counts, tries = [0] * considered, schedule(considered, simulations)
            assert len(tries) == simulations
            for k in tries:
                counts[counts.index(k)] += 1  # there is always an action tried so often
            assert all(a >= b for a, b in pairwise(counts))
            if considered > 1:
                assert counts[0] - counts[1] <= 1  # the best two are tried to the end
            if simulations >= considered:
                assert min(counts) >= 1


def test_nothing_to_search_is_an_error() -> None:
    game = TINY
    noise = np.zeros((1, game.num_actions))
    with pytest.raises(ValueError, match="simulations and considered must be 1 or more"):
        gumbel_search(game, game.init(1), noise, GumbelSettings(0), Toy())
    state = game.init(1)
    for action in (0, 8, 1, 9, 2):
        state = game.step(state, np.array([action]))
    with pytest.raises(ValueError, match="a game is over"):
        gumbel_search(game, state, noise, GumbelSettings(2), Toy())
