"""A seat against an opponent, as Gymnasium's environment."""

import gymnasium
import numpy as np
import pytest

from boardenvs import games


@pytest.mark.parametrize("seat", ["random", "alternating", "wolf", "sheep"])
def test_whole_games(seat):
    roles = games.make("wolf_and_sheep").roles
    env = gymnasium.make("boardenvs/WolfAndSheep-v0", opponent="random", seat=seat, reward="goal")
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
