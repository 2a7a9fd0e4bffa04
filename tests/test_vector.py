"""Batches as Gymnasium's vector environment: its conventions, seats, seeds and options. What each
row is played by is in test_interfaces.py and test_turn.py.
"""

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode
from variants import GAMES

import boardenvs
from boardenvs.agents import make_agent
from boardenvs.envs.factory import gymnasium_id


def choose(mask, rng):
    """A random legal action a row; noop where nothing is legal."""
    noop = mask.shape[1] - 1
    return np.where(mask.any(1), (rng.random(mask.shape) * mask).argmax(1), noop)


def in_row(observation, row):
    """What is seen in a row, of a batch or of games' ends."""
    parts = observation if isinstance(observation, dict) else observation[row]
    whole = isinstance(observation, dict)
    return [parts[key][row if whole else ...].tobytes() for key in ("observation", "action_mask")]


def games_of(mode):
    """The first two games of each row: actions, rewards, and observations of the end. Whenever
    a game ends, another environment goes on by a snapshot.
    """

    def make_env():
        return boardenvs.othello_v0.vec_env(
            np.int64(5), autoreset_mode=mode, mask_in_observation=True
        )

    env = make_env()
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
            end = over[row] and in_row(last, row)
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
            for key, shown in first.items():
                np.testing.assert_array_equal(shown[~over], observation[key][~over])
        if over.any():
            before, env = env.batch.snapshot(), make_env()
            env.reset(seed=4)
            env.batch.restore(before)
    return [row[:2] for row in found]


def test_games_are_the_same_however_they_are_restarted():
    one, other, third = map(games_of, AutoresetMode)
    assert one == other == third
    assert all(row[1] for row in one)


def test_an_illegal_action_loses_the_game():
    env = boardenvs.othello_v0.vec_env(4, opponent="random", seat="black", reward="goal")
    env.reset(seed=0)
    _, rewards, terminated, truncated, infos = env.step(np.array([20, 0, 64, 1000]))
    assert rewards.tolist() == [0, -1, -1, -1]
    assert terminated.tolist() == infos["illegal_action"].tolist() == [False, True, True, True]
    assert not truncated.any()
    final = infos["final_info"]
    assert final["plies"].tolist() == final["to_move"].tolist() == [0, 0, 0, 0]
    assert final["_plies"].tolist() == final["illegal_action"].tolist() == terminated.tolist()
    assert env.batch.state.ply.tolist() == [2, 0, 0, 0]


@pytest.mark.parametrize("game_id", GAMES)
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


@pytest.mark.parametrize("game_id", GAMES)
def test_one_id_has_one_opponent(game_id):
    """Whoever makes it: rewards are the seat's, unless self-play is asked for."""
    plain, by_sync, self_play = (
        gymnasium.make_vec(gymnasium_id(game_id), 2, vectorization_mode=mode, **options)
        for mode, options in (
            (None, {}),
            ("sync", {}),
            (None, {"opponent": None}),
        )
    )
    assert plain.batch.groups[0].opponent == "random"
    assert by_sync.envs[0].unwrapped.opponent == make_agent("random")
    assert self_play.batch.self_play.all()


@pytest.mark.parametrize("opponent", [None, "random"])
@pytest.mark.parametrize("game", ["reversi", "checkers"])
def test_discounts_tell_whose_the_next_state_is(game, opponent):
    env, rng = boardenvs.vec_env(game, 20, opponent=opponent), np.random.default_rng(0)
    _, infos = env.reset(seed=0)
    again = 0
    for _ in range(60):
        mover = infos["to_move"].copy()
        infos["to_move"][:] = 9  # they are the caller's
        *_, terminated, truncated, infos = env.step(choose(infos["action_mask"], rng))
        live = ~(terminated | truncated)
        signs = np.where(infos["to_move"] == mover, 1, -1)
        assert infos["discount"][live].tolist() == signs[live].tolist()
        again += (signs[live] == 1).sum()
        infos["discount"][:] = 0
    assert (again > 0) == (game == "checkers" or opponent is not None)


def test_a_draw_is_paid_without_a_sign():
    env = boardenvs.vec_env("tictactoe", 1)
    env.reset()
    for name in ["a1", "b1", "c1", "b2", "a2", "c2", "b3", "a3", "c3"]:
        _, rewards, terminated, _, _ = env.step([env.game.parse_action(name)])
    assert terminated.all()
    assert str(rewards) == "[0.]"


EXACT = [*map(int, gymnasium.__version__.split(".")[:2])] >= [1, 4]


@pytest.mark.parametrize("mode", AutoresetMode)
def test_gymnasium_counts_plies_and_rewards(mode):
    """By its wrapper; before its version 1.4 wrongly in the mode that is the default here."""
    if mode is AutoresetMode.SAME_STEP and not EXACT:
        pytest.skip(
            "RecordEpisodeStatistics counts wrongly before Gymnasium 1.4, as the guide says"
        )
    boards = boardenvs.vec_env("wolf_and_sheep", 8, opponent="random", autoreset_mode=mode)
    env, games = gymnasium.wrappers.vector.RecordEpisodeStatistics(boards), 0
    rng = np.random.default_rng(0)
    _, infos = env.reset(seed=0)
    steps, waiting = np.zeros(8, int), np.zeros(8, bool)
    for _ in range(150):
        _, rewards, terminated, truncated, infos = env.step(choose(infos["action_mask"], rng))
        over = terminated | truncated
        steps[~waiting] += 1
        assert infos.get("_episode", np.zeros(8, bool)).tolist() == over.tolist()
        if over.any():
            assert infos["episode"]["l"][over].tolist() == steps[over].tolist()
            assert infos["episode"]["r"][over].tolist() == rewards[over].tolist()
        games, steps[over] = games + over.sum(), 0
        if mode is AutoresetMode.NEXT_STEP:
            waiting = over
        elif mode is AutoresetMode.DISABLED and over.any():
            _, infos = env.reset(options={"reset_mask": over})
    assert games > 20


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
    env.reset(seed=1 << 40)
    assert env.batch.seats.tolist() != seats, "all bits of a seed count"
    opened = []
    for last in (40, 41):  # openings are drawn by the seeds of all rows
        env.reset(seed=[*range(39), last])
        opened.append(env.batch.state.own.tolist()[:39])
    assert opened[0] != opened[1]


@pytest.mark.parametrize("num_envs", [1, 70])
def test_arrays_are_fresh_unless_copies_are_declined(num_envs):
    """Nothing is written later to arrays that were returned; without copies, with the same values,
    they are always the same arrays.
    """
    plain, reusing = (
        boardenvs.vec_env("wolf_and_sheep", num_envs, **options)
        for options in ({}, {"copy": False})
    )
    rng, kept, ended = np.random.default_rng(0), [], 0
    (_, infos), (first, first_infos) = (env.reset(seed=1) for env in (plain, reusing))
    for _ in range(100):
        actions = choose(infos["action_mask"], rng)
        planes, *said, infos = plain.step(actions)
        reused, *also_said, reused_infos = reusing.step(actions)
        np.testing.assert_array_equal(reused, planes)
        np.testing.assert_array_equal(reused_infos["action_mask"], infos["action_mask"])
        np.testing.assert_array_equal(also_said, said)
        assert np.shares_memory(reused, first)
        assert np.shares_memory(reused_infos["action_mask"], first_infos["action_mask"])
        ended += int((said[1] | said[2]).sum())
        arrays = [planes, *said, infos["action_mask"], infos["to_move"]]
        kept.append((arrays, [array.copy() for array in arrays]))
    assert ended >= num_envs
    for arrays, copies in kept:
        for array, copy in zip(arrays, copies, strict=True):
            np.testing.assert_array_equal(array, copy)


def test_wrong_use_is_named():
    env = boardenvs.othello_v0.vec_env(3)
    for call in (
        lambda: env.step(np.zeros(3, int)),
        env.action_masks,
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
    with pytest.raises(ValueError, match="reset_mask"):
        env.reset(options={"reset_mask": np.zeros(3, bool)})
    with pytest.raises(ValueError, match="2 seeds for 3 games"):
        env.reset(seed=[1, 2])
