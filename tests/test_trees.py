"""Monte Carlo trees against searches written plainly, by random games, by PUCT and by Gumbel; what
they prove, against exact solutions; and trees that are used again.

`searches.json` has what they found, in both backends.
"""

from __future__ import annotations

import copy
import json
import math
import time
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from negamax import lead_with_best_play
from test_search import GOLDEN, IN_TREES, backends, sample_of, seeds_of
from three_in_a_row import ThreeInARow
from variants import make, random_position

from boardenvs import play_match
from boardenvs.agents import make_agent
from boardenvs.agents.mcts import MCTSAgent
from boardenvs.game.contract import Game, Position, stack
from boardenvs.game.fen import parse_position
from boardenvs.game.state import Array, IntArray, State, concat, take
from boardenvs.kernel import ALL, set_backend
from boardenvs.search import TreeResults, Trees, TreeSettings, play_out, search_trees, trees
from boardenvs.search.gumbel import GumbelSettings, gumbel_search, schedule
from boardenvs.tablebase import Tablebase
from boardenvs.utils.splitmix import GOLDEN as STEP
from boardenvs.utils.splitmix import mix

OTHELLO, TINY = make("othello"), ThreeInARow()


@pytest.fixture(autouse=True)
def default_backend():
    yield
    set_backend(None)


class Toy:
    """Sees a number in a position that stands for its value, and prefers some actions; counts what
    it was asked.
    """

    def __init__(self, unit: float = 1.0) -> None:
        self.calls = self.positions = 0
        self.unit = unit

    def evaluate(self, game: Game, state: State) -> tuple[Array, Array]:
        self.calls += 1
        self.positions += len(state.ply)
        x = (state.own * np.uint64(7) ^ state.opp * np.uint64(13)) % np.uint64(101)
        weights = game.legal(state) * (np.arange(game.num_actions) % 7 + 1.0)
        return weights / np.maximum(weights.sum(axis=1, keepdims=True), 1), self.unit * (x / 50 - 1)


def result_of(position: Position) -> float:
    """To the side to move, -1 to 1, of a game that is over."""
    return position.result()[position.to_move] / 50 - 1


# ---- as recorded ---------------------------------------------------------------------------------


def recorded(name: str) -> dict[str, list[Any]]:
    """Visits of the actions tried, row by row, and values; of Gumbel search actions and values."""
    game, state, found = make(name), sample_of(name, 8), dict[str, list[Any]]()
    state = take(state, ~game.is_over(state))
    seeds = seeds_of(state)
    for text, evaluator, leaves in (("uct", None, None), ("puct", Toy(), None), ("one", Toy(), 1)):
        results = search_trees(
            game, state, seeds, simulations=50, c=1.0, leaves=leaves, evaluator=evaluator
        )
        found[text] = [
            [[a, n, round(v, 9)] for a, (n, v) in enumerate(zip(visits, values, strict=True)) if n]
            for visits, values in zip(results.visits.tolist(), results.values.tolist(), strict=True)
        ]
    noise = np.random.default_rng(0).gumbel(size=(len(seeds), game.num_actions))
    gumbel = gumbel_search(game, state, noise, GumbelSettings(40, 8), Toy())
    found["gumbel"] = [gumbel.actions.tolist(), [round(x, 9) for x in gumbel.values.tolist()]]
    return found


@pytest.mark.parametrize("name", IN_TREES)
def test_trees_are_as_recorded(name: str) -> None:
    expected = json.loads(GOLDEN.read_text())["trees"][name]
    assert expected["puct"] == expected["one"]  # guesses change nothing
    for _ in backends(name):
        assert recorded(name) == expected


# ---- the same tree, plainly ----------------------------------------------------------------------


@dataclass
class Node:
    position: Position
    value: float = 0.0
    priors: dict[int, float] = field(default_factory=dict)
    win: int | None = None  # an action that wins at once
    children: dict[int, Node] = field(default_factory=dict)
    visits: Counter[int] = field(default_factory=Counter)
    totals: dict[int, float] = field(default_factory=dict)

    def mean(self, action: int) -> float:
        return self.totals[action] / self.visits[action]

    def bounds(self) -> tuple[int, int]:
        """The least and the most that the tree lets the result be, to the side to move."""
        if self.position.is_over():
            result = int(result_of(self.position))
            return result, result
        if not self.priors:
            return -1, 1
        below = [self.below(action) for action in self.priors]
        return max(lower for lower, _ in below), max(upper for _, upper in below)

    def below(self, action: int) -> tuple[int, int]:
        """The same of an action."""
        if action not in self.children:
            return -1, 1
        lower, upper = self.children[action].bounds()
        return -upper, -lower

    def add(self, action: int, value: float) -> None:
        self.visits[action] += 1
        self.totals[action] = self.totals.get(action, 0.0) + value


def plain_search(
    position: Position, seed: int, simulations: int, c: float, evaluator: Toy | None
) -> dict[int, tuple[float, ...]]:
    """By UCT or PUCT: visits, value and bounds of each action."""

    def expand(node: Node) -> None:
        here, actions = node.position, node.position.legal_actions()
        node.priors = dict.fromkeys(actions, 0.0)
        if evaluator:
            probabilities, values = evaluator.evaluate(here.game, stack([here]))
            node.priors = {a: float(probabilities[0, a]) for a in actions}
            node.value = float(values[0])

    def choose(node: Node, random: int) -> int:
        visits, least = node.visits.total(), node.bounds()[0]
        hopeful = [a for a in node.priors if node.below(a)[1] > least]
        if evaluator:
            average = sum(node.totals.values()) / max(visits, 1)

            def puct(a: int) -> float:
                mean = node.mean(a) if node.visits[a] else average
                return mean + c * math.sqrt(visits + 1) * node.priors[a] / (1 + node.visits[a])

            return max(hopeful, key=puct)
        untried = [a for a in node.priors if not node.visits[a]]
        if untried:
            return untried[(random >> 32) * len(untried) >> 32]
        width = c * math.sqrt(math.log(visits))
        return max(hopeful, key=lambda a: node.mean(a) + width / math.sqrt(node.visits[a]))

    root = Node(position)
    expand(root)
    for _ in range(simulations):
        lower, upper = root.bounds()
        if lower == upper:
            break
        seed = (seed + STEP) & ALL
        node, path = root, list[tuple[Node, int]]()
        while node.priors:
            path.append((node, choose(node, mix((mix(seed) + len(path) + 1) & ALL))))
            node, action = path[-1]
            if action not in node.children:
                node.children[action] = Node(node.position.step(action))
            node = node.children[action]
        state = stack([node.position])
        if node.position.is_over():
            value = result_of(node.position)
        else:
            expand(node)
            by_chance = play_out(position.game, state, np.array([mix(seed)], np.uint64))
            value = node.value if evaluator else float(by_chance[0])
        for before, action in reversed(path):
            value = -value
            before.add(action, value)
    found = dict[int, tuple[float, ...]]()
    for action in root.priors:
        lower, upper = root.below(action)
        mean = root.mean(action) if root.visits[action] else 0.0
        found[action] = (root.visits[action], min(max(mean, lower), upper), lower, upper)
    return found


@pytest.mark.parametrize("evaluator", [None, Toy()])
@pytest.mark.parametrize("name", IN_TREES[:2])
def test_trees_grow_as_plainly_written(name: str, evaluator: Toy | None) -> None:
    """In few trees and in many: NumPy plays their random games in different ways."""
    set_backend("numpy")
    game, state, rows = make(name), sample_of(name, 20), [3, 6, 17]
    arguments: dict[str, Any] = {"simulations": 20, "c": 0.8, "evaluator": evaluator}
    found = search_trees(game, state, seeds_of(state, 0), **arguments)
    few = search_trees(game, take(state, rows), np.array(rows, np.uint64), **arguments)
    for all_rows, some in zip(found, few, strict=True):
        np.testing.assert_array_equal(some, all_rows[rows])
    for row, position in zip(rows, game.positions(take(state, rows)), strict=True):
        for action, wanted in plain_search(position, row, 20, 0.8, evaluator).items():
            seen = [float(values[row, action]) for values in found]
            assert seen == pytest.approx(list(wanted), abs=1e-12)
    assert not found.visits[game.is_over(state)].any()


def plain_gumbel(
    position: Position, noise: Array, settings: GumbelSettings, evaluator: Toy
) -> tuple[int, dict[int, float], float]:
    """The action, the improved policy and the value."""

    def improved(node: Node) -> tuple[dict[int, float], dict[int, float], float]:
        """The improved policy, the completed values times their scale, and the mixed value."""
        tries, mixed = node.visits.total(), node.value
        if tries:
            weight = sum(node.priors[a] for a in node.visits)
            seen = sum(node.priors[a] * node.mean(a) for a in node.visits) / weight
            mixed = (node.value + tries * seen) / (1 + tries)
        scale = (settings.c_visit + max(node.visits.values(), default=0)) * settings.c_scale
        sigma = {a: scale * (node.mean(a) if a in node.visits else mixed) for a in node.priors}
        logits = {a: math.log(p) + sigma[a] for a, p in node.priors.items()}
        weights = {a: math.exp(x - max(logits.values())) for a, x in logits.items()}
        return {a: x / sum(weights.values()) for a, x in weights.items()}, sigma, mixed

    def judged(here: Position) -> Node:
        if here.is_over():
            return Node(here, result_of(here))
        actions = here.legal_actions()
        for action in actions:
            after = here.step(action)
            if after.is_over() and result_of(after) == -1:
                return Node(here, 1.0, dict.fromkeys(actions, 1e-9) | {action: 1.0}, action)
        probabilities, values = evaluator.evaluate(here.game, stack([here]))
        return Node(here, float(values[0]), {a: probabilities[0, a] for a in actions})

    def simulate(node: Node, action: int | None) -> float:
        if not node.priors:
            return node.value
        if action is None:
            policy, tries = improved(node)[0], 1 + node.visits.total()
            action = max(policy, key=lambda a: policy[a] - node.visits[a] / tries)
        if action in node.children:
            value = -simulate(node.children[action], None)
        else:
            node.children[action] = judged(node.position.step(action))
            value = -node.children[action].value
        node.add(action, value)
        return value

    def best(tries: int) -> int:
        sigma = improved(root)[1]
        among = [a for a in root.priors if root.visits.get(a, 0) == tries]
        if root.win in among:
            return int(root.win)
        return max(among, key=lambda a: noise[a] + math.log(root.priors[a]) + sigma[a])

    root = judged(position)
    for tries in schedule(min(settings.considered, len(root.priors)), settings.simulations):
        simulate(root, best(tries))
    policy, _, mixed = improved(root)
    return best(max(root.visits.values())), policy, mixed


@pytest.mark.usefixtures("in_python")
@pytest.mark.parametrize("settings", [GumbelSettings(24, 5, 50, 0.1), GumbelSettings(7, 16, 2, 1)])
def test_gumbel_searches_are_as_plainly_written(settings: GumbelSettings) -> None:
    """Positions from the start to shortly before the end, where leaves are ends of games."""
    game, rng = make("wolf_and_sheep"), np.random.default_rng(0)
    positions = [random_position(game, seed, 4 * seed) for seed in range(12)]
    positions = [p for p in positions if not p.terminated]
    assert len(positions) > 6
    noise = rng.gumbel(size=(len(positions), game.num_actions))
    found = gumbel_search(game, stack(positions), noise, settings, Toy())
    for row, position in enumerate(positions):
        action, policy, value = plain_gumbel(position, noise[row], settings, Toy())
        assert found.actions[row] == action
        assert found.values[row] == pytest.approx(value)
        expected = [policy.get(a, 0) for a in range(game.num_actions)]
        np.testing.assert_allclose(found.policy[row], expected, atol=1e-9)


# ---- rows, leaves, room --------------------------------------------------------------------------


@pytest.mark.usefixtures("in_python")
@pytest.mark.parametrize("evaluator", [None, Toy()])
def test_rows_are_alone_and_seeds_matter(
    evaluator: Toy | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = sample_of("othello", 20)

    def find(rows: Any, first: int = 0) -> IntArray:
        part = take(state, rows)
        seeds = seeds_of(state, first)[rows]
        return search_trees(OTHELLO, part, seeds, simulations=20, c=1, evaluator=evaluator).visits

    whole = find(slice(None))
    np.testing.assert_array_equal(find([7])[0], whole[7])
    monkeypatch.setattr(trees, "_EDGES", 4 * 21 * trees.EDGES_PER_NODE)  # four trees at a time
    monkeypatch.setattr(trees, "_SIMULATIONS_A_CALL", 3 * 20)  # three trees a call
    np.testing.assert_array_equal(find(slice(None)), whole)
    # An evaluator leaves no chance.
    assert np.array_equal(find(slice(None), 1000), whole) == (evaluator is not None)


@pytest.mark.parametrize("evaluator", [None, Toy()])
def test_every_simulation_tries_an_action(
    evaluator: Toy | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where there is hardly room for edges, so that leaves stay leaves."""
    over = parse_position(OTHELLO, "8/8/8/8/8/8/8/bbb5 black 40")
    state = concat([sample_of("othello", 5), stack([over])])
    for edges in (None, 1, 3):
        if edges:
            monkeypatch.setattr(trees, "EDGES_PER_NODE", edges)
        for simulations, leaves in ((1, 1), (10, 4), (3, 8), (40, None)):
            found = search_trees(
                OTHELLO, state, seeds_of(state), simulations=simulations, c=1.0, leaves=leaves,
                evaluator=evaluator,
            )  # fmt: skip
            assert found.visits.sum(axis=1).tolist() == [simulations] * 5 + [0]
            assert not found.visits[~OTHELLO.legal(state)].any()
            assert not found.values[found.visits == 0].any()
            assert np.abs(found.values).max() <= 1


@pytest.mark.usefixtures("in_python")
@pytest.mark.parametrize("evaluator", [None, Toy()])
def test_a_tree_alone_is_given_more_room(evaluator: Toy | None) -> None:
    state, seeds, found = OTHELLO.init(1), np.ones(1, np.uint64), []
    for room in (12, 90):
        grown = Trees(OTHELLO, state, seeds, TreeSettings(room, 1.0, 3, evaluator))
        grown.search(90)
        found.append(grown.read())
        kept = grown.keep(0, int(found[-1].visits[0].argmax()))
        assert kept is not None
        known = int(kept.tree.visits[0])
        after = OTHELLO.step(state, found[-1].visits.argmax(axis=1))
        later = Trees(OTHELLO, after, seeds, TreeSettings(5, 1.0, 3, evaluator), [kept])
        assert later.visits().tolist() == [known]
        later.search(known + 30)
        assert later.visits().tolist() == [known + 30]
    assert found[0].visits.sum() == 90
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.usefixtures("in_python")
def test_guesses_spare_calls() -> None:
    asked = []
    for leaves in (1, 4, None):
        evaluator = Toy()
        state = OTHELLO.init(3)
        search_trees(
            OTHELLO, state, seeds_of(state), simulations=80, c=1.5, leaves=leaves,
            evaluator=evaluator,
        )  # fmt: skip
        asked.append(evaluator.calls)
    assert asked[0] == 81
    assert max(asked[1:]) < 50


def test_only_a_choice_is_searched_and_what_was_tried_most_is_played() -> None:
    over = parse_position(OTHELLO, "8/8/8/8/8/8/8/bbb5 black 40")
    forced = parse_position(OTHELLO, "8/8/8/8/8/8/8/brr5 black 4")
    agent = MCTSAgent(20, evaluator=Toy())
    state = stack([over, forced, OTHELLO.start()])
    actions = agent.act(OTHELLO, state, np.random.default_rng(0))
    assert actions[:2].tolist() == [OTHELLO.noop, 3]
    assert isinstance(agent.evaluator, Toy)
    assert agent.evaluator.positions >= 21  # the root, each simulation, and guesses
    seeds = np.random.default_rng(0).integers(1 << 64, size=3, dtype=np.uint64)
    found = search_trees(OTHELLO, state, seeds, simulations=20, c=1.0, evaluator=Toy())
    assert found.visits[2, actions[2]] == found.visits[2].max()
    assert len(agent.act(OTHELLO, take(state, []), np.random.default_rng(0))) == 0


# ---- proofs --------------------------------------------------------------------------------------


def ends(plies: int, rows: int) -> list[Position]:
    found = [random_position(OTHELLO, seed, plies) for seed in range(rows)]
    return [position for position in found if len(position.legal_actions()) > 1]


@pytest.mark.usefixtures("in_python")
@pytest.mark.parametrize("evaluator", [None, Toy()])
def test_bounds_hold(evaluator: Toy | None) -> None:
    """In Wolf and Sheep by its solution, and in Othello by plain search of the last squares."""

    def search(game: Game, positions: list[Position], simulations: int) -> TreeResults:
        state = stack(positions)
        seeds = seeds_of(state)
        return search_trees(game, state, seeds, simulations=simulations, c=1.0, evaluator=evaluator)

    game = make("wolf_and_sheep")
    positions = [random_position(game, seed, 20 + seed % 30) for seed in range(24)]
    positions = [position for position in positions if not position.terminated]
    found, moves = search(game, positions, 100), Tablebase.load(game).moves(stack(positions))
    lower, upper = (bounds[moves.rows, moves.actions] for bounds in (found.lower, found.upper))
    assert (lower <= moves.value).all()
    assert (moves.value <= upper).all()
    assert set(moves.value[lower == upper].tolist()) == {-1, 1}
    proven = found.values[moves.rows, moves.actions][lower == upper]
    assert (proven == moves.value[lower == upper]).all()
    positions, bounded = ends(57, 40), 0
    for simulations in (3, 12, 24):
        found = search(OTHELLO, positions, simulations)
        for row, position in enumerate(positions):
            for action in position.legal_actions():
                value = -np.sign(lead_with_best_play(OTHELLO, position.step(action)))
                low, high = int(found.lower[row, action]), int(found.upper[row, action])
                assert low <= value <= high
                bounded += (low, high) != (-1, 1)
    assert bounded > 60


@pytest.mark.parametrize("evaluator", [None, Toy()])
def test_ends_of_othello_are_played_exactly(evaluator: Toy | None) -> None:
    """Wins, losses and draws."""
    agent, results = MCTSAgent(3000, evaluator=evaluator), set()
    drawn = [p for p in ends(57, 100) if lead_with_best_play(OTHELLO, p) == 0][:2]
    for position in ends(56, 8) + drawn:
        exact = {
            action: -int(np.sign(lead_with_best_play(OTHELLO, position.step(action))))
            for action in position.legal_actions()
        }
        found = agent.analyse(position, np.random.default_rng(0))
        best = max(exact.values())
        assert found.outcome == {-1: "loss", 0: "draw", 1: "win"}[best]
        assert exact[found.moves[0].action] == best
        chosen = agent.act(OTHELLO, stack([position]), np.random.default_rng(1))
        assert exact[int(chosen[0])] == best
        results.add(best)
    assert results == {-1, 0, 1}


def test_the_first_limit_that_is_met_ends_a_move() -> None:
    start, rng = OTHELLO.start(), np.random.default_rng(0)
    agent = make_agent("mcts:simulations=40,time=1000")
    assert isinstance(agent, MCTSAgent)
    assert agent == make_agent("mcts:rollouts=40,time=1000")
    assert agent.analyse(start, rng).nodes == 40
    began = time.monotonic()
    assert MCTSAgent(time=0.05).analyse(start, rng).nodes >= 1
    assert time.monotonic() - began >= 0.05


# ---- tree reuse ----------------------------------------------------------------------------------


@pytest.mark.usefixtures("in_python")
def test_what_is_proven_is_kept() -> None:
    """Two plies later, before anything is searched."""
    settings, seeds, proven = TreeSettings(300, 1.0), np.zeros(1, np.uint64), 0
    for position in ends(54, 3):
        search = Trees(OTHELLO, stack([position]), seeds, settings)
        search.search(300)
        for action in position.legal_actions():
            known, between = search.keep(0, action), position.step(action)
            for reply in between.legal_actions() if known and not between.terminated else ():
                after = between.step(reply)
                if (kept := known and known.after(reply)) and not after.terminated:
                    later = Trees(OTHELLO, stack([after]), seeds, settings, [kept])
                    (lower,), (upper,) = later.proven()
                    assert lower <= np.sign(lead_with_best_play(OTHELLO, after)) <= upper
                    proven += lower == upper
    assert proven > 3


@pytest.mark.usefixtures("in_python")
def test_matches_use_trees_again_and_repeat() -> None:
    """The same games with the same agent, with a copy, and, with more positions judged, by an agent
    that does not know how games came about.
    """

    class Forgetful:
        def __init__(self, agent: MCTSAgent) -> None:
            self.act = agent.act

    def play(agent: object) -> tuple[list[int], int]:
        before = evaluator.positions
        result = play_match(OTHELLO, agent, "random", pairs=1, seed=3)
        assert result.actions is not None
        return result.actions.tolist(), evaluator.positions - before

    evaluator = Toy()
    agent = MCTSAgent(16, evaluator=evaluator)
    games, judged = play(agent)
    assert play(agent) == (games, judged)
    assert play(copy.deepcopy(agent))[0] == games
    again, more = play(Forgetful(agent))
    assert again == games
    assert more > judged


# ---- what Gumbel search is for -------------------------------------------------------------------


@cache
def exact(position: Position) -> float:
    """To the side to move, with best play."""
    if position.terminated:
        return result_of(position)
    return max(-exact(position.step(a)) for a in position.legal_actions())


class Exact(Toy):
    """Knows what every position is worth, and prefers actions as `Toy` does."""

    def evaluate(self, game: Game, state: State) -> tuple[Array, Array]:
        values = np.array([exact(p) for p in game.positions(state)])
        return super().evaluate(game, state)[0], values


@pytest.mark.usefixtures("in_python")
def test_policies_get_better() -> None:
    """With the exact value of each action the improved policy is worth no less than the prior,
    wherever it is; and the action chosen without noise is worth most.
    """
    gains = []
    for plies in range(5):
        positions = [random_position(TINY, seed, plies) for seed in range(12)]
        state, actions = stack(positions), 9 - plies  # each of them is tried once
        prior, _ = Toy().evaluate(TINY, state)
        noise = np.zeros((12, TINY.num_actions))
        found = gumbel_search(
            TINY, state, noise, GumbelSettings(actions, actions, 50, 0.2), Exact()
        )
        np.testing.assert_allclose(found.policy.sum(axis=1), 1)
        for row, position in enumerate(positions):
            values = {a: -exact(position.step(a)) for a in position.legal_actions()}
            before = sum(prior[row, a] * value for a, value in values.items())
            gains.append(sum(found.policy[row, a] * x for a, x in values.items()) - before)
            assert values[int(found.actions[row])] == exact(position)
    assert min(gains) > -1e-6
    assert np.mean(gains) > 0.2


def test_sequential_halving() -> None:
    assert schedule(4, 8) == [0, 0, 0, 0, 1, 1, 2, 2]
    # Phases with as many simulations each: 16 among 16, 8, 4 and at last 2 actions.
    tries = [Counter(schedule(16, 64))[k] for k in range(15)]
    assert tries == [16, 8, 8, 4, 4, 4, 4, 2, 2, 2, 2, 2, 2, 2, 2]
    for considered in range(1, 20):
        for simulations in range(1, 70, 3):
            counts = [0] * considered
            for k in schedule(considered, simulations):
                counts[counts.index(k)] += 1  # there is always an action tried so often
            assert sum(counts) == simulations
            assert all(a >= b for a, b in pairwise(counts))
            assert considered == 1 or counts[0] - counts[1] <= 1  # the best two go to the end
            assert simulations < considered or min(counts) >= 1


def test_nothing_to_search_is_an_error() -> None:
    noise, state = np.zeros((1, TINY.num_actions)), TINY.init(1)
    for action in (0, 8, 1, 9, 2):
        state = TINY.step(state, np.array([action]))
    with pytest.raises(ValueError, match="simulations and considered must be 1 or more"):
        gumbel_search(TINY, TINY.init(1), noise, GumbelSettings(0), Toy())
    with pytest.raises(ValueError, match="a game is over"):
        gumbel_search(TINY, state, noise, GumbelSettings(2), Toy())


def test_evaluators_that_know_nothing_lead_to_legal_moves() -> None:
    """As networks whose training went astray."""
    for _ in backends("othello"):
        state = OTHELLO.init(2)
        noise = np.zeros((2, OTHELLO.num_actions))
        found = gumbel_search(OTHELLO, state, noise, GumbelSettings(12, 5), Toy(math.nan))
        assert OTHELLO.legal(state)[[0, 1], found.actions].all()


def test_evaluators_say_one_value_a_position() -> None:
    class OneForAll(Toy):
        def evaluate(self, game: Game, state: State) -> tuple[Array, Array]:
            return super().evaluate(game, state)[0], np.zeros(1)

    with pytest.raises(ValueError, match=r"values \(1,\): they must be \(2, 65\) and \(2,\)"):
        MCTSAgent(20, evaluator=OneForAll()).act(OTHELLO, OTHELLO.init(2))
