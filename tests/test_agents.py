"""Agents: legal on every board, greedy where it counts, and made from text."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
from variants import is_compiled

from boardenvs.agents import AGENTS, GreedyAgent, RandomAgent, check_game, make_agent
from boardenvs.game.contract import stack
from boardenvs.game.fen import parse_position
from boardenvs.game.openings import random_openings
from boardenvs.game.state import IntArray, State, concat
from boardenvs.games import GAMES, Game, make
from boardenvs.kernel import set_backend

# Those that their name alone describes.
NAMES = [
    name
    for name, factory in AGENTS.items()
    if all(p.default is not p.empty for p in inspect.signature(factory).parameters.values())
]


# Players that search each board alone, and how they do without machine code of ours.
QUICK = {
    "alphabeta": "alphabeta:depth=1",
    "mcts": "mcts:rollouts=3",
    "rust_reversi": "rust_reversi:depth=1",
}


@pytest.fixture
def backend(game_id: str, name: str) -> Iterator[None]:
    """Python where no machine code is to be made."""
    set_backend(None if is_compiled(name, game_id) else "numpy")
    yield
    set_backend(None)


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("game_id", GAMES)
@pytest.mark.parametrize("name", NAMES)
def test_actions_are_legal_and_noop_where_the_game_is_over(game_id: str, name: str) -> None:
    game, rng = make(game_id), np.random.default_rng(0)
    agent = make_agent(name if is_compiled(name, game_id) else QUICK[name])
    # Of many lengths, so that games of players that do not vary end at different times.
    rows = 25 if name in QUICK else 100
    state = random_openings(game, rows, (0, 20), rng)
    try:
        check_game(agent, game)
    except ValueError as reason:
        pytest.skip(str(reason))
    for _ in range(60):
        actions = agent.act(game, state, rng)
        assert actions.dtype == np.int64
        assert game.is_legal(state, actions)[~state.terminated].all()
        assert (actions[state.terminated] == game.noop).all()
        state = game.step(state, actions)
    assert state.terminated.any()


def best_by_loop(game: Game, state: State, row: int) -> set[int]:
    """Greedy's rule, said once more, one board and one move at a time."""
    one = State(*(x[row : row + 1] for x in state))
    value = {}
    for action in np.flatnonzero(game.legal(one)[0]):
        after = game.step(one, np.array([action]))
        lead = -int(game.score_margin(after)[0])
        value[int(action)] = (
            1000 * np.sign(lead) if after.terminated[0] and lead else lead  # a win or a loss
        )
    return {a for a, v in value.items() if v == max(value.values())}


@pytest.mark.parametrize("game_id", GAMES)
def test_greedy_plays_what_its_rule_says(game_id: str) -> None:
    game, rng = make(game_id), np.random.default_rng(1)
    state = random_openings(game, 60, (0, 45 if game_id != "wolf_and_sheep" else 20), rng)
    choices = [GreedyAgent().act(game, state, rng) for _ in range(12)]
    for row in range(60):
        best = best_by_loop(game, state, row)
        assert {int(c[row]) for c in choices} <= best


def test_greedy_draws_from_equal_moves() -> None:
    game, rng = make("othello"), np.random.default_rng(0)
    # All four first moves flip one disc.
    counts = np.bincount(GreedyAgent().act(game, game.init(4000), rng), minlength=65)
    assert np.count_nonzero(counts) == 4
    assert counts[counts > 0].min() > 850


def test_greedy_takes_a_win_at_once() -> None:
    # The wolf's lead is the same after each of its four moves; c3 and e3 pass the last sheep.
    game = make("wolf_and_sheep")
    position = parse_position(game, "8/8/5s1s/6s1/3w4/s7/8/8 wolf 20")
    state = concat([stack([position])] * 200)
    actions = GreedyAgent().act(game, state, np.random.default_rng(0))
    assert len(position.legal_actions()) == 4
    names = {game.action_name(a, position) for a in actions.tolist()}
    assert names == {"d4-c3", "d4-e3"}


def test_agents_draw_only_from_the_given_generator() -> None:
    game = make("lines_of_action")
    for agent in (RandomAgent(), GreedyAgent()):
        first, second = (
            agent.act(game, game.init(200), np.random.default_rng(4)) for _ in range(2)
        )
        assert np.array_equal(first, second)


@dataclass(frozen=True)
class Tuned:
    """An agent with one parameter of every kind."""

    depth: int = 2
    weight: float = 1.0
    book: bool = False
    file: str = ""

    def act(self, game: Game, state: State, rng: np.random.Generator) -> IntArray:
        return game.sample(state, rng)


@pytest.fixture
def tuned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(AGENTS, "tuned", Tuned)


def test_parameters_are_read_by_their_types(tuned: None) -> None:
    assert make_agent("tuned") == Tuned()
    assert make_agent("tuned:depth=4,weight=1e-2,book=true,file=a=b") == Tuned(4, 0.01, True, "a=b")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("greddy", "Did you mean 'greedy'"),
        ("", "unknown agent ''"),
        ("tuned:", "without a parameter"),
        ("tuned:dept=4", "Did you mean 'depth'"),
        ("tuned:depth=four", "depth is 'four': it must be a whole number"),
        ("tuned:weight=x", "weight is 'x': it must be a number"),
        ("tuned:book=1", "book is '1': it must be true or false"),
        ("tuned:weight=1,depth", "write it as key=value"),
        ("tuned:four", "depth is .four.: it must be a whole number"),
        ("tuned:depth=1,depth=2", "given twice"),
        ("greedy:depth=4", "Known: none."),
    ],
)
def test_wrong_texts_are_explained(tuned: None, spec: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_agent(spec)


def test_rows_do_not_influence_one_another() -> None:
    game = make("othello")
    over = parse_position(game, "8/8/8/8/8/8/8/bbb5 black 40")
    state = concat([stack([over]), game.init(3), stack([over])])
    actions = GreedyAgent().act(game, state, np.random.default_rng(0))
    assert actions[[0, 4]].tolist() == [64, 64]
    assert game.is_legal(state, actions)[1:4].all()
