"""Players that search: made from text, and playing what search finds."""

from __future__ import annotations

import numpy as np
import pytest
from negamax import leads
from variants import make, random_position

from boardenvs.agents import make_agent
from boardenvs.agents.alphabeta import AlphaBetaAgent
from boardenvs.agents.mcts import MCTSAgent
from boardenvs.game.openings import random_openings
from boardenvs.game.position import stack

OTHELLO = make("othello")


def test_texts() -> None:
    assert make_agent("alphabeta:6") == AlphaBetaAgent(depth=6)
    assert make_agent("alphabeta:depth=2,endgame=8") == AlphaBetaAgent(depth=2, endgame=8)
    assert make_agent("alphabeta:nodes=1000,time=0.5") == AlphaBetaAgent(nodes=1000, time=0.5)
    assert make_agent("alphabeta:depth=none,nodes=10") == AlphaBetaAgent(nodes=10)
    assert make_agent("mcts:simulations=50,c=0.7,time=9") == MCTSAgent(50, 0.7, time=9)
    assert make_agent("mcts:rollouts=50,leaves=4") == MCTSAgent(50, leaves=4)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("alphabeta:depth=deep", "depth is 'deep': it must be a whole number or none"),
        ("alphabeta:time=0", "time is 0.0: it must be more than 0 seconds"),
        ("mcts:rollouts=0", "simulations is 0: it must be 1 or more"),
        ("mcts:leaves=0", "leaves is 0: it must be 1 or more"),
        ("mcts:c=-1", "c is -1.0: it must be 0 or more"),
        ("mcts:c=nan", "c is nan: it must be 0 or more"),
    ],
)
def test_wrong_texts_are_explained(spec: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_agent(spec)


def test_alphabeta_plays_ends_of_othello_to_the_last_disc() -> None:
    """With a budget from 12 empty squares on, with a depth alone where it is told to."""
    positions = [random_position(OTHELLO, seed, 55) for seed in range(12)]
    live = [position for position in positions if not position.terminated]
    state = stack(live)
    exact = [leads(OTHELLO, position) for position in live]

    def best(spec: str) -> list[bool]:
        actions = make_agent(spec).act(OTHELLO, state, np.random.default_rng(0)).tolist()
        return [of[a] == max(of.values()) for of, a in zip(exact, actions, strict=True)]

    for spec in ("alphabeta:nodes=20000", "alphabeta:time=5", "alphabeta:depth=1,endgame=8"):
        assert all(best(spec))
    assert not all(best("alphabeta:depth=1"))  # by one ply of weights it is not seen


@pytest.mark.parametrize(
    ("game_id", "told"), [("othello", "probcut=1.5"), ("lines_of_action", "reductions=true")]
)
def test_with_a_budget_less_is_searched_of_what_seems_bad(game_id: str, told: str) -> None:
    """By a learnt evaluation, where it is not told otherwise; with a depth alone all of it is."""
    game = make(game_id)
    state = random_openings(game, 100, (20, 30), np.random.default_rng(0))

    def moves(limit: str, more: str) -> list[int]:
        agent = make_agent(f"alphabeta:{limit},evaluation=trained{more}")
        found: list[int] = agent.act(game, state, np.random.default_rng(0)).tolist()
        return found

    for limit, usual in (("nodes=3000", f",{told}"), ("depth=6", ",probcut=0,reductions=false")):
        other = {f",{told}", ",probcut=0,reductions=false"} - {usual}
        assert moves(limit, "") == moves(limit, usual)
        assert moves(limit, "") != moves(limit, other.pop())


@pytest.mark.parametrize("spec", ["alphabeta:depth=3", "alphabeta:nodes=500", "mcts:rollouts=30"])
def test_chance_decides_between_equal_moves(spec: str) -> None:
    """The four first moves of Othello are one, turned and mirrored."""
    played = make_agent(spec).act(OTHELLO, OTHELLO.init(40), np.random.default_rng(1))
    assert len(np.unique(played)) == 4
