"""The shield against its rule, said once more for one board and one move at a time."""

from __future__ import annotations

import numpy as np
import pytest
from negamax import is_over, wins_within
from test_policy import random_policy

from boardenvs import games
from boardenvs.agents.analyse import analyse
from boardenvs.agents.policy import PolicyAgent
from boardenvs.agents.shield import Shield
from boardenvs.agents.simple import RandomAgent
from boardenvs.game.game import Game
from boardenvs.game.openings import random_openings
from boardenvs.game.position import Position, stack
from boardenvs.game.rules import MAX_VALUE
from boardenvs.game.state import Array, IntArray, State, take

# Openings so late that games are decided soon after, and caps that end games within sight.
CASES = [
    ("othello", (56, 58)),
    ("wolf_and_sheep", (16, 30)),
    ("wolf_and_sheep:max_plies=24", (20, 23)),
    ("wolf_and_sheep:rules=described", (20, 60)),
    ("nine_mens_morris", (80, 200)),  # who has closed a mill moves again, and may win by that
    ("lines_of_action", None),
    ("lines_of_action:rules=described", None),
]


def positions(game: Game, plies: tuple[int, int] | None) -> State:
    """Positions of which many have a win or a loss in one."""
    rng = np.random.default_rng(0)
    if plies is not None:
        return random_openings(game, 100 if "mens" in game.id else 200, plies, rng)
    found: list[Position] = []
    while len(found) < 50:  # three pieces a side, anywhere: one move connects them, or captures
        squares = [1 << int(s) for s in rng.choice(64, 6, replace=False)]
        position = game.position((sum(squares[:3]), sum(squares[3:])), ply=int(rng.integers(50)))
        found += [] if position.terminated else [position]
    return stack(found)


def allowed_by_rule(game: Game, position: Position) -> list[int]:
    wins, safe = [], []
    legal = position.legal_actions()
    for action in legal:
        after = position.step(action)
        result = after.result()[position.to_move]
        if not is_over(game, after):
            replies = after.to_move != position.to_move
            result = 0 if replies and wins_within(game, after, 1) else 50
        wins += [action] if result == 100 else []
        safe += [action] if result else []
    return wins or safe or legal


def wins_by_two(game: Game, position: Position) -> bool:
    """Whether the side to move wins by two moves in a row."""
    return any(
        after.to_move == position.to_move and wins_within(game, after, 1)
        for after in map(position.step, position.legal_actions())
    )


@pytest.mark.parametrize(("spec", "plies"), CASES)
def test_it_wins_in_one_and_avoids_a_loss_in_one(spec: str, plies: tuple[int, int] | None) -> None:
    game = games.parse(spec)
    state = positions(game, plies)
    allowed = [allowed_by_rule(game, p) for p in game.positions(state)]
    matters = np.array([len(some) for some in allowed]) < game.legal(state).sum(axis=1)
    matters |= [wins_by_two(game, position) for position in game.positions(state)]
    assert sum(matters) >= 8, "the positions say nothing"
    policy = PolicyAgent(random_policy(game))
    for row in np.flatnonzero(matters)[:5]:  # and says so
        found = analyse(game.positions(state)[row], Shield(policy))
        values = {move.outcome: move.value for move in found.moves if move.outcome}
        assert values.items() <= {"win": 1.0, "draw": 0.0, "loss": -1.0}.items()
        proven = {
            m.action for m in found.moves if m.outcome == ("win" if "win" in values else None)
        }
        assert found.outcome == "loss" or proven == set(allowed[row])
    chances, _ = policy.evaluate(game, state)
    row = int(np.argmax(matters))  # whoever cannot rank plays any of those allowed
    many = Shield(RandomAgent()).act(game, take(state, [row] * 300), np.random.default_rng(0))
    assert set(many.tolist()) == set(allowed[row])
    for agent in (RandomAgent(), policy):
        unshielded = agent.act(game, state, np.random.default_rng(5))
        chosen = Shield(agent).act(game, state, np.random.default_rng(5))
        for row, actions in enumerate(allowed):
            assert chosen[row] in actions
            if unshielded[row] in actions:
                assert chosen[row] == unshielded[row], "a good move is kept"
            elif agent is policy:
                assert chances[row, chosen[row]] == chances[row, actions].max()


def after(*actions: int) -> Position:
    """The position of Connect Four after these moves."""
    position = games.make("connect_four").start()
    for action in actions:
        position = position.step(action)
    return position


class Certain:
    """Calls every position lost for its side to move."""

    def act(self, game: Game, state: State, rng: np.random.Generator) -> IntArray:
        return game.sample(state, rng)

    def evaluate(self, game: Game, state: State) -> tuple[Array, Array]:
        rows = len(state.ply)
        even = np.full((rows, game.num_actions), 1 / game.num_actions, np.float32)
        return even, np.full(rows, -1, np.float32)


def test_a_proven_win_is_before_what_a_network_is_sure_of() -> None:
    """Of red's moves one wins, one stops yellow, and all others lose."""
    found = analyse(position := after(0, 1, 0, 1, 0, 1), Shield(Certain()))
    assert (found.outcome, found.plies) == ("win", 1)
    (best, *_) = analyse(position, "greedy").moves  # which knows as much
    assert (best.action, best.value, best.outcome) == (0, MAX_VALUE, "win")
    moves = found.moves
    assert [(move.action, move.value, move.outcome) for move in moves[:2]] == [
        (0, 1.0, "win"),
        (1, 1.0, None),
    ]
    assert {move.outcome for move in moves[2:]} == {"loss"}


class Last:
    """Plays the last file, and values nothing."""

    def act(self, game: Game, state: State, rng: np.random.Generator) -> IntArray:
        return np.full(len(state.ply), 6)


def test_the_analysis_of_a_player_that_values_nothing_has_the_move_that_is_played() -> None:
    """Red has to stop three in a file: that is no loss yet, and all else is one."""
    position = after(0, 1, 2, 1, 4, 1)
    found = analyse(position, Shield(Last()))
    assert Shield(Last()).act(position.game, stack([position])).tolist() == [1]
    assert (found.choice, found.moves[0].action, found.outcome) == (1, 1, None)
    assert [move.outcome for move in found.moves[1:]] == ["loss"] * 6
    assert analyse(after(0, 1, 0, 1, 0, 2), Shield(Last())).choice == 0, "which wins"
