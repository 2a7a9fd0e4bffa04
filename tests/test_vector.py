"""Batches as Gymnasium's vector environment: against the kernel row by row; its conventions."""

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode

import boardenvs
from boardenvs import games
from boardenvs.envs.factory import gymnasium_id

MODES = list(AutoresetMode)


def choose(mask, rng):
    """A random legal action a row; noop where nothing is legal."""
    noop = mask.shape[1] - 1
    return np.where(mask.any(1), (rng.random(mask.shape) * mask).argmax(1), noop)


@pytest.mark.usefixtures("in_python")
def test_next_step_and_disabled_agree_with_same_step():
    """The same games whichever way they are restarted."""
    seen = {}
    for mode in MODES:
        env = boardenvs.othello_v0.vec_env(5, autoreset_mode=mode)
        observation, infos = env.reset(seed=3)
        rngs = [np.random.default_rng(row) for row in range(5)]
        games_seen = [[[]] for _ in range(5)]
        waiting = np.zeros(5, bool)
        for _ in range(140):
            mask = infos["action_mask"]
            assert not mask[waiting].any()
            actions = np.full(5, 1)  # ignored where the row waits
            for row in np.flatnonzero(~waiting):
                actions[row] = rngs[row].choice(np.flatnonzero(mask[row]))
            observation, rewards, terminated, truncated, infos = env.step(actions)
            over = terminated | truncated
            assert not (over & waiting).any()
            assert not rewards[waiting].any()
            for row in np.flatnonzero(~waiting):
                games_seen[row][-1].append((actions[row], rewards[row], terminated[row]))
                if over[row]:
                    last = observation
                    if mode is AutoresetMode.SAME_STEP:
                        last = infos["final_obs"]
                        assert infos["final_info"]["plies"][row] == len(games_seen[row][-1])
                        np.testing.assert_array_equal(infos["_final_obs"], over)
                        assert [o is not None for o in last] == over.tolist()
                    games_seen[row][-1].append(last[row].tobytes())
                    games_seen[row].append([])
            if mode is AutoresetMode.NEXT_STEP:
                waiting = over
            elif mode is AutoresetMode.DISABLED and over.any():
                with pytest.raises(ResetNeeded, match="reset_mask"):
                    env.step(actions)
                first, infos = env.reset(options={"reset_mask": over})
                np.testing.assert_array_equal(first[~over], observation[~over])
        seen[mode] = games_seen
    for row in range(5):
        complete = [seen[mode][row][:2] for mode in MODES]
        assert complete[0] == complete[1] == complete[2]


@pytest.mark.parametrize(
    ("game_id", "seat", "rules"),
    [
        ("othello", "random", {}),
        ("othello", "black", {}),
        ("wolf_and_sheep", "alternating", {"rules": "described", "max_plies": 30}),
        ("lines_of_action", "second", {"max_steps": 9}),
    ],
)
@pytest.mark.usefixtures("in_python")
def test_against_an_opponent_the_learner_is_always_to_move(game_id, seat, rules):
    roles = games.make(game_id, **rules).roles
    seat = roles[1] if seat == "second" else seat
    env = boardenvs.vec_env(game_id, 16, opponent="random", seat=seat, reward="goal", **rules)
    rng = np.random.default_rng(1)
    _, infos = env.reset(seed=5)
    before, seats = env.batch.state, env.batch.seats
    won, finished = 0, 0
    for _ in range(120):
        np.testing.assert_array_equal(infos["to_move"], seats)
        actions = choose(infos["action_mask"], rng)
        _, rewards, terminated, truncated, infos = env.step(actions)
        over = terminated | truncated
        for row in np.flatnonzero(~over):
            assert env.batch.state.ply[row] == before.ply[row] + 2
        assert set(rewards[over].tolist()) <= {0.0, 50.0, 100.0}
        won += (rewards[over] == 100).sum()
        finished += over.sum()
        if seat in roles:
            assert (env.batch.seats == roles.index(seat)).all()
        elif seat == "alternating":
            np.testing.assert_array_equal(env.batch.seats[over], 1 - seats[over])
        before, seats = env.batch.state, env.batch.seats
    assert finished > 16
    if "othello" in game_id:  # random play hardly ever wins the other games for either side
        assert 0 < won < finished
    if seat == "random":
        assert 0 < seats.sum() < 16


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
    counted, rng = 0, np.random.default_rng(3)
    for _ in range(40):
        assert env.observation_space.contains(observations)
        mask = infos["action_mask"]
        np.testing.assert_array_equal(observations[:, : mask.shape[1]], mask)
        observations, _, _, _, infos = env.step(choose(mask, rng))
        counted += infos.get("_episode", np.zeros(6)).sum()
    assert counted > 0 or game_id == "lines_of_action"


def test_seeds():
    """The same seeds give the same run, an int counts up, and a row's seat is its own seed's."""
    make = boardenvs.reversi_v0.vec_env

    def run(seed):
        env = make(8, opponent="random", opening_plies=(0, 3))
        rng, record = np.random.default_rng(0), []
        _, infos = env.reset(seed=seed)
        for _ in range(60):
            _, rewards, _, _, infos = env.step(choose(infos["action_mask"], rng))
            record += [rewards.tobytes(), env.batch.seats.tobytes()]
        return record

    assert run(11) == run(11) == run(list(range(11, 19)))
    assert run(11) != run(12)
    env = make(3, opponent="random")
    seats = []
    for seed in range(40):
        env.reset(seed=[seed, seed, 7])
        assert env.batch.seats[0] == env.batch.seats[1]
        seats.append(env.batch.seats[0])
        assert env.batch.seats[2] == seats[7] if seed > 7 else True
    assert 8 < sum(seats) < 32


def test_returned_arrays_are_never_written_to_later():
    env = boardenvs.wolf_and_sheep_v0.vec_env(16)
    rng, kept = np.random.default_rng(5), []
    _, infos = env.reset(seed=6)
    for _ in range(100):
        actions = choose(infos["action_mask"], rng)
        *arrays, infos = env.step(actions)
        arrays += [infos["action_mask"], infos["to_move"]]
        kept.append((arrays, [array.copy() for array in arrays]))
    for arrays, copies in kept:
        for array, copy in zip(arrays, copies, strict=True):
            np.testing.assert_array_equal(array, copy)


@pytest.mark.parametrize("num_envs", [1, 70])
def test_without_copies_the_same_memory_holds_the_same_values(num_envs):
    fresh, reusing = (boardenvs.vec_env("othello", num_envs, copy=c) for c in (True, False))
    rng = np.random.default_rng(0)
    kept, kept_infos = reusing.reset(seed=1)
    _, infos = fresh.reset(seed=1)
    for _ in range(40):
        actions = choose(infos["action_mask"], rng)
        expected, *_, infos = fresh.step(actions)
        observation, *_, new_infos = reusing.step(actions)
        np.testing.assert_array_equal(observation, expected)
        np.testing.assert_array_equal(new_infos["action_mask"], infos["action_mask"])
        assert np.shares_memory(observation, kept)
        assert np.shares_memory(new_infos["action_mask"], kept_infos["action_mask"])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"num_envs": 0}, ValueError, "num_envs is 0"),
        ({"seat": "blakc"}, ValueError, r"unknown seat 'blakc'\. Did you mean 'black'"),
        ({"opponent": "greddy"}, ValueError, r"unknown agent 'greddy'\. Did you mean 'greedy'"),
        ({"reward": "gaol"}, ValueError, r"unknown reward 'gaol'\. Did you mean 'goal'"),
        ({"oponent": "x"}, TypeError, r"unknown option of othello_v0 'oponent'.*'opponent'"),
    ],
)
def test_wrong_options_are_named(options, error, message):
    with pytest.raises(error, match=message):
        boardenvs.othello_v0.vec_env(**options)


def test_wrong_use_is_named():
    env = boardenvs.othello_v0.vec_env(3)
    with pytest.raises(ResetNeeded):
        env.step(np.zeros(3, int))
    with pytest.raises(ResetNeeded):
        env.reset(options={"reset_mask": np.ones(3, bool)})
    env.reset()
    with pytest.raises(ValueError, match=r"shape \(2,\): it must be \(3,\)"):
        env.step(np.zeros(2, int))
    with pytest.raises(TypeError, match="integers"):
        env.step(np.zeros(3))
    with pytest.raises(TypeError, match="reset_mask"):
        env.reset(options={"reset_mask": [True, False, False]})
    with pytest.raises(ValueError, match="reset_mask"):
        env.reset(options={"reset_mask": np.zeros(3, bool)})
    with pytest.raises(ValueError, match="2 seeds for 3 games"):
        env.reset(seed=[1, 2])


def test_masks_in_observations_change_nothing_else():
    plain, env = (
        boardenvs.vec_env("wolf_and_sheep", 5, mask_in_observation=given) for given in (False, True)
    )
    rng, ended = np.random.default_rng(0), 0
    expected, infos = plain.reset(seed=1)
    seen = env.reset(seed=1)[0]
    for _ in range(100):
        assert seen in env.observation_space
        np.testing.assert_array_equal(seen["observation"], expected)
        np.testing.assert_array_equal(seen["action_mask"], infos["action_mask"])
        actions = choose(seen["action_mask"], rng)
        expected, *stepped, infos = plain.step(actions)
        seen, *rest, their_infos = env.step(actions)
        np.testing.assert_array_equal(stepped, rest)
        for row in np.flatnonzero(stepped[1] | stepped[2]):
            last = their_infos["final_obs"][row]
            assert last in env.single_observation_space
            np.testing.assert_array_equal(last["observation"], infos["final_obs"][row])
            assert not last["action_mask"].any()
            ended += 1
    assert ended >= 5
