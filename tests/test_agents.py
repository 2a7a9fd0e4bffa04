"""Agents: legal on every board, greedy where it counts, and made from text."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
import pytest
from variants import KINDS

from boardenvs.agents import AGENTS, History, check_game, make_agent
from boardenvs.agents.alphabeta import AlphaBetaAgent, _plan
from boardenvs.agents.mcts import MCTSAgent, _preference
from boardenvs.agents.spec import factory_of
from boardenvs.game.openings import random_openings
from boardenvs.game.position import stack
from boardenvs.game.state import IntArray, State
from boardenvs.games import Game, make
from boardenvs.search import Limits, TreeResults


def plays(name: str, game_id: str) -> bool:
    """Whether the name alone describes a player of this game."""
    parameters = signature(factory_of(name)).parameters.values()
    if any(p.default is p.empty for p in parameters):
        return False
    try:
        check_game(make_agent(name), make(game_id))
    except ValueError:
        return False
    return True


# Players that search each board alone, and how they do it quickly.
QUICK = {
    "alphabeta": "alphabeta:depth=1",
    "mcts": "mcts:rollouts=2",
}


@pytest.mark.parametrize(
    ("name", "game_id"), [(name, game) for name in AGENTS for game in KINDS if plays(name, game)]
)
def test_actions_are_legal_and_noop_where_the_game_is_over(name: str, game_id: str) -> None:
    game, rng = make(game_id), np.random.default_rng(0)
    agent = make_agent(QUICK.get(name, name))
    # Of many lengths, so that games of players that do not vary end at different times.
    rows = 4 if name in QUICK else 20
    state = random_openings(game, rows, (0, 20), rng)
    ended = False
    while not ended:  # and once more, when some have only noop
        ended = bool(state.terminated.any())
        actions = agent.act(game, state, rng)
        assert actions.dtype == np.int64
        assert game.is_legal(state, actions)[~state.terminated].all()
        assert (actions[state.terminated] == game.noop).all()
        state = game.step(state, actions)


@pytest.mark.parametrize("game_id", KINDS)
@pytest.mark.parametrize("name", ["greedy", "positional"])
def test_players_of_one_ply_play_what_their_rule_says(name: str, game_id: str) -> None:
    """The most points or the best heuristic after the move, said once more, one board at a time;
    the end of a game is a win or a loss.
    """
    game, rng, agent = make(game_id), np.random.default_rng(1), make_agent(name)
    value = game.score_margin if name == "greedy" else game.values
    state = random_openings(game, 60, (0, 45), rng)
    choices = [agent.act(game, state, rng) for _ in range(6)]
    for row, position in enumerate(game.positions(state)):
        actions = position.legal_actions()
        after = stack([position.step(action) for action in actions])
        lead = -game.score_margin(after).astype(np.int64)
        worth = np.where(game.is_over(after), 10**9 * np.sign(lead), -value(after))
        best = {action for action, w in zip(actions, worth, strict=True) if w == worth.max()}
        assert {int(chosen[row]) for chosen in choices} <= best


@pytest.mark.parametrize(
    "spec", ["alphabeta:depth=3", "alphabeta:nodes=500", "mcts:rollouts=8", "greedy", "positional"]
)
def test_chance_decides_between_equal_moves(spec: str) -> None:
    """The four first moves of Othello are one, turned and mirrored."""
    played = make_agent(spec).act(
        make("othello"), make("othello").init(40), np.random.default_rng(1)
    )
    assert len(np.unique(played)) == 4


@pytest.mark.parametrize(
    ("text", "game_id", "limits"),
    [
        ("", "othello", {"depth": 4}),
        (":depth=2,evaluation=trained", "othello", {"depth": 2}),
        (":nodes=9", "othello", {"nodes": 9, "endgame": 12}),
        (":time=2,depth=7,endgame=3", "othello", {"time": 2.0, "depth": 7, "endgame": 3}),
        (":nodes=9,evaluation=trained", "othello", {"nodes": 9, "endgame": 12, "probcut": 1.2}),
        (
            ":time=2,evaluation=trained",
            "lines_of_action",
            {"time": 2.0, "endgame": 12, "reductions": True},
        ),
        (
            ":nodes=9,evaluation=trained,probcut=2,reductions=true,endgame=0",
            "othello",
            {"nodes": 9, "probcut": 2.0, "reductions": True},
        ),
    ],
)
def test_limits_that_are_not_given_are_as_the_guide_says(
    text: str, game_id: str, limits: dict[str, Any]
) -> None:
    agent = make_agent(f"alphabeta{text}")
    assert isinstance(agent, AlphaBetaAgent)
    assert _plan(agent, make(game_id))[1] == Limits(**limits)


@pytest.mark.parametrize(
    ("text", "game_id", "kept"),
    [
        ("alphabeta:nodes=50", "othello", True),
        ("alphabeta:nodes=50", "lines_of_action", False),  # values would be of another root
        ("alphabeta:depth=1", "othello", False),  # whose tables would have no end
    ],
)
def test_what_searches_keep_of_a_game(text: str, game_id: str, kept: bool) -> None:
    game, memory, agent = make(game_id), dict[str, Any](), make_agent(text)
    assert isinstance(agent, AlphaBetaAgent)
    history = History(np.full((1, 1), -1, np.int32), [memory])
    agent.act(game, game.init(1), np.random.default_rng(0), history)
    assert ("table" in memory) == kept


@pytest.mark.parametrize(
    ("visits", "values", "lower", "upper", "best"),
    [
        ([9, 5, 0], [-0.9, 0.9, 0.0], [-1, -1, -1], [1, 1, 1], 0),
        ([9, 1, 0], [0.9, 1.0, 0.0], [-1, 1, -1], [1, 1, 1], 1),  # a proven win
        ([9, 1, 0], [-1.0, -0.8, 0.0], [-1, -1, -1], [-1, 1, 1], 1),  # a proven loss
        ([9, 8, 0], [-1.0, -1.0, 0.0], [-1, -1, -1], [-1, 1, 1], 1),
        ([9, 1, 3], [-0.1, 0.0, 0.4], [-1, 0, -1], [1, 0, 1], 1),  # a draw, as the others are worse
        ([9, 1, 3], [0.1, 0.0, -0.9], [-1, 0, -1], [1, 0, 1], 0),
        ([9, 1, 3], [0.1, 0.0, -0.9], [-1, 0, -1], [0, 0, 1], 1),  # what can be no better does not
        ([9, 1, 3], [-1.0, -1.0, -1.0], [-1, -1, -1], [-1, -1, -1], 0),
    ],
)
def test_trees_play_what_they_prove(
    visits: list[int], values: list[float], lower: list[int], upper: list[int], best: int
) -> None:
    columns = [np.array([x]) for x in (visits, values, lower, upper)]
    scores = columns[0] + (columns[1] + 1) / 4
    results = TreeResults._make((*columns, scores))
    assert _preference(results).argmax(axis=1).tolist() == [best]


def test_without_limits_trees_have_200_simulations() -> None:
    found = MCTSAgent().analyse(make("othello").start(), np.random.default_rng(0))
    assert found.nodes == 200
    agents = MCTSAgent(40), MCTSAgent(40, time=9), MCTSAgent(time=9)
    assert [agent._most() for agent in agents] == [40, 40, 1 << 22]
    halved = [agent._settings().halved for agent in agents]
    assert halved == [40, 0, 0]  # as it is not known when a time ends


@pytest.mark.parametrize("simulations", [3, 30])
def test_no_move_of_a_tree_is_worth_more_than_its_choice(simulations: int) -> None:
    """And what was not tried has no value."""
    game, agent = make("othello"), MCTSAgent(simulations)
    state = random_openings(game, 7, (8, 40), np.random.default_rng(0))
    for position in game.positions(state):
        moves = agent.analyse(position, np.random.default_rng(0)).moves
        values = [move.value for move in moves if move.value is not None]
        assert values == sorted(values, reverse=True)
        assert [move.value is None for move in moves] == [not move.visits for move in moves]


@pytest.mark.parametrize("text", ["positional", "alphabeta:depth=2"])
def test_players_by_a_heuristic_refuse_a_game_without_one(text: str) -> None:
    with pytest.raises(ValueError, match=r"cannot play: hex has no heuristic: write Hex\.evaluate"):
        check_game(make_agent(text), make("hex"))


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
    monkeypatch.setitem(AGENTS, "tuned", f"{__name__}:Tuned")


def test_parameters_are_read_by_their_types(tuned: None) -> None:
    assert make_agent("alphabeta:depth=none,nodes=10") == AlphaBetaAgent(nodes=10)
    assert make_agent("mcts:rollouts=50,c=0.7") == MCTSAgent(50, 0.7)
    assert make_agent("tuned") == Tuned()
    assert make_agent("tuned:depth=4,weight=1e-2,book=true,file=a=b") == Tuned(4, 0.01, True, "a=b")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("alphabeta:depth=deep", "depth is 'deep': it must be a whole number or none"),
        ("mcts:c=none", "c is 'none': it must be a number"),
        ("alphabeta:time=0", "time is 0.0: it must be more than 0 seconds"),
        ("mcts:rollouts=0", "simulations is 0: it must be 1 to"),
        ("greddy", "Did you mean 'greedy'"),
        ("runs/demo/policy.npz", "is a file: its player is 'policy:runs/demo/policy.npz'"),
        ("model.zip", "is a file: its player is 'policy:model.zip'"),
        ("a.npz,shield=true", "its player is 'policy:a.npz,shield=true'"),
        ("alphabeta,depth=4", "no colon before its parameters: write alphabeta:depth=4"),
        ("tuned:", "without a parameter"),
        ("tuned:dept=4", "Did you mean 'depth'"),
        ("tuned:depth=four", "depth is 'four': it must be a whole number"),
        ("tuned:book=1", "book is '1': it must be true or false"),
        ("tuned:weight=1,depth", "write it as key=value, where no value has a comma"),
        ("tuned:depth=1,depth=2", "given twice"),
        ("greedy:depth=4", "Known: none."),
    ],
)
def test_wrong_texts_are_explained(tuned: None, spec: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_agent(spec)


@pytest.mark.parametrize(
    "text",
    ["random", "greedy", "alphabeta:depth=1", "mcts:rollouts=8", "trained", "trained:sample=true",
     "python:arena_agents:lowest", "perfect"],
)  # fmt: skip
def test_agents_need_no_generator(text: str) -> None:
    game = make("wolf_and_sheep" if text == "perfect" else "othello")
    state = random_openings(game, 4, game.opening_plies, np.random.default_rng(0))
    act = make_agent(text).act
    assert game.is_legal(state, act(game, state)).all()  # type: ignore[call-arg]
    given = [act(game, state, np.random.default_rng(5)).tolist() for _ in range(2)]
    assert given[0] == given[1]
