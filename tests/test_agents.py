"""Agents: legal on every board, greedy where it counts, and made from text."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import signature

import numpy as np
import pytest
from variants import KINDS

from boardenvs.agents import AGENTS, check_game, make_agent
from boardenvs.agents.alphabeta import AlphaBetaAgent
from boardenvs.agents.mcts import MCTSAgent
from boardenvs.agents.spec import factory_of
from boardenvs.game.openings import random_openings
from boardenvs.game.position import stack
from boardenvs.game.state import IntArray, State
from boardenvs.games import Game, make


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


@pytest.mark.parametrize("spec", ["alphabeta:depth=3", "alphabeta:nodes=500", "mcts:rollouts=30"])
def test_chance_decides_between_equal_moves(spec: str) -> None:
    """The four first moves of Othello are one, turned and mirrored."""
    played = make_agent(spec).act(
        make("othello"), make("othello").init(40), np.random.default_rng(1)
    )
    assert len(np.unique(played)) == 4


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
