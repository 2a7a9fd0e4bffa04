"""Observations with the mask in them: the same games as without, in the spaces that they name."""

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

import boardenvs
from boardenvs import games
from boardenvs.envs.factory import gymnasium_id

GAME_IDS = list(games.GAMES)


def choose(mask, rng):
    """A random legal action a row; noop where nothing is legal."""
    return np.where(mask.any(1), (rng.random(mask.shape) * mask).argmax(1), mask.shape[1] - 1)


@pytest.mark.parametrize("game_id", GAME_IDS)
def test_gymnasium_accepts_it(game_id):
    env = gymnasium.make(gymnasium_id(game_id), mask_in_observation=True)
    check_env(env.unwrapped, skip_render_check=True)


@pytest.mark.parametrize("game_id", GAME_IDS)
def test_one_board_shows_the_same_games(game_id):
    plain, env = (
        gymnasium.make(gymnasium_id(game_id), opponent="greedy", mask_in_observation=given)
        for given in (False, True)
    )
    rng = np.random.default_rng(0)
    for episode in range(4):
        expected, info = plain.reset(seed=episode)
        seen, over = env.reset(seed=episode)[0], False
        while True:
            assert seen in env.observation_space
            np.testing.assert_array_equal(seen["observation"], expected)
            np.testing.assert_array_equal(seen["action_mask"], info["action_mask"])
            if over:
                break
            action = rng.choice(np.flatnonzero(seen["action_mask"]))
            expected, reward, *ends, info = plain.step(action)
            seen, *rest, _ = env.step(action)
            assert rest == [reward, *ends]
            over = any(ends)
        assert not seen["action_mask"].any()


@pytest.mark.parametrize("opponent", [None, "random"])
@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("game_id", GAME_IDS)
def test_many_boards_show_the_same_games(game_id, mode, opponent):
    plain, env = (
        boardenvs.vec_env(
            game_id, 5, opponent=opponent, autoreset_mode=mode, mask_in_observation=given
        )
        for given in (False, True)
    )
    rng, ended = np.random.default_rng(0), 0
    expected, infos = plain.reset(seed=1)
    seen = env.reset(seed=1)[0]
    for _ in range(150):
        assert seen in env.observation_space
        np.testing.assert_array_equal(seen["observation"], expected)
        np.testing.assert_array_equal(seen["action_mask"], infos["action_mask"])
        actions = choose(seen["action_mask"], rng)
        expected, rewards, terminated, truncated, infos = plain.step(actions)
        seen, *rest, their_infos = env.step(actions)
        for given, wanted in zip(rest, (rewards, terminated, truncated), strict=True):
            np.testing.assert_array_equal(given, wanted)
        over = terminated | truncated
        ended += over.sum()
        if mode is AutoresetMode.SAME_STEP:
            for row in np.flatnonzero(over):
                last = their_infos["final_obs"][row]
                assert last in env.single_observation_space
                np.testing.assert_array_equal(last["observation"], infos["final_obs"][row])
                assert not last["action_mask"].any()
        elif mode is AutoresetMode.DISABLED and over.any():
            expected, infos = plain.reset(options={"reset_mask": over})
            seen = env.reset(options={"reset_mask": over})[0]
    assert ended >= 5


def test_gymnasium_makes_and_wraps_it():
    """Its wrapper finds planes and masks, in the order of the keys."""
    envs = gymnasium.make_vec(
        "boardenvs/Othello-v0",
        3,
        vectorization_mode="vector_entry_point",
        mask_in_observation=True,
        autoreset_mode=AutoresetMode.NEXT_STEP,
    )
    flat, infos = gymnasium.wrappers.vector.FlattenObservation(envs).reset(seed=1)
    assert flat.shape == (3, 65 + 128)
    np.testing.assert_array_equal(flat[:, :65], infos["action_mask"])
