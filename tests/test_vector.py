"""Batches as Gymnasium's vector environment: its conventions, seats, seeds and options. What each
row is played by is in test_interfaces.py and test_turn.py.
"""

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode

import boardenvs
from boardenvs import games
from boardenvs.envs.factory import gymnasium_id


def choose(mask, rng):
    """A random legal action a row; noop where nothing is legal."""
    noop = mask.shape[1] - 1
    return np.where(mask.any(1), (rng.random(mask.shape) * mask).argmax(1), noop)


def games_of(mode):
    """The first two games of each row: actions, rewards, and observations of the end."""
    env = boardenvs.othello_v0.vec_env(np.int64(5), autoreset_mode=mode)
    _, infos = env.reset(seed=3)
    found, waiting = [[[]] for _ in range(5)], np.zeros(5, bool)
    for _ in range(140):
        mask, actions = infos["action_mask"], np.full(5, 1)  # ignored where the row waits
        assert not mask[waiting].any()
        for row in np.flatnonzero(~waiting):
            legal = np.flatnonzero(mask[row])
            actions[row] = legal[(5 * row + env.batch.state.ply[row]) % len(legal)]
        observation, rewards, terminated, truncated, infos = env.step(actions)
        over = terminated | truncated
        assert not np.any([rewards[waiting], over[waiting]])
        last = infos.get("final_obs", observation)
        for row in np.flatnonzero(~waiting):
            end = over[row] and last[row].tobytes()
            found[row][-1].append((actions[row], rewards[row], terminated[row], end))
            if over[row] and mode is AutoresetMode.SAME_STEP:
                assert infos["final_info"]["plies"][row] == len(found[row][-1])
            if over[row]:
                found[row].append([])
        if mode is AutoresetMode.NEXT_STEP:
            waiting = over
        elif over.any() and mode is AutoresetMode.SAME_STEP:
            assert infos["_final_obs"].tolist() == [o is not None for o in last] == over.tolist()
        elif over.any():
            with pytest.raises(ResetNeeded, match="reset_mask"):
                env.step(actions)
            first, infos = env.reset(options={"reset_mask": over})
            np.testing.assert_array_equal(first[~over], observation[~over])
    return [row[:2] for row in found]


@pytest.mark.usefixtures("in_python")
def test_games_are_the_same_however_they_are_restarted():
    one, other, third = map(games_of, AutoresetMode)
    assert one == other == third
    assert all(row[1] for row in one)


@pytest.mark.parametrize(
    ("game_id", "seat", "rules"),
    [
        ("othello", "random", {}),
        ("othello", "black", {}),
        ("wolf_and_sheep", "alternating", {"rules": "described", "max_plies": 30}),
        ("lines_of_action", "white", {"max_steps": 9}),
    ],
)
@pytest.mark.usefixtures("in_python")
def test_against_an_opponent_the_learner_is_always_to_move(game_id, seat, rules):
    env = boardenvs.vec_env(game_id, 16, opponent="random", seat=seat, reward="goal", **rules)
    rng, seen = np.random.default_rng(1), []
    _, infos = env.reset(seed=5)
    for _ in range(120):
        before, seats = env.batch.state, env.batch.seats
        np.testing.assert_array_equal(infos["to_move"], seats)
        _, rewards, terminated, truncated, infos = env.step(choose(infos["action_mask"], rng))
        over = terminated | truncated
        np.testing.assert_array_equal(env.batch.state.ply[~over], before.ply[~over] + 2)
        seen += rewards[over].tolist()
        if seat in env.game.roles:
            assert (env.batch.seats == env.game.roles.index(seat)).all()
        elif seat == "alternating":
            np.testing.assert_array_equal(env.batch.seats[over], 1 - seats[over])
    assert len(seen) > 16
    assert set(seen) <= {0.0, 50.0, 100.0}
    # Random play hardly ever wins the other games for either side.
    assert set(seen) >= {0.0, 100.0} or game_id != "othello"


def test_an_illegal_action_loses_the_game():
    env = boardenvs.othello_v0.vec_env(4, opponent="random", seat="black", reward="goal")
    env.reset(seed=0)
    _, rewards, terminated, truncated, infos = env.step(np.array([20, 0, 64, 1000]))
    assert rewards.tolist() == [0, -1, -1, -1]
    assert terminated.tolist() == infos["illegal_action"].tolist() == [False, True, True, True]
    assert not truncated.any()
    assert infos["final_info"]["plies"].tolist() == [0, 0, 0, 0]
    assert env.batch.state.ply.tolist() == [2, 0, 0, 0]


@pytest.mark.usefixtures("in_python")
@pytest.mark.parametrize("game_id", games.GAMES)
def test_gymnasium_makes_and_wraps_it(game_id):
    """Its wrappers count games, and find planes and masks in the order of the keys."""
    env = gymnasium.make_vec(
        gymnasium_id(game_id),
        num_envs=6,
        vectorization_mode="vector_entry_point",
        opponent="greedy",
        mask_in_observation=True,
        autoreset_mode=AutoresetMode.NEXT_STEP,
    )
    assert env.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    env = gymnasium.wrappers.vector.FlattenObservation(env)
    env = gymnasium.wrappers.vector.RecordEpisodeStatistics(env)
    observations, infos = env.reset(seed=4)
    rng = np.random.default_rng(3)
    for _ in range(40):
        assert env.observation_space.contains(observations)
        mask = infos["action_mask"]
        np.testing.assert_array_equal(observations[:, : mask.shape[1]], mask)
        observations, _, _, _, infos = env.step(choose(mask, rng))
    assert env.episode_count > 0 or game_id == "lines_of_action"


def test_seeds():
    """The same seeds give the same run, an int counts up, and a row's seat is its own seed's."""
    env = boardenvs.reversi_v0.vec_env(40, opponent="random", opening_plies=(0, 3))

    def run(seed):
        rng = np.random.default_rng(0)
        _, infos = env.reset(seed=seed)
        record = [env.batch.seats.tolist()]
        for _ in range(60):
            _, rewards, _, _, infos = env.step(choose(infos["action_mask"], rng))
            record.append([*rewards, *env.batch.seats])
        return record

    assert run(11) == run(11) == run(list(range(11, 51))) != run(12)
    seats, backwards = (run(list(seeds))[0] for seeds in (range(40), range(39, -1, -1)))
    assert seats == backwards[::-1]
    assert 8 < sum(seats) < 32


@pytest.mark.parametrize("num_envs", [1, 70])
def test_memory_and_place_of_masks_change_nothing_else(num_envs):
    """Arrays are fresh and nothing is written to them later; without copies they are always the
    same ones; with masks in observations these are dicts.
    """
    plain, reusing, masked = (
        boardenvs.vec_env("wolf_and_sheep", num_envs, **options)
        for options in ({}, {"copy": False}, {"mask_in_observation": True})
    )
    rng, kept, ended = np.random.default_rng(0), [], 0
    (_, infos), (first, first_infos), _ = (env.reset(seed=1) for env in (plain, reusing, masked))
    for _ in range(100):
        actions = choose(infos["action_mask"], rng)
        planes, *said, infos = plain.step(actions)
        reused, *also_said, reused_infos = reusing.step(actions)
        seen, *too, seen_infos = masked.step(actions)
        assert seen in masked.observation_space
        found = reused, seen["observation"], reused_infos["action_mask"], seen["action_mask"]
        for array, expected in zip(found, [planes] * 2 + [infos["action_mask"]] * 2, strict=True):
            np.testing.assert_array_equal(array, expected)
        np.testing.assert_array_equal([also_said, too], [said, said])
        assert np.shares_memory(reused, first)
        assert np.shares_memory(reused_infos["action_mask"], first_infos["action_mask"])
        for row in np.flatnonzero(said[1] | said[2]):
            last = seen_infos["final_obs"][row]
            assert last in masked.single_observation_space
            np.testing.assert_array_equal(last["observation"], infos["final_obs"][row])
            assert not last["action_mask"].any()
            ended += 1
        views = [array[::-1] for array in (planes, *said, infos["action_mask"], infos["to_move"])]
        kept.append((views, [view.copy() for view in views]))
    assert ended >= num_envs
    for views, copies in kept:
        for view, copy in zip(views, copies, strict=True):
            np.testing.assert_array_equal(view, copy)


def test_wrong_use_is_named():
    env = boardenvs.othello_v0.vec_env(3)
    for call in (
        lambda: env.step(np.zeros(3, int)),
        lambda: env.reset(options={"reset_mask": np.ones(3, bool)}),
    ):
        with pytest.raises(ResetNeeded):
            call()
    env.reset()
    for actions, error, message in (
        (np.zeros(2, int), ValueError, r"shape \(2,\): it must be \(3,\)"),
        (np.zeros(3), TypeError, "integers"),
    ):
        with pytest.raises(error, match=message):
            env.step(actions)
    for options, error, message in (
        ({"options": {"reset_mask": [True, False, False]}}, TypeError, "reset_mask"),
        ({"options": {"reset_mask": np.zeros(3, bool)}}, ValueError, "reset_mask"),
        ({"seed": [1, 2]}, ValueError, "2 seeds for 3 games"),
    ):
        with pytest.raises(error, match=message):
            env.reset(**options)
