"""A seat against an opponent, as Gymnasium's environment."""

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from boardenvs import PositionError, games
from boardenvs.envs.factory import gymnasium_id

GAME_IDS = list(games.GAMES)


@pytest.mark.parametrize("game_id", GAME_IDS)
@pytest.mark.parametrize("opponent", ["random", "greedy"])
def test_gymnasium_accepts_it(game_id, opponent):
    """`check_env` samples unmasked actions, so most games here end by an illegal one."""
    env = gymnasium.make(gymnasium_id(game_id), opponent=opponent)
    check_env(env.unwrapped, skip_render_check=True)


@pytest.mark.parametrize("game_id", GAME_IDS)
@pytest.mark.parametrize("seat", ["random", "alternating", 0, 1])
def test_whole_games(game_id, seat):
    roles = games.make(game_id).roles
    seat = roles[seat] if isinstance(seat, int) else seat
    env = gymnasium.make(gymnasium_id(game_id), opponent="random", seat=seat, reward="goal")
    rng = np.random.default_rng(0)
    seats = []
    for episode in range(6):
        observation, info = env.reset(seed=7 if episode == 0 else None)
        role = info["seat"]
        seats.append(role)
        board = env.unwrapped.board
        assert board.agent_selection == role
        assert board.position.ply == roles.index(role)
        terminated = truncated = False
        while not (terminated or truncated):
            assert env.observation_space.contains(observation)
            np.testing.assert_array_equal(info["action_mask"], env.unwrapped.action_masks())
            action = rng.choice(np.flatnonzero(info["action_mask"]))
            observation, reward, terminated, truncated, info = env.step(action)
        assert reward == board.position.result()[roles.index(role)]
        assert not info["action_mask"].any()
    if seat == "alternating":
        assert seats == [roles[i % 2] for i in range(6)]
    elif seat != "random":
        assert seats == [seat] * 6


def test_same_seed_same_game():
    def run():
        env = gymnasium.make("boardenvs/Othello-v0", opponent="greedy")
        rng, record = np.random.default_rng(1), []
        for episode in range(4):
            _, info = env.reset(seed=3 if episode == 0 else None)
            over = False
            while not over:
                action = rng.choice(np.flatnonzero(info["action_mask"]))
                observation, reward, over, _, info = env.step(action)
                record += [observation.tobytes(), reward, info["seat"]]
        return record

    assert run() == run()


def test_an_illegal_action_loses_the_game():
    env = gymnasium.make("boardenvs/LinesOfAction-v0", seat="black")
    env.reset(seed=0)
    _, reward, terminated, truncated, info = env.step(512)
    assert (reward, terminated, truncated, info["illegal_action"]) == (-1, True, False, 512)


def test_starts_from_a_position_and_names_a_bad_one():
    env = gymnasium.make("boardenvs/Othello-v0", seat="black")
    env.reset(options={"position": "8/8/8/8/8/8/8/brr5 black 0"})
    _, reward, terminated, _, _ = env.step(3)
    assert (reward, terminated) == (1, True)
    with pytest.raises(PositionError, match="7 ranks"):
        env.reset(options={"position": "8/8/8/8/8/8/brr5 black 0"})


def test_wrong_options_are_named():
    with pytest.raises(ValueError, match=r"unknown seat 'whit'\. Did you mean 'white'"):
        gymnasium.make("boardenvs/LinesOfAction-v0", seat="whit")
    with pytest.raises(TypeError, match=r"unknown option of lines_of_action_v0 'rule'.*'rules'"):
        gymnasium.make("boardenvs/LinesOfAction-v0", rule="classic")
