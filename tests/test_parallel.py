"""The environment of joint moves: both act, and the one not in control says noop."""

import random

import numpy as np
import pytest
from pettingzoo.test import parallel_api_test, parallel_seed_test
from variants import public_module

import boardenvs
from boardenvs import IllegalActionError, ResetNeededError, games

pytestmark = pytest.mark.filterwarnings(
    "ignore::UserWarning:pettingzoo", "ignore:unknown reset option"
)
VARIANTS = [
    *((game_id, {}) for game_id in games.GAMES),
    ("wolf_and_sheep", {"rules": "described"}),
    ("lines_of_action", {"rules": "described"}),
]


@pytest.mark.parametrize(("game_id", "rules"), VARIANTS)
def test_pettingzoo_accepts_it(game_id, rules, capsys):
    make = public_module(game_id).parallel_env
    parallel_api_test(make(**rules), num_cycles=300)
    parallel_seed_test(lambda: make(**rules), 300)


@pytest.mark.parametrize(("game_id", "rules"), VARIANTS)
def test_same_game_as_turn_by_turn(game_id, rules):
    parallel, turns = (getattr(public_module(game_id), m)(**rules) for m in ("parallel_env", "env"))
    rng = random.Random(6)
    seen, _ = parallel.reset()
    turns.reset()
    while parallel.agents:
        mover = turns.agent_selection
        (other,) = set(turns.agents) - {mover}
        np.testing.assert_array_equal(
            seen[mover]["action_mask"], turns.observe(mover)["action_mask"]
        )
        assert np.flatnonzero(seen[other]["action_mask"]).tolist() == [parallel.game.noop]
        for agent in parallel.agents:
            np.testing.assert_array_equal(
                seen[agent]["observation"], turns.observe(agent)["observation"]
            )
        np.testing.assert_array_equal(parallel.state(), turns.state())
        action = rng.choice(turns.position.legal_actions())
        turns.step(action)
        seen, rewards, terminations, truncations, infos = parallel.step(
            {mover: action, other: parallel.game.noop}
        )
        assert rewards == turns.rewards
        assert terminations == turns.terminations
        assert truncations == turns.truncations
        assert infos == {mover: {}, other: {}}
    assert not any(view["action_mask"].any() for view in seen.values())
    with pytest.raises(ResetNeededError, match="reset"):
        parallel.step({})


def test_both_can_offend():
    env = boardenvs.othello_v0.parallel_env()
    for actions, rewards in (
        ({"black": 0, "red": 64}, {"black": -1, "red": 100}),
        ({"black": 20, "red": 3}, {"black": 100, "red": -1}),
        ({"black": 64, "red": 3}, {"black": -1, "red": -1}),
    ):
        env.reset()
        _, got, terminations, truncations, infos = env.step(actions)
        assert got == rewards
        assert all(terminations.values())
        assert not any(truncations.values())
        assert env.agents == []
        assert {a for a, info in infos.items() if info} == {a for a, r in rewards.items() if r < 0}


def test_wrong_actions_are_named():
    env = boardenvs.othello_v0.parallel_env()
    with pytest.raises(ResetNeededError, match="reset"):
        env.step({"black": 20, "red": 64})
    env.reset()
    with pytest.raises(ValueError, match="no action for red"):
        env.step({"black": 20})
    with pytest.raises(ValueError, match=r"unknown agent 'blakc'\. Did you mean 'black'"):
        env.step({"blakc": 20, "red": 64})
    with pytest.raises(IllegalActionError, match="out of range"):
        env.step({"black": 20, "red": 65})
    with pytest.raises(TypeError, match="int from 0 to 64"):
        env.step({"black": "d3", "red": 64})
    assert env.position.ply == 0
