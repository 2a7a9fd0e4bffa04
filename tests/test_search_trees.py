"""Monte Carlo tree search against one written plainly, and what it makes of evaluators."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from variants import make, random_position

from boardenvs.agents.mcts import MCTSAgent
from boardenvs.game.contract import Game, Position, stack
from boardenvs.game.fen import parse_position
from boardenvs.game.state import FloatArray, IntArray, State, concat, take
from boardenvs.kernel import ALL, set_backend
from boardenvs.kernel.backend import Backend
from boardenvs.kernel.link import array_for_loops
from boardenvs.search import TreeResults, play_out, search_trees, trees
from boardenvs.search.compiled import simulations as loops
from boardenvs.search.compiler import compile_for, flat, position_size, position_words
from boardenvs.utils.splitmix import GOLDEN, mix

# Machine code for each game takes seconds to make: these stand for all.
COMPILED = ["othello", "wolf_and_sheep"]
BACKENDS: list[Backend] = ["numpy", "numba"] if find_spec("numba") else ["numpy"]


def backends(name: str) -> list[Backend]:
    return [b for b in BACKENDS if b == "numpy" or name in COMPILED]


@pytest.fixture(autouse=True)
def default_backend():
    yield
    set_backend(None)


def seeds_of(state: State, first: int = 0) -> np.ndarray[Any, np.dtype[np.uint64]]:
    return np.arange(first, first + len(state.ply), dtype=np.uint64)


def sample_of(name: str, rows: int) -> State:
    game = make(name)
    return stack([random_position(game, seed, 5 * seed % 40) for seed in range(rows)])


# ---- the same tree, plainly ----------------------------------------------------------------------


@dataclass
class Edge:
    action: int
    prior: float = 0.0
    tries: int = 0
    total: float = 0.0
    child: Node | None = None


@dataclass
class Node:
    position: Position
    edges: list[Edge] = field(default_factory=list)


def proven(game: Game, node: Node | None) -> tuple[int, int]:
    """The least and the most that the tree lets the result be, to the side to move."""
    if node is None:
        return -1, 1
    if node.position.is_over():
        result = int(np.sign(node.position.result()[node.position.to_move] - 50))
        return result, result
    if not node.edges:
        return -1, 1
    below = [proven(game, edge.child) for edge in node.edges]
    return max(-most for _, most in below), max(-least for least, _ in below)


class Found(NamedTuple):
    tries: int
    value: float
    lower: int
    upper: int


def plain_search(
    game: Game, position: Position, seed: int, simulations: int, c: float, evaluator: Any = None
) -> dict[int, Found]:
    """What is found of each action."""

    def expand(node: Node) -> None:
        chances = evaluator.evaluate(game, stack([node.position]))[0][0] if evaluator else None
        for action in node.position.legal_actions():
            node.edges.append(Edge(action, 0.0 if chances is None else float(chances[action])))

    def choose(node: Node, random: int) -> Edge:
        visits = sum(e.tries for e in node.edges)
        least = proven(game, node)[0]
        hopeful = [e for e in node.edges if -proven(game, e.child)[0] > least]
        untried = [e for e in node.edges if not e.tries]
        if evaluator:
            average = sum(e.total for e in node.edges) / max(visits, 1)
            spread = c * math.sqrt(visits + 1)

            def puct(e: Edge) -> float:
                mean = e.total / e.tries if e.tries else average
                return mean + spread * e.prior / (1 + e.tries)

            return max(hopeful, key=puct)
        if untried:
            return untried[(random >> 32) * len(untried) >> 32]
        spread = c * math.sqrt(math.log(visits))
        return max(hopeful, key=lambda e: e.total / e.tries + spread / math.sqrt(e.tries))

    root = Node(position)
    expand(root)
    for _ in range(simulations):
        least, most = proven(game, root)
        if least == most:
            break
        seed = (seed + GOLDEN) & ALL
        random = mix(seed)
        node, path = root, list[Edge]()
        while node.edges:
            path.append(choose(node, mix((random + len(path) + 1) & ALL)))
            if path[-1].child is None:
                path[-1].child = Node(node.position.step(path[-1].action))
            node = path[-1].child
        state = stack([node.position])
        if evaluator and not node.position.terminated:
            value = float(evaluator.evaluate(game, state)[1][0])
        else:
            value = float(play_out(game, state, np.array([random], np.uint64))[0])
        if not node.position.terminated:
            expand(node)
        for edge in reversed(path):
            value = -value
            edge.tries += 1
            edge.total += value
    found = {}
    for e in root.edges:
        least, most = proven(game, e.child)
        value = min(max(e.total / e.tries if e.tries else 0.0, -most), -least)
        found[e.action] = Found(e.tries, value, -most, -least)
    return found


def agrees(found: TreeResults, row: int, expected: dict[int, Found]) -> bool:
    """Whether a row of what trees found is what was expected of each action."""
    for action, wanted in expected.items():
        seen = [float(values[row, action]) for values in found]
        assert seen == pytest.approx(list(wanted), abs=1e-12)
    return True


@pytest.mark.parametrize("name", [*COMPILED, "lines_of_action"])
def test_trees_grow_as_plainly_written(name: str) -> None:
    """Few trees and many, one leaf at a time: where NumPy and machine code go different ways."""
    game, simulations, c = make(name), 30, 0.8
    state, rows = sample_of(name, 20), (3, 6, 11)
    assert not state.terminated[list(rows)].any()
    expected = [
        plain_search(game, random_position(game, row, 5 * row % 40), row, simulations, c)
        for row in rows
    ]
    for backend in backends(name):
        set_backend(backend)
        found = search_trees(game, state, seeds_of(state), simulations=simulations, c=c)
        few = search_trees(
            game, take(state, [2, 3]), seeds_of(state)[2:4], simulations=simulations, c=c
        )
        for all_rows, two_rows in zip(found, few, strict=True):
            np.testing.assert_array_equal(two_rows, all_rows[2:4])
        for row, by_action in zip(rows, expected, strict=True):
            assert agrees(found, row, by_action)
            settled = max(x.lower for x in by_action.values()) == max(
                x.upper for x in by_action.values()
            )
            assert found.visits[row].sum() == simulations or settled
        assert not found.visits[state.terminated].any()


class Toy:
    """Sees a number in a position that stands for its worth, and likes some actions better."""

    def evaluate(self, game: Game, state: State) -> tuple[FloatArray, FloatArray]:
        x = (state.own * np.uint64(7) ^ state.opp * np.uint64(13)) % np.uint64(101)
        likes = np.arange(game.num_actions) % 7 + 1.0
        chances = game.legal(state) * likes
        chances /= np.maximum(chances.sum(axis=1, keepdims=True), 1)
        return chances, x / 50.0 - 1


def test_with_an_evaluator_too() -> None:
    game = make("wolf_and_sheep")
    state = sample_of("wolf_and_sheep", 6)
    for backend in BACKENDS:
        set_backend(backend)
        found = search_trees(game, state, seeds_of(state), simulations=60, c=1.2, evaluator=Toy())
        set_backend("numpy")
        for row in range(6):
            position = random_position(game, row, 5 * row % 40)
            if position.terminated:
                assert not found.visits[row].any()
                continue
            assert agrees(found, row, plain_search(game, position, row, 60, 1.2, Toy()))


# ---- rows, seeds, leaves, room -------------------------------------------------------------------


def test_backends_agree_whatever_the_leaves() -> None:
    if len(BACKENDS) < 2:
        pytest.skip("numba is not installed")
    for name in COMPILED:
        state = sample_of(name, 20)
        for leaves, evaluator in ((1, None), (3, None), (4, Toy()), (None, Toy())):
            found = []
            for backend in BACKENDS:
                set_backend(backend)
                found.append(
                    search_trees(
                        make(name), state, seeds_of(state), simulations=20, c=1.0, leaves=leaves,
                        evaluator=evaluator,
                    )
                )  # fmt: skip
            for one, other in zip(*found, strict=True):
                np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("evaluator", [None, Toy()])
@pytest.mark.parametrize(
    ("simulations", "leaves"), [(1, 1), (10, 1), (10, 4), (8, 8), (3, 8), (40, None)]
)
def test_every_rollout_tries_an_action(
    simulations: int, leaves: int | None, evaluator: Any
) -> None:
    game = make("othello")
    state = concat([sample_of("othello", 6), stack([finished()])])
    tries, means, *_ = search_trees(
        game,
        state,
        seeds_of(state),
        simulations=simulations,
        c=1.0,
        leaves=leaves,
        evaluator=evaluator,
    )
    assert tries.sum(axis=1).tolist() == [0 if over else simulations for over in state.terminated]
    assert not tries[~game.legal(state)].any()
    assert not means[tries == 0].any()
    assert np.abs(means).max() <= 1
    if leaves == simulations:  # those before are avoided: as many actions as there are
        wide = np.minimum(game.legal(state).sum(axis=1), simulations)
        assert evaluator or ((tries > 0).sum(axis=1) == wide).all()


def finished() -> Position:
    return parse_position(make("othello"), "8/8/8/8/8/8/8/bbb5 black 40")


def test_rows_are_alone_and_seeds_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    game, state = make("othello"), sample_of("othello", 20)

    def find(rows: Any, seeds: Any, **others: Any) -> IntArray:
        found = search_trees(game, take(state, rows), seeds, simulations=30, c=1.0, **others)
        return found[0]

    every, seeds = slice(None), seeds_of(state)
    for others in ({}, {"leaves": 3}, {"evaluator": Toy()}, {"evaluator": Toy(), "leaves": None}):
        whole = find(every, seeds, **others)
        np.testing.assert_array_equal(find(every, seeds, **others), whole)
        np.testing.assert_array_equal(find([7], seeds[[7]], **others)[0], whole[7])
        with monkeypatch.context() as small:
            small.setattr(trees, "_EDGES", 4 * 31 * trees.EDGES_PER_NODE)  # four trees at a time
            np.testing.assert_array_equal(find(every, seeds, **others), whole)
            small.setattr(trees, "_SIMULATIONS_A_CALL", 3 * 30)  # three trees a call
            np.testing.assert_array_equal(find(every, seeds, **others), whole)
        different = find(every, seeds + np.uint64(1000), **others)
        assert np.array_equal(different, whole) == ("evaluator" in others)  # that leaves no chance


@pytest.mark.parametrize("edges", [1, 3])
@pytest.mark.parametrize("leaves", [1, 4])
def test_without_room_leaves_stay_leaves(
    monkeypatch: pytest.MonkeyPatch, edges: int, leaves: int
) -> None:
    """Their games go on to be played; what there is room for does not change by more room."""
    game, state = make("othello"), sample_of("othello", 12)
    find: Callable[[], TreeResults] = lambda: search_trees(  # noqa: E731
        game, state, seeds_of(state), simulations=50, c=1.0, leaves=leaves
    )
    whole = find()
    monkeypatch.setattr(trees, "EDGES_PER_NODE", edges)
    monkeypatch.setattr(trees, "_EDGES", 1 << 12)
    for backend in BACKENDS:
        set_backend(backend)
        tries, means, *_ = find()
        assert (tries.sum(axis=1) == np.where(state.terminated, 0, 50)).all()
        assert np.abs(means).max() <= 1
        assert not np.array_equal(tries, whole[0])
        for evaluator in (None, Toy()):
            one = take(state, [3])
            alone = search_trees(
                game,
                one,
                seeds_of(one, 3),
                simulations=50,
                c=1.0,
                leaves=leaves,
                evaluator=evaluator,
            )[0]
            assert alone.sum() == 50
            assert evaluator or np.array_equal(alone[0], tries[3])


# ---- random games --------------------------------------------------------------------------------


@settings(max_examples=10)
@given(seed=st.integers(0, 2**60))
def test_random_games_are_the_same_in_loops(name: str, seed: int) -> None:
    game = make(name)
    set_backend("numpy")
    state = stack([random_position(game, seed + k, (seed + 13 * k) % 60) for k in range(6)])
    seeds = seeds_of(state, seed)
    expected = play_out(game, state, seeds)
    results = game.results(state)[np.arange(6), state.to_move]
    over = state.terminated
    assert (expected[over] == (results[over] - 50) / 50).all()
    for backend in backends(name):
        set_backend(backend)
        play = compile_for(game, loops.play_out)
        values = np.zeros(6)
        positions, size = flat(position_words(state)), position_size(game)
        play(positions, size, array_for_loops(seeds), array_for_loops(values))
        assert values.tolist() == expected.tolist()
    assert seeds.tolist() == list(range(seed, seed + 6))


def test_random_games_end_at_the_cap_and_are_fair() -> None:
    game = make("wolf_and_sheep_described")
    start = game.start()._replace(ply=199)
    state = concat([stack([start])] * 50)
    assert (play_out(game, state, seeds_of(state)) == 1).all()  # the cap pays the wolf
    capped = state._replace(ply=state.ply + 1)
    assert (play_out(game, capped, seeds_of(state)) == 1).all()
    game = make("othello")
    values = play_out(game, game.init(4000), seeds_of(game.init(4000)))
    draws = (values == 0).mean()
    assert 0.02 < draws < 0.06
    assert abs(values.mean()) < 0.1


# ---- playing -------------------------------------------------------------------------------------


WON_AT_ONCE = [
    "2w5/3w2ww/5w2/8/1w2wbwb/7b/1w2bb2/1w1b2w1 black 42",
    "4bbbw/6ww/5w1b/bb1b1w2/w1w1w3/2b5/7b/4bb2 white 31",
]


@pytest.mark.parametrize("text", WON_AT_ONCE)
def test_a_win_at_once_is_found(text: str) -> None:
    """With an evaluator as well: the rules alone judge the end of a game."""
    game = make("lines_of_action")
    set_backend("numpy")
    position = parse_position(game, text)
    wins = set()
    for action in position.legal_actions():
        after = position.step(action)
        if after.terminated and after.result()[position.to_move] == 100:
            wins.add(action)
    assert 0 < len(wins) < 5
    simulations = 8 * len(position.legal_actions())
    for agent in (
        MCTSAgent(simulations, leaves=20),
        MCTSAgent(simulations, leaves=20, evaluator=Toy()),
        MCTSAgent(simulations),
    ):
        (action,) = agent.act(game, stack([position]), np.random.default_rng(0)).tolist()
        assert action in wins


class Likes:
    """Likes one action, and thinks a side worse off that faces a disc on a square."""

    def __init__(self, action: int | None = None, square: int | None = None, sign: int = 1) -> None:
        self._action, self._square, self._sign = action, square, sign

    def evaluate(self, game: Game, state: State) -> tuple[FloatArray, FloatArray]:
        chances = game.legal(state).astype(float)
        if self._action is not None:
            chances[:, self._action] *= 1000
        chances /= np.maximum(chances.sum(axis=1, keepdims=True), 1)
        values = np.zeros(len(state.ply))
        if self._square is not None:
            faced = (state.opp >> np.uint64(self._square)) & np.uint64(1)
            own = (state.own >> np.uint64(self._square)) & np.uint64(1)
            values = self._sign * 0.9 * (own.astype(float) - faced.astype(float))
        return chances, values


def test_priors_and_values_steer() -> None:
    game = make("othello")
    state, seeds = game.init(1), np.zeros(1, np.uint64)
    first = game.start().legal_actions()

    def tries(evaluator: Likes, simulations: int = 80) -> IntArray:
        found = search_trees(
            game, state, seeds, simulations=simulations, c=1.5, evaluator=evaluator
        )
        counts: IntArray = found[0][0]
        return counts

    assert len(set(tries(Likes())[first].tolist())) == 1  # nothing to prefer
    for action in first:
        assert tries(Likes(action))[action] > 70
        assert tries(Likes(square=action))[action] > 40  # good for the side that is there
        assert tries(Likes(square=action, sign=-1))[action] < 20
    # Moves that let the opponent have f3 are avoided.
    square = game.parse_action("f3")
    answered = {a for a in first if game.start().step(a).is_legal(square)}
    assert 0 < len(answered) < 4
    found = tries(Likes(square=square), 400)
    assert max(found[a] for a in answered) < min(found[a] for a in first if a not in answered)


def test_more_exploring_spreads_the_tries() -> None:
    game, state = make("othello"), sample_of("othello", 6)
    state = take(state, ~state.terminated)
    widest = [
        search_trees(game, state, seeds_of(state), simulations=150, c=c)[0].max(axis=1).mean()
        for c in (0.1, 1.0, 10.0)
    ]
    assert widest[0] > widest[1] > widest[2]


def test_only_a_choice_is_searched() -> None:
    """Over, forced or neither: the right action, whatever stands beside it."""
    game = make("othello")
    forced = parse_position(game, "8/8/8/8/8/8/8/brr5 black 4")
    state = stack([finished(), forced, game.start()])
    agent = MCTSAgent(20, evaluator=Counting())
    actions = agent.act(game, state, np.random.default_rng(0))
    assert actions[:2].tolist() == [game.noop, 3]
    assert game.start().is_legal(int(actions[2]))
    assert isinstance(agent.evaluator, Counting)
    assert agent.evaluator.seen == 21  # the root once, and each rollout
    only = take(state, [0, 1])
    assert agent.act(game, only, np.random.default_rng(0)).tolist() == [game.noop, 3]
    assert len(agent.act(game, take(state, []), np.random.default_rng(0))) == 0


class Counting(Likes):
    seen = 0

    def evaluate(self, game: Game, state: State) -> tuple[FloatArray, FloatArray]:
        self.seen += len(state.ply)
        return super().evaluate(game, state)
