"""Players that search: made from text, and playing what search finds."""

from __future__ import annotations

import numpy as np
import pytest
from negamax import lead_with_best_play
from variants import make, random_position

from boardenvs.agents import make_agent
from boardenvs.agents.alphabeta import AlphaBetaAgent
from boardenvs.agents.mcts import MCTSAgent
from boardenvs.agents.positional import PositionalAgent
from boardenvs.game.contract import Game, Position, stack


def test_texts() -> None:
    assert make_agent("alphabeta") == AlphaBetaAgent()
    assert make_agent("alphabeta:6") == AlphaBetaAgent(depth=6)
    assert make_agent("alphabeta:depth=2,endgame=8") == AlphaBetaAgent(depth=2, endgame=8)
    assert make_agent("alphabeta:nodes=1000,time=0.5") == AlphaBetaAgent(nodes=1000, time=0.5)
    assert make_agent("alphabeta:depth=none,nodes=10") == AlphaBetaAgent(nodes=10)
    assert make_agent("mcts:simulations=50,c=0.7") == MCTSAgent(50, 0.7)
    assert make_agent("mcts:rollouts=50,leaves=4") == MCTSAgent(50, leaves=4)
    assert make_agent("positional") == PositionalAgent()


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("alphabeta:depth=deep", "depth is 'deep': it must be a whole number or none"),
        ("alphabeta:time=0", "time is 0.0: it must be more than 0 seconds"),
        ("alphabeta:dept=3", "Did you mean 'depth'"),
        ("alphabet:depth=3", "Did you mean 'alphabeta'"),
        ("mcts:rollouts=0", "simulations is 0: it must be 1 or more"),
        ("mcts:leaves=0", "leaves is 0: it must be 1 or more"),
        ("mcts:c=-1", "c is -1.0: it must be 0 or more"),
        ("mcts:c=nan", "c is nan: it must be 0 or more"),
        ("mcts:rolouts=3", "Did you mean 'rollouts'"),
    ],
)
def test_wrong_texts_are_explained(spec: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_agent(spec)


def act(agent: object, game: Game, positions: list[Position], seed: int = 0) -> list[int]:
    rng = np.random.default_rng(seed)
    actions: list[int] = agent.act(game, stack(positions), rng).tolist()  # type: ignore[attr-defined]
    return actions


def live_positions(name: str, plies: list[int]) -> list[Position]:
    found = [random_position(make(name), seed, count) for seed, count in enumerate(plies)]
    return [position for position in found if not position.terminated]


def test_alphabeta_plays_ends_of_othello_to_the_last_disc() -> None:
    """With a budget from 12 empty squares on, with a depth alone where it is told to."""
    game, found = make("othello"), 0
    for position in live_positions("othello", [55] * 12):
        best = lead_with_best_play(game, position)
        keeps = {
            a
            for a in position.legal_actions()
            if -lead_with_best_play(game, position.step(a)) == best
        }
        for spec in ("alphabeta:nodes=20000", "alphabeta:time=5", "alphabeta:depth=1,endgame=8"):
            assert act(make_agent(spec), game, [position])[0] in keeps
        found += act(make_agent("alphabeta:depth=1"), game, [position])[0] not in keeps
    assert found > 0  # by one ply of weights it would not have been seen


@pytest.mark.parametrize("spec", ["alphabeta:depth=3", "alphabeta:nodes=500", "mcts:rollouts=30"])
def test_the_generator_is_all_chance(spec: str) -> None:
    game = make("othello")
    positions = live_positions("othello", [0] * 8 + [9, 20])
    played = [act(make_agent(spec), game, positions, seed) for seed in (1, 1, 2)]
    assert played[0] == played[1]
    assert played[0] != played[2]
    assert len(set(played[0][:8])) > 1  # eight games at the start need not begin alike
