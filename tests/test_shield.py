"""The shield against its rule, said once more for one board and one move at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from test_policy import random_policy

from boardenvs import games
from boardenvs.agents import RandomAgent, check_game, make_agent
from boardenvs.agents.policy import PolicyAgent
from boardenvs.agents.policy_file import save_policy
from boardenvs.agents.shield import Shield
from boardenvs.game.contract import Game, Position, stack
from boardenvs.game.openings import random_openings
from boardenvs.game.state import IntArray, State

# Openings so late that games are decided soon after, and caps that end games within sight.
CASES = [
    ("othello", (56, 58)),
    ("wolf_and_sheep", (16, 30)),
    ("wolf_and_sheep:max_plies=24", (20, 23)),
    ("wolf_and_sheep:rules=described", (20, 60)),
    ("lines_of_action", None),
    ("lines_of_action:rules=described", None),
]


def positions(game: Game, plies: tuple[int, int] | None) -> State:
    """Positions of which many have a win or a loss in one."""
    rng = np.random.default_rng(0)
    if plies is not None:
        return random_openings(game, 200, plies, rng)
    found: list[Position] = []
    while len(found) < 50:  # three pieces a side, anywhere: one move connects them, or captures
        squares = [1 << int(s) for s in rng.choice(64, 6, replace=False)]
        position = game.position((sum(squares[:3]), sum(squares[3:])), ply=int(rng.integers(50)))
        found += [] if position.terminated else [position]
    return stack(found)


def result(game: Game, position: Position, role: int) -> int:
    """+1, 0 or -1 to the role where the game is over, else 0."""
    if not (position.terminated or position.is_truncated()):
        return 0
    return int(position.result()[role] - 50) // 50


def loses(game: Game, after: Position, role: int) -> bool:
    if after.terminated or after.is_truncated():
        return result(game, after, role) < 0
    return any(result(game, after.step(a), role) < 0 for a in after.legal_actions())


def allowed_by_rule(game: Game, position: Position) -> list[int]:
    role = position.to_move
    after = {a: position.step(a) for a in position.legal_actions()}
    wins = [a for a in after if result(game, after[a], role) > 0]
    safe = [a for a in after if not loses(game, after[a], role)]
    return wins or safe or list(after)


@pytest.mark.usefixtures("in_python")
@pytest.mark.parametrize(("spec", "plies"), CASES)
def test_it_wins_in_one_and_avoids_a_loss_in_one(spec: str, plies: tuple[int, int] | None) -> None:
    game = games.parse(spec)
    state = positions(game, plies)
    allowed = [allowed_by_rule(game, p) for p in game.positions(state)]
    legal = [p.legal_actions() for p in game.positions(state)]
    matters = [len(some) < len(every) for some, every in zip(allowed, legal, strict=True)]
    assert sum(matters) >= 8, "the positions say nothing"
    policy = PolicyAgent(random_policy(game))
    probabilities, _ = policy.evaluate(game, state)
    for agent in (RandomAgent(), policy):
        unshielded = agent.act(game, state, np.random.default_rng(5))
        chosen = Shield(agent).act(game, state, np.random.default_rng(5))
        for row in range(len(allowed)):
            assert chosen[row] in allowed[row]
            if unshielded[row] in allowed[row]:
                assert chosen[row] == unshielded[row], "a good move is kept"
            elif agent is policy:
                assert probabilities[row, chosen[row]] == probabilities[row, allowed[row]].max()


def test_moves_of_an_agent_that_cannot_rank_are_replaced_by_any_allowed_one() -> None:
    game = games.make("wolf_and_sheep")
    state = random_openings(game, 400, (8, 20), np.random.default_rng(0))
    rows = [
        i for i, p in enumerate(game.positions(state))
        if 2 < len(allowed_by_rule(game, p)) < len(p.legal_actions())
    ]  # fmt: skip
    assert rows
    position = game.positions(state)[rows[0]]
    many = State(*(np.repeat(x[rows[0] : rows[0] + 1], 300, axis=0) for x in state))
    chosen = Shield(RandomAgent()).act(game, many, np.random.default_rng(0))
    assert set(chosen.tolist()) == set(allowed_by_rule(game, position))


@dataclass(frozen=True)
class Othellist:
    """Plays one game alone."""

    def act(self, game: Game, state: State, rng: np.random.Generator) -> IntArray:
        return game.sample(state, rng)

    def check_game(self, game: Game) -> None:
        if game.id != "othello":
            raise ValueError("Othello alone")


def test_it_plays_the_games_that_its_agent_plays() -> None:
    check_game(Shield(RandomAgent()), games.make("lines_of_action"))
    check_game(Shield(Othellist()), games.make("othello"))
    with pytest.raises(ValueError, match="Othello alone"):
        check_game(Shield(Othellist()), games.make("reversi"))


def test_finished_games_get_noop() -> None:
    game = games.make("wolf_and_sheep")
    state = game.init(20)
    rng = np.random.default_rng(0)
    for _ in range(60):
        state = game.step(state, Shield(RandomAgent()).act(game, state, rng))
    assert state.terminated.all()
    assert (Shield(RandomAgent()).act(game, state, rng) == game.noop).all()


def test_a_policy_file_is_shielded_by_its_specification(tmp_path) -> None:
    game = games.make("wolf_and_sheep")
    policy = random_policy(game)
    save_policy(policy, tmp_path / "policy.npz", stored="float32")
    state = random_openings(game, 200, (6, 20), np.random.default_rng(0))
    chosen = make_agent(f"policy:{tmp_path / 'policy.npz'},shield=true").act(
        game, state, np.random.default_rng(0)
    )
    assert np.array_equal(
        chosen, Shield(PolicyAgent(policy)).act(game, state, np.random.default_rng(0))
    )
