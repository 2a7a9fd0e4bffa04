"""Batches as Gymnasium's vector environment: against the kernel row by row; its conventions."""

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode
from variants import public_module

import boardenvs
from boardenvs import games
from boardenvs.envs.factory import gymnasium_id
from boardenvs.game.state import take

GAME_IDS = list(games.GAMES)
VARIANTS = [
    ("othello", {}),
    ("wolf_and_sheep", {"rules": "described", "max_plies": 30}),
    ("lines_of_action", {}),
]
MODES = list(AutoresetMode)


def choose(mask, rng):
    """A random legal action a row; noop where nothing is legal."""
    noop = mask.shape[1] - 1
    return np.where(mask.any(1), (rng.random(mask.shape) * mask).argmax(1), noop)


@pytest.mark.parametrize("game_id", ["othello", "lines_of_action"])
def test_next_step_and_disabled_agree_with_same_step(game_id):
    """The same games whichever way they are restarted."""
    seen = {}
    for mode in MODES:
        env = public_module(game_id).vec_env(5, autoreset_mode=mode)
        observation, infos = env.reset(seed=3)
        rngs = [np.random.default_rng(row) for row in range(5)]
        games_seen = [[[]] for _ in range(5)]
        waiting = np.zeros(5, bool)
        for _ in range(220):
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


@pytest.mark.parametrize("seat", ["first", "second", "random", "alternating"])
@pytest.mark.parametrize(("game_id", "rules"), VARIANTS)
def test_against_an_opponent_the_learner_is_always_to_move(game_id, rules, seat):
    roles = games.make(game_id, **rules).roles
    seat = {"first": roles[0], "second": roles[1]}.get(seat, seat)
    env = public_module(game_id).vec_env(16, opponent="random", seat=seat, reward="goal", **rules)
    rng = np.random.default_rng(1)
    _, infos = env.reset(seed=5)
    before, seats = env.batch.state, env.batch.seats.copy()
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
        before, seats = env.batch.state, env.batch.seats.copy()
    assert finished > 16
    if "othello" in game_id:  # random play hardly ever wins the other games for either side
        assert 0 < won < finished
    if seat == "random":
        assert 0 < seats.sum() < 16


def test_rewards_against_an_opponent_are_the_learners():
    """Played by the kernel alongside: the opponent's choice is what the positions differ by."""
    env = boardenvs.othello_v0.vec_env(64, opponent="greedy", autoreset_mode="Disabled")
    game, rng = env.game, np.random.default_rng(2)
    _, infos = env.reset(seed=9)
    seats = env.batch.seats
    assert 0 < seats.sum() < 64
    live = np.ones(64, bool)
    while live.any():
        actions = choose(infos["action_mask"], rng)
        mine = game.step(env.batch.state, actions)
        plies = env.batch.step(actions)
        after = env.batch.state
        for row in np.flatnonzero(live):
            own = game.positions(take(mine, slice(row, row + 1)))[0]
            now = game.positions(take(after, slice(row, row + 1)))[0]
            if own.terminated:
                assert now == own
            else:
                assert now in [own.step(a) for a in own.legal_actions()]
            over = plies.terminated[row]
            assert over == now.terminated
            expected = (now.result()[seats[row]] - 50) / 50 if over else 0
            assert plies.rewards[row] == expected
        live &= ~plies.terminated
        infos = {"action_mask": game.legal(after)}


@pytest.mark.parametrize("opponent", [None, "random"])
def test_an_illegal_action_loses_the_game(opponent):
    env = boardenvs.othello_v0.vec_env(4, opponent=opponent, seat="black", reward="goal")
    _, infos = env.reset(seed=0)
    actions = np.array([20, 0, 64, 1000])
    _, rewards, terminated, truncated, infos = env.step(actions)
    assert rewards.tolist() == [0, -1, -1, -1]
    assert terminated.tolist() == [False, True, True, True]
    assert not truncated.any()
    assert infos["illegal_action"].tolist() == [False, True, True, True]
    assert infos["final_info"]["plies"].tolist() == [0, 0, 0, 0]
    assert (env.batch.state.ply[1:] == 0).all()
    assert env.batch.state.ply[0] == (1 if opponent is None else 2)


@pytest.mark.parametrize("game_id", GAME_IDS)
def test_made_by_gymnasium(game_id):
    env = gymnasium.make_vec(
        gymnasium_id(game_id),
        num_envs=6,
        vectorization_mode="vector_entry_point",
        opponent="greedy",
        autoreset_mode=AutoresetMode.NEXT_STEP,
    )
    assert env.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    env = gymnasium.wrappers.vector.RecordEpisodeStatistics(env)
    rng = np.random.default_rng(3)
    observations, infos = env.reset(seed=4)
    assert env.observation_space.contains(observations)
    counted = 0
    for _ in range(80):
        observations, _, _, _, infos = env.step(choose(infos["action_mask"], rng))
        assert env.observation_space.contains(observations)
        counted += infos.get("_episode", np.zeros(6)).sum()
    assert counted > 6


@pytest.mark.parametrize("game_id", ["reversi"])
def test_seeds(game_id):
    """The same seeds give the same run, an int counts up, and a row's seat is its own seed's."""
    make = public_module(game_id).vec_env

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
    for mode in MODES:
        env = boardenvs.wolf_and_sheep_v0.vec_env(16, autoreset_mode=mode)
        rng = np.random.default_rng(5)
        kept = []
        observation, infos = env.reset(seed=6)
        for _ in range(100):
            actions = choose(infos["action_mask"], rng)
            observation, rewards, terminated, truncated, infos = env.step(actions)
            arrays = [observation, rewards, terminated, truncated]
            arrays += [infos["action_mask"], infos["to_move"]]
            kept.append((arrays, [a.copy() for a in arrays]))
            if mode is AutoresetMode.DISABLED and (terminated | truncated).any():
                _, infos = env.reset(options={"reset_mask": terminated | truncated})
        for arrays, copies in kept:
            for array, copy in zip(arrays, copies, strict=True):
                np.testing.assert_array_equal(array, copy)


@pytest.mark.parametrize("game_id", ["othello_holes"])
@pytest.mark.parametrize("num_envs", [1, 70])
def test_without_copies_the_same_memory_holds_the_same_values(game_id, num_envs):
    fresh, reusing = (public_module(game_id).vec_env(num_envs, copy=c) for c in (True, False))
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


def test_wrong_input_is_named():
    make = boardenvs.othello_v0.vec_env
    with pytest.raises(ValueError, match="num_envs is 0"):
        make(0)
    with pytest.raises(ValueError, match=r"unknown seat 'blakc'\. Did you mean 'black'"):
        make(2, seat="blakc")
    with pytest.raises(ValueError, match=r"unknown agent 'greddy'\. Did you mean 'greedy'"):
        make(2, opponent="greddy")
    with pytest.raises(ValueError, match=r"unknown reward 'gaol'\. Did you mean 'goal'"):
        make(2, reward="gaol")
    with pytest.raises(TypeError, match=r"unknown option of othello_v0 'oponent'.*'opponent'"):
        make(2, oponent="random")
    env = make(3)
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


@pytest.mark.parametrize("opponent", [None, "random"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("game_id", ["wolf_and_sheep"])
def test_masks_in_observations_change_nothing_else(game_id, mode, opponent):
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
