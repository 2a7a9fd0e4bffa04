"""Monte Carlo trees against searches written plainly, by random games and by Gumbel; what they
prove, against exact solutions; and trees that are used again. In machine code: `make compiled`.
"""

from __future__ import annotations

import copy
import math
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from growing import search_trees
from test_search import FORCED, OVER, REPEATING, remembering, sample_of, seeds_of
from three_in_a_row import ThreeInARow
from variants import make, random_position

from boardenvs import play_match
from boardenvs.agents.mcts import MCTSAgent
from boardenvs.game.game import Game
from boardenvs.game.position import Position, stack
from boardenvs.game.state import Array, State, take
from boardenvs.kernel import ALL
from boardenvs.search import Trees, TreeSettings
from boardenvs.search.gumbel import gumbel_search
from boardenvs.search.halving import GumbelSettings, schedule
from boardenvs.utils.splitmix import GOLDEN as STEP, mix

OTHELLO, TINY = make("othello"), ThreeInARow()
C3 = 18
GAMES = ("othello", "wolf_and_sheep")


class Toy:
    """Sees a number in a position that stands for its value, and prefers some actions, whose
    chances add up to `scale`; counts what it was asked.
    """

    def __init__(self, unit: float = 1.0, scale: float = 1.0) -> None:
        self.calls = self.positions = 0
        self.unit, self.scale = unit, scale

    def evaluate(self, game: Game, state: State) -> tuple[Array, Array]:
        self.calls += 1
        self.positions += len(state.ply)
        x = (state.own * np.uint64(7) ^ state.opp * np.uint64(13)) % np.uint64(101)
        weights = game.legal(state) * (np.arange(game.num_actions) % 7 + 1.0)
        chances = self.scale * weights / np.maximum(weights.sum(axis=1, keepdims=True), 1)
        return chances.astype(np.float32), (self.unit * (x / 50 - 1)).astype(np.float32)


judged_both_ways = pytest.mark.parametrize("evaluator", [None, Toy()])


def result_of(position: Position) -> float:
    """To the side to move, -1 to 1, of a game that is over."""
    return position.result()[position.to_move] / 50 - 1


# ---- the same tree, plainly ----------------------------------------------------------------------


@dataclass
class Node:
    position: Position
    value: float = 0.0
    priors: dict[int, float] = field(default_factory=dict)
    children: dict[int, Node] = field(default_factory=dict)
    visits: Counter[int] = field(default_factory=Counter)
    totals: defaultdict[int, float] = field(default_factory=lambda: defaultdict(float))

    def judge(self, evaluator: Toy | None) -> None:
        actions = self.position.legal_actions()
        self.priors = dict.fromkeys(actions, 0.0)
        if evaluator:
            chances, values = evaluator.evaluate(self.position.game, stack([self.position]))
            total = sum(float(chances[0, a]) for a in actions)
            self.priors = {a: float(chances[0, a]) / total for a in actions}
            self.value = float(values[0])
            for action in actions:
                after = self.position.step(action)
                if after.is_over() and result_of(after) == -1:  # it has all of the prior
                    self.value, self.priors = 1.0, dict.fromkeys(actions, 1e-9) | {action: 1.0}
                    return

    def mean(self, action: int) -> float:
        return self.totals[action] / self.visits[action]

    def improved(
        self, c_visit: float, c_scale: float
    ) -> tuple[dict[int, float], dict[int, float], float]:
        """The improved policy, the completed values times their scale, and the mixed value."""
        tries, mixed = self.visits.total(), self.value
        if tries:
            weight = sum(self.priors[a] for a in self.visits)
            seen = sum(self.priors[a] * self.mean(a) for a in self.visits) / weight
            mixed = (self.value + tries * seen) / (1 + tries)
        scale = (c_visit + max(self.visits.values(), default=0)) * c_scale
        sigma = {a: scale * (self.mean(a) if a in self.visits else mixed) for a in self.priors}
        logits = {a: math.log(p) + sigma[a] for a, p in self.priors.items()}
        weights = {a: math.exp(x - max(logits.values())) for a, x in logits.items()}
        return {a: x / sum(weights.values()) for a, x in weights.items()}, sigma, mixed

    def most_lacking(self, among: Iterable[int], c_visit: float, c_scale: float) -> int:
        """The action whose share of visits is furthest below its improved probability."""
        policy, tries = self.improved(c_visit, c_scale)[0], 1 + self.visits.total()
        return max(among, key=lambda a: policy[a] - self.visits[a] / tries)

    def best(
        self, tries: int, c_visit: float, c_scale: float, noise: Array | None = None
    ) -> int | None:
        """Of the actions with this number of visits, the best by noise, prior and value."""
        sigma = self.improved(c_visit, c_scale)[1]
        scores = {
            a: (p == 1, math.log(p) + sigma[a] + (0 if noise is None else noise[a]))
            for a, p in self.priors.items()
            if self.visits.get(a, 0) == tries
        }
        return max(scores, key=scores.__getitem__, default=None)

    def bounds(self) -> tuple[int, int]:
        """The least and the most that the tree lets the result be, to the side to move."""
        if self.position.is_over():
            result = int(result_of(self.position))
            return result, result
        below = [self.below(action) for action in self.priors] or [(-1, 1)]
        return max(lower for lower, _ in below), max(upper for _, upper in below)

    def below(self, action: int) -> tuple[int, int]:
        """The same of an action."""
        if action not in self.children:
            return -1, 1
        lower, upper = self.children[action].bounds()
        return -upper, -lower


def played_out(position: Position, seed: int) -> float:
    """The result of a random game to the side to move."""
    here = position
    while not here.is_over():
        seed = (seed + STEP) & ALL
        legal = here.legal_actions()
        here = here.step(legal[(mix(seed) >> 32) * len(legal) >> 32])
    return result_of(here) * (1 if here.to_move == position.to_move else -1)


def plain_search(
    position: Position, seed: int, simulations: int, c: float, evaluator: Toy | None
) -> dict[int, list[float]]:
    """By UCT or Gumbel search as a player: visits, value, bounds and score of each action."""

    def choose(node: Node, random: int) -> int:
        visits, least = node.visits.total(), node.bounds()[0]
        hopeful = [a for a in node.priors if node.below(a)[1] > least]
        if evaluator:
            if node is root:
                tries = schedule(min(simulations // 3, len(root.priors)), simulations)[visits]
                best = root.best(tries, 50, 0.3 / c)
                if best in hopeful:
                    return best
            return node.most_lacking(hopeful or node.priors, 50, 0.3 / c)
        untried = [a for a in node.priors if not node.visits[a]]
        if untried:
            return untried[(random >> 32) * len(untried) >> 32]
        width = c * math.sqrt(math.log(visits))
        return max(hopeful, key=lambda a: node.mean(a) + width / math.sqrt(node.visits[a]))

    root = Node(position)
    root.judge(evaluator)
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
        if node.position.is_over():
            value = result_of(node.position)
        else:
            node.judge(evaluator)
            value = node.value if evaluator else played_out(node.position, mix(seed))
        for before, action in reversed(path):
            value = -value
            before.visits[action] += 1
            before.totals[action] += value
    found = dict[int, list[float]]()
    for action, prior in root.priors.items():
        lower, upper = root.below(action)
        visits = root.visits[action]
        value = min(max(root.mean(action) if visits else 0.0, lower), upper)
        score = visits + (value + 1) / 4
        if evaluator:
            sigma = root.improved(50, 0.3 / c)[1]
            logits = [0.0, *(math.log(p) + sigma[a] for a, p in root.priors.items())]
            logit = math.log(prior) + sigma[action] - min(logits)
            score = visits + logit / (1 + max(logits) - min(logits))
        found[action] = [visits, value, lower, upper, score]
    return found


def check_trees(name: str, evaluator: Toy | None) -> None:
    """In few trees and in many, and at the end of games, where they prove results."""
    game, rows = make(name), [3, 17, 21, 22, 24, 26]
    positions = [*game.positions(sample_of(name, 20))]
    positions += [random_position(game, seed, 56) for seed in range(7)]
    state = stack([*map(remembering, positions, range(27))])
    arguments: dict[str, Any] = {"simulations": 20, "c": 0.8, "evaluator": evaluator}
    found = search_trees(game, state, seeds_of(state, 0), **arguments)
    few = search_trees(game, take(state, rows), np.array(rows, np.uint64), **arguments)
    for all_rows, some in zip(found, few, strict=True):
        np.testing.assert_array_equal(some, all_rows[rows])
    for row, position in enumerate(game.positions(take(state, rows))):
        for action, wanted in plain_search(position, rows[row], 20, 0.8, evaluator).items():
            seen = [float(values[row, action]) for values in few]
            assert seen == pytest.approx(wanted, abs=1e-12)
    assert name != "othello" or {-1, 1} <= {*found.values[found.lower == found.upper]}
    assert not found.visits[game.is_over(state)].any()


@pytest.mark.parametrize(("name", "evaluator"), [*product(GAMES, (None, Toy())), (REPEATING, None)])
def test_trees_grow_as_plainly_written(name: str, evaluator: Toy | None) -> None:
    check_trees(name, evaluator)


def plain_gumbel(
    position: Position, noise: Array, settings: GumbelSettings, evaluator: Toy
) -> tuple[int, dict[int, float], float]:
    """The action, the improved policy and the value."""

    def judged(here: Position) -> Node:
        node = Node(here)
        if here.is_over():
            node.value = result_of(here)
        else:
            node.judge(evaluator)
        return node

    def simulate(node: Node, action: int | None = None) -> float:
        if not node.priors:
            return node.value
        if action is None:
            action = node.most_lacking(node.priors, settings.c_visit, settings.c_scale)
        if action in node.children:
            value = simulate(node.children[action])
        else:
            here = node.position.step(action)
            while not game.alternates and not here.is_over() and len(here.legal_actions()) == 1:
                here = here.step(here.legal_actions()[0])
            node.children[action] = judged(here)
            value = node.children[action].value
        if node.children[action].position.to_move != node.position.to_move:
            value = -value
        node.visits[action] += 1
        node.totals[action] += value
        return value

    def best(tries: int) -> int:
        found = root.best(tries, settings.c_visit, settings.c_scale, noise)
        assert found is not None
        return found

    game, root = position.game, judged(position)
    for tries in schedule(min(settings.considered, len(root.priors)), settings.simulations):
        simulate(root, best(tries))
    policy, _, mixed = root.improved(settings.c_visit, settings.c_scale)
    return best(max(root.visits.values())), policy, mixed


def check_gumbel(name: str) -> None:
    """Positions from the start to shortly before the end, where leaves are ends of games."""
    game, rng = make(name), np.random.default_rng(0)
    positions = [random_position(game, seed, 6 * seed) for seed in range(10)]
    positions = [position for position in positions if not position.is_over()]
    noise = rng.gumbel(size=(len(positions), game.num_actions))
    for settings in (GumbelSettings(24, 5, 50, 0.1), GumbelSettings(7, 10**6, 2, 1)):
        found = gumbel_search(game, stack(positions), noise, settings, Toy(scale=3))
        for row, position in enumerate(positions):
            action, policy, value = plain_gumbel(position, noise[row], settings, Toy())
            assert found.actions[row] == action
            assert found.values[row] == pytest.approx(value)
            expected = [policy.get(a, 0) for a in range(game.num_actions)]
            np.testing.assert_allclose(found.policy[row], expected, atol=1e-6)


@pytest.mark.parametrize("name", [*GAMES, "checkers"])
def test_what_a_search_evaluates_after_its_action_is_the_next_root(name: str) -> None:
    """Without games that are over or won at once; whole searches are the same as without it."""
    game, rng, toys = make(name), np.random.default_rng(0), (Toy(), Toy())
    state, roots, kept = sample_of(name, 24), None, 0
    state = take(state, ~game.is_over(state))
    for _ in range(8):
        noise = rng.gumbel(size=(len(state.ply), game.num_actions))
        found, fresh = (
            gumbel_search(game, state, noise, GumbelSettings(7, 4), toy, judged)
            for toy, judged in zip(toys, (roots, None), strict=True)
        )
        for one, other in zip(found, fresh, strict=True):
            np.testing.assert_allclose(one, other, 1e-5)
        kept += 0 if roots is None else int((~np.isnan(roots[:, -1])).sum())
        state = game.step(state, found.actions)
        going = ~game.is_over(state)
        assert np.isnan(found.after[~going, -1]).all()
        state, roots = take(state, going), found.after[going]
    assert toys[1].positions - toys[0].positions == kept > 100


@pytest.mark.parametrize("name", [*GAMES, "checkers"])
def test_gumbel_searches_are_as_plainly_written(name: str) -> None:
    check_gumbel(name)


# ---- rows, leaves, room --------------------------------------------------------------------------


@judged_both_ways
def test_a_tree_alone_is_given_more_room(evaluator: Toy | None) -> None:
    """It finds the same as a tree that has the room from the start."""
    state, seeds, found = OTHELLO.init(1), np.ones(1, np.uint64), []
    for room in (90, 12):
        grown = Trees(OTHELLO, state, seeds, TreeSettings(room, 1.0, evaluator, 3))
        grown.search(90)
        assert grown.tree.max_edges.tolist() == [grown.tree.edge_stride]
        found.append(grown.read())
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_only_a_choice_is_searched_and_what_was_tried_most_is_played() -> None:
    state, rng, toys = stack([OTHELLO.start(), OVER, FORCED]), np.random.default_rng, (Toy(), Toy())
    agent = MCTSAgent(20, evaluator=toys[0])
    actions = agent.act(OTHELLO, state, rng(0))
    seeds = rng(0).integers(1 << 64, size=3, dtype=np.uint64)[:1]
    found = search_trees(OTHELLO, take(state, [0]), seeds, simulations=20, evaluator=toys[1])
    assert found.visits[0, actions[0]] == found.visits.max()
    noise, settings = np.zeros((1, OTHELLO.num_actions)), GumbelSettings(20, 20 // 3)
    learnt_from = gumbel_search(OTHELLO, take(state, [0]), noise, settings, Toy())
    assert actions[0] == learnt_from.actions[0]
    assert actions[1:].tolist() == [OTHELLO.noop, 3]
    assert toys[0].positions == toys[1].positions
    assert len(agent.act(OTHELLO, take(state, []), rng(0))) == 0


@pytest.mark.parametrize("unit", [np.nan, np.inf])
def test_an_evaluator_s_value_that_is_no_number_is_refused(unit: float) -> None:
    with pytest.raises(ValueError, match="the evaluator gave a value or a probability that is no"):
        MCTSAgent(4, evaluator=Toy(unit)).act(OTHELLO, OTHELLO.init(2), np.random.default_rng(0))


# ---- proofs --------------------------------------------------------------------------------------


class Blind:
    """Never expects to play c3, nor to win."""

    def evaluate(self, game: Game, state: State) -> tuple[Array, Array]:
        weights = game.legal(state) * (np.arange(game.num_actions) != C3)
        return weights / np.maximum(weights.sum(axis=1, keepdims=True), 1), -np.ones(len(weights))


def test_wins_that_an_evaluator_overlooks_are_played_and_prevented() -> None:
    """By one simulation; and once two for each of four other moves prove that they lose."""
    for line, simulations in (("a3 a1 b3 b1", 1), ("a1 a3 c2 b3", 9)):
        position = TINY.start()
        for square in line.split():
            position = position.step(TINY.parse_action(square))
        agent = MCTSAgent(simulations, evaluator=Blind())
        assert agent.act(TINY, stack([position]), np.random.default_rng(0)).tolist() == [C3]


def test_the_first_limit_that_is_met_ends_a_move() -> None:
    start, rng = OTHELLO.start(), np.random.default_rng(0)
    assert MCTSAgent(40, time=1000).analyse(start, rng).nodes == 40
    began = time.monotonic()
    assert MCTSAgent(time=0.05).analyse(start, rng).nodes >= 1
    assert time.monotonic() - began >= 0.05


def test_lines_follow_the_most_visits_or_what_is_proven() -> None:
    """To the end of the game, if the result is proven."""
    game, proven = make("wolf_and_sheep"), set()
    for seed in range(8):
        position = random_position(game, seed, 30)
        if position.is_over():
            continue
        trees = Trees(game, stack([position]), np.ones(1, np.uint64), TreeSettings(100, 1.0))
        trees.search(100)
        results = trees.read()
        for action in position.legal_actions():
            line, kept = trees.line(0, action), trees.keep(0, action)
            lower, upper = results.lower[0, action], results.upper[0, action]
            if lower == upper:
                end = position
                for played in line:
                    end = end.step(played)
                assert end.is_over()
                assert result_of(end) * (1 if end.to_move == position.to_move else -1) == lower
                proven.add(int(lower))
            elif kept is not None and kept.tree.lower[0] == -1 and len(line) > 1:
                edges = slice(kept.tree.first_edge[0], kept.tree.first_edge[0] + kept.tree.edges[0])
                most = kept.tree.edge_visits[edges].argmax()
                assert line[1] == kept.tree.edge_action[edges][most]
    assert proven == {-1, 1}


# ---- tree reuse ----------------------------------------------------------------------------------


def test_matches_use_trees_again_and_repeat() -> None:
    """The same games with the same agent, with a copy, and, with more positions judged, by an agent
    that does not know how games came about.
    """

    def play(agent: object) -> tuple[list[int], int]:
        before = evaluator.positions
        result = play_match(OTHELLO, agent, "random", pairs=1, opening_plies=(44, 44), seed=3)
        assert result.actions is not None
        return result.actions.tolist(), evaluator.positions - before

    evaluator = Toy()
    agent = MCTSAgent(16, evaluator=evaluator, time=1000)
    games, judged = play(agent)
    assert play(agent) == (games, judged)
    assert play(copy.deepcopy(agent))[0] == games
    again, more = play(lambda game, state, rng: agent.act(game, state, rng))
    assert again == games
    assert more > judged


# ---- the parts of Gumbel search ------------------------------------------------------------------


def test_the_settings_of_a_search_follow_from_its_size() -> None:
    """An action is tried for each three simulations, 16 at most; 1,024 leaves are judged at once,
    8 of a tree.
    """
    for simulations, halved, considered in (
        (1, 1, 2),
        (30, 30, 10),
        (4096, 4096, 16),
        (5000, 0, 2),
    ):
        settings = TreeSettings(9, 0.5, Toy(), halved=simulations)
        policy = settings.policy(OTHELLO, 3).settings
        assert (policy.simulations, policy.considered) == (halved, considered)
        assert (policy.c_visit, policy.c_scale) == (50, 0.6)
    leaves = [TreeSettings(9, 1.0, Toy()).leaves_at_once(trees) for trees in (1, 128, 200, 2000)]
    assert (leaves, TreeSettings(9, 1.0).leaves_at_once(1)) == ([8, 8, 5, 1], 1)


def test_sequential_halving() -> None:
    # Phases with as many simulations each: 16 among 16, 8, 4 and at last 2 actions.
    tries = [Counter(schedule(16, 64))[k] for k in range(15)]
    assert tries == [16, 8, 8, 4, 4, 4, 4, 2, 2, 2, 2, 2, 2, 2, 2]
    assert schedule(4, 10) == [0, 0, 0, 0, 1, 1, 2, 2, 3, 3]  # two go on to the end
    for considered, simulations in ((1, 5), (3, 20), (16, 9), (19, 70)):
        counts = [0] * considered
        for k in schedule(considered, simulations):
            counts[counts.index(k)] += 1  # there is always an action with this number of tries
        assert sum(counts) == simulations
        assert all(a >= b for a, b in pairwise(counts))
