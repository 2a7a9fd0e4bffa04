"""The turn-based environment of every game, against PettingZoo's own checks and the kernel."""

import copy
import pickle
import random

import numpy as np
import pettingzoo
import pytest
from gymnasium import error
from pettingzoo.test import api_test, seed_test
from variants import public_module

import boardenvs
from boardenvs import IllegalActionError, PositionError, ResetNeededError, games

pytestmark = pytest.mark.filterwarnings(
    "ignore::UserWarning:pettingzoo", "ignore:unknown reset option"
)

GAME_IDS = list(games.GAMES)
VARIANTS = [
    *((game_id, {}) for game_id in GAME_IDS),
    ("wolf_and_sheep", {"rules": "described"}),
    ("lines_of_action", {"rules": "described"}),
]
BLACK_WINS = "8/8/8/8/8/8/8/brr5 black 0"  # d1 is black's only move, and red has no disc then
AT_ONCE = {
    "othello": (BLACK_WINS, "d1", 0),
    "othello_holes": (BLACK_WINS, "d1", 0),
    "reversi": (BLACK_WINS, "d1", 0),
    # The wolf slips past the sheep.
    "wolf_and_sheep": ("8/8/8/4s3/3w4/s1s3s1/8/8 wolf 4", "d4-e3", 0),
    # A capture joins white's men and leaves black a single one: both are one group.
    "lines_of_action": ("8/8/8/2w5/1b2w1b1/8/8/8 white 7", "e4-b4", None),
}


def play(env, rng, max_plies=10**9):
    """Random play until the end or for so many plies."""
    for _ in range(max_plies):
        if env.terminations[env.agent_selection] or env.truncations[env.agent_selection]:
            return
        env.step(rng.choice(env.position.legal_actions()))


@pytest.mark.parametrize(("game_id", "rules"), VARIANTS)
@pytest.mark.parametrize("maker", ["env", "raw_env"])
def test_pettingzoo_accepts_it(game_id, rules, maker, capsys):
    make = getattr(public_module(game_id), maker)
    api_test(make(**rules), num_cycles=300)
    api_test(make(**rules, reward="zero_sum"), num_cycles=100)
    seed_test(lambda: make(**rules), 300)


@pytest.mark.skipif(not hasattr(pettingzoo, "make"), reason="this PettingZoo has no registry")
@pytest.mark.parametrize("game_id", GAME_IDS)
def test_registered_in_pettingzoo(game_id):
    env = pettingzoo.make("aec", f"boardenvs/{game_id}-v0", reward="zero_sum")
    assert str(env) == f"{game_id}_v0"
    assert env.reward == "zero_sum"
    assert env.on_illegal == "forfeit"
    parallel = pettingzoo.make("parallel", f"boardenvs/{game_id}-v0")
    assert parallel.possible_agents == env.possible_agents


@pytest.mark.parametrize(("game_id", "rules"), VARIANTS)
def test_agrees_with_the_batched_kernel(game_id, rules):
    """Observation, mask, agent and rewards along random games, to the end."""
    env = public_module(game_id).raw_env(**rules)
    game, rng = env.game, random.Random(1)
    for _ in range(3):
        env.reset()
        state = game.init(1)
        while True:
            role = int(state.to_move[0])
            assert env.agent_selection == game.roles[role]
            seen = env.observe(env.agent_selection)
            np.testing.assert_array_equal(seen["observation"], game.observe(state)[0])
            np.testing.assert_array_equal(seen["action_mask"], game.legal(state)[0])
            other = env.observe(game.roles[1 - role])
            assert not other["action_mask"].any()
            np.testing.assert_array_equal(
                other["observation"][..., :2], seen["observation"][..., 1::-1]
            )
            action = rng.choice(np.flatnonzero(seen["action_mask"]).tolist())
            assert not any(env.rewards.values())
            env.step(action)
            state = game.step(state, np.array([action]))
            if state.terminated[0] or game.is_truncated(state)[0]:
                break
        assert [env.rewards[r] for r in game.roles] == game.results(state)[0].tolist()
        for agent in game.roles:
            assert env.terminations[agent] == bool(state.terminated[0])
            assert env.truncations[agent] != env.terminations[agent]
            assert not env.observe(agent)["action_mask"].any()


@pytest.mark.parametrize("game_id", AT_ONCE)
@pytest.mark.parametrize("reward", ["goal", "zero_sum"])
def test_last_hands_out_the_rewards_of_a_known_ending(game_id, reward):
    text, action, winner = AT_ONCE[game_id]
    env = public_module(game_id).env(reward=reward)
    env.reset(options={"position": text})
    env.step(env.game.parse_action(action))
    seen = {}
    for agent in env.agent_iter():
        _, seen[agent], terminated, truncated, _ = env.last()
        assert terminated
        assert not truncated
        env.step(None)
    scale = {"goal": (100, 0, 50), "zero_sum": (1, -1, 0)}[reward]
    expected = [scale[2]] * 2 if winner is None else [scale[role != winner] for role in (0, 1)]
    assert [seen[role] for role in env.possible_agents] == expected
    assert env.agents == []


@pytest.mark.parametrize("reward", ["goal", "zero_sum"])
@pytest.mark.parametrize("game_id", GAME_IDS)
def test_illegal_action_loses_the_game(game_id, reward):
    env = public_module(game_id).env(reward=reward)
    env.reset()
    play(env, random.Random(2), 3)
    offender = env.agent_selection
    (other,) = set(env.agents) - {offender}
    before = env.position
    illegal = next(a for a in range(env.game.num_actions) if not before.is_legal(a))
    env.step(illegal)
    assert env.position == before
    assert env.rewards == {offender: -1, other: 100 if reward == "goal" else 1}
    assert env.terminations == {offender: True, other: True}
    assert env.truncations == {offender: False, other: False}
    assert env.infos[offender] == {"illegal_action": illegal}
    _, total, terminated, _, _ = env.last()
    assert terminated
    assert total == env.rewards[env.agent_selection]


def test_raw_env_names_the_illegal_action_and_goes_on():
    env = boardenvs.othello_v0.raw_env()
    env.reset()
    with pytest.raises(IllegalActionError, match=r"action 0 \(a1\).*black.*20 \(e3\), 29 \(f4\)"):
        env.step(0)
    env.step(20)
    assert env.agent_selection == "red"


@pytest.mark.parametrize("maker", ["env", "raw_env"])
def test_what_is_no_action_is_an_error_and_changes_nothing(maker):
    env = getattr(boardenvs.lines_of_action_v0, maker)()
    env.reset()
    before = env.position
    for wrong in (513, -1, np.int64(10**12)):
        with pytest.raises(IllegalActionError, match="actions are 0 to 512"):
            env.step(wrong)
    for wrong in ("b1-b3", 1.0, None, [3], np.array([3, 4])):
        with pytest.raises(TypeError, match="it must be an int from 0 to 512"):
            env.step(wrong)
    assert env.position == before
    env.step(np.int32(before.legal_actions()[0]))
    assert env.position.ply == 1


@pytest.mark.parametrize("maker", ["env", "raw_env"])
def test_order_of_calls_is_enforced(maker):
    env = getattr(boardenvs.reversi_v0, maker)(render_mode="ansi")
    for call in (
        lambda: env.step(20),
        lambda: env.observe("black"),
        lambda: env.last(),
        lambda: env.state(),
        lambda: env.render(),
        lambda: next(iter(env.agent_iter())),
        lambda: env.agents,
    ):
        with pytest.raises(ResetNeededError, match="reset"):
            call()
    assert not hasattr(env, "rewards")
    assert issubclass(ResetNeededError, error.ResetNeeded)
    env.reset(options={"position": BLACK_WINS})
    env.step(3)
    with pytest.raises(ValueError, match="None"):
        env.step(5)
    env.step(None)
    env.step(None)
    with pytest.raises(ResetNeededError, match="reset"):
        env.step(None)
    env.reset()
    with pytest.raises(AssertionError, match="step"):
        for _ in env.agent_iter():
            pass
    with pytest.raises(AttributeError, match="no attribute 'agent'"):
        _ = env.agent


def test_a_capped_game_is_truncated_with_its_goal_values():
    env = boardenvs.wolf_and_sheep_v0.env(rules="described", max_plies=2)
    env.reset()
    play(env, random.Random(0))
    assert env.position.ply == 2
    assert env.truncations == {"wolf": True, "sheep": True}
    assert env.terminations == {"wolf": False, "sheep": False}
    assert env.rewards == {"wolf": 100, "sheep": 0}


@pytest.mark.parametrize(("game_id", "rules"), VARIANTS)
@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_goes_on_alone(game_id, rules, duplicate):
    """The board travels with the copy, and the original does not move with it."""
    env = public_module(game_id).env(**rules)
    env.reset()
    play(env, random.Random(3), 5)
    twin = duplicate(env)
    assert twin.position == env.position
    before = env.position
    play(twin, random.Random(4))
    assert env.position == before
    play(env, random.Random(4))
    assert twin.position == env.position
    assert twin.rewards == env.rewards


@pytest.mark.parametrize("game_id", GAME_IDS)
def test_state_is_the_same_for_both_and_tells_who_moves(game_id):
    env = public_module(game_id).env()
    env.reset()
    for ply in range(4):
        state = env.state()
        assert env.state_space.contains(state)
        first = env.observe(env.possible_agents[0])["observation"]
        np.testing.assert_array_equal(state[..., :-1], first)
        assert (state[..., -1] == ply % 2).all()
        play(env, random.Random(ply), 1)


@pytest.mark.parametrize("game_id", GAME_IDS)
def test_reset_to_a_position(game_id):
    env = public_module(game_id).env()
    env.reset()
    play(env, random.Random(5), 6)
    position = env.position
    text = position.fen()
    for given in (text, position):
        env.reset(options={"position": given})
        assert env.position == position
        assert env.agent_selection == env.possible_agents[position.to_move]
    env.reset()
    assert env.position == env.game.start()


@pytest.mark.parametrize(
    ("position", "message"),
    [
        ("8/8/8/3rb3/3br3/8/8 black 0", "7 ranks"),
        ("8/8/8/3rb3/3br3/8/8/7 black 0", "rank 1.*7 squares"),
        ("8/8/8/3rb3/3br3/8/8/7x black 0", "'x' in rank 1"),
        ("8/8/8/3rb3/3br3/8/8/8 white 0", "unknown role 'white'"),
        ("8/8/8/3rb3/3br3/8/8/8 blakc 0", "Did you mean 'black'"),
        ("8/8/8/3rb3/3br3/8/8/8 black x", "'x' is not a number of plies"),
        ("8/8/8/3rb3/3br3/8/8/8", "1 field:"),
        ("8/8/8/8/8/8/8/bbb5 black 9", "the game is over"),
        ("8/8/2b5/3rb3/3br3/8/8/8 black 9", "c6, which is a hole"),
        (17, "position is a int"),
    ],
)
def test_a_malformed_position_is_named(position, message):
    env = boardenvs.othello_holes_v0.env()
    with pytest.raises(PositionError, match=message):
        env.reset(options={"position": position})


def test_unknown_names_bring_the_nearest():
    with pytest.raises(ValueError, match=r"unknown reward 'gaol'. Did you mean 'goal'"):
        boardenvs.othello_v0.env(reward="gaol")
    with pytest.raises(ValueError, match=r"unknown render_mode 'rgb'. Did you mean 'rgb_array'"):
        boardenvs.othello_v0.parallel_env(render_mode="rgb")
    with pytest.raises(TypeError, match=r"unknown option of othello_v0 'reword'.*'reward'"):
        boardenvs.othello_v0.raw_env(reword="goal")
    with pytest.raises(ValueError, match=r"unknown rules 'clasic'. Did you mean 'classic'"):
        boardenvs.lines_of_action_v0.env(rules="clasic")
    env = boardenvs.othello_v0.env()
    with pytest.warns(UserWarning, match="Did you mean 'position'"):
        env.reset(options={"positon": "8/8/8/3rb3/3br3/8/8/8 black 0"})


@pytest.mark.filterwarnings("default:unknown reset option")
def test_seed_changes_nothing_in_a_game_without_chance():
    env = boardenvs.othello_v0.env()
    env.reset(seed=1)
    first = env.position
    env.reset(seed=2)
    assert env.position == first
