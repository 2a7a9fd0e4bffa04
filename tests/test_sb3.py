"""Self-play as a VecEnv: SB3's conventions, and a value that is always its own player's."""

from __future__ import annotations

from typing import Any, cast

import gymnasium
import numpy as np
import pytest
import torch as th
from gymnasium import spaces
from returns import returns_and_results
from same import same
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.callbacks import MaskableEvalCallback
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.vec_env import VecMonitor

from boardenvs.envs.batch import BoardGroup
from boardenvs.envs.sb3 import BoardVecEnv
from boardenvs.game.openings import random_openings
from boardenvs.game.state import FloatArray, State, concat, take
from boardenvs.games import Game, make

th.set_num_threads(1)

VARIANTS: list[tuple[str, dict[str, Any]]] = [
    ("othello", {}),
    ("wolf_and_sheep", {"rules": "described", "max_plies": 30}),
    ("lines_of_action", {"rules": "described", "max_steps": 12}),
]


@pytest.mark.parametrize(("game_id", "rules"), VARIANTS)
def test_every_step_is_what_the_rules_say(game_id: str, rules: dict[str, Any]) -> None:
    game, rng = make(game_id, **rules), np.random.default_rng(0)
    env = BoardVecEnv(game, 32, opening_plies=(0, 10), seed=1)
    observation: Any = env.reset()
    endings = set()
    for _ in range(130):
        before = env.state
        (masks,) = env.env_method("action_masks")
        assert np.array_equal(masks, game.legal(before))
        assert np.array_equal(observation, game.observe(before))
        assert env.observation_space.contains(observation[0])
        actions = game.sample(before, rng)
        observation, rewards, dones, infos = env.step(actions)
        after = game.step(before, actions)
        assert np.array_equal(dones, after.terminated | game.is_truncated(after))
        assert not (env.state.terminated | game.is_truncated(env.state)).any()
        assert same(take(env.state, ~dones), take(after, ~dones))
        goals = game.results(after)[np.arange(32), before.to_move]
        assert np.array_equal(rewards, np.where(dones, (goals - 50) / 50, 0))
        for row in range(32):
            if not dones[row]:
                assert infos[row] == {}
                continue
            assert np.array_equal(infos[row]["terminal_observation"], game.observe(after)[row])
            assert infos[row]["plies"] == after.ply[row]
            assert infos[row]["truncated"] == game.is_truncated(after)[row]
            # The cap pays out, so the value of a continuation must not be added.
            assert not infos[row].get("TimeLimit.truncated", False)
            endings.add(float(rewards[row]))
    assert endings


def test_the_mover_can_lose_by_its_own_ply() -> None:
    game = make("othello")
    starts = random_openings(game, 400, (50, 57), np.random.default_rng(3))
    env = BoardVecEnv(game, 400, starts=starts, seed=0)
    env.reset()
    seen, rng = set(), np.random.default_rng(1)
    for _ in range(12):
        _, rewards, dones, _ = env.step(game.sample(env.state, rng))
        seen |= set(rewards[dones].tolist())
    assert seen == {-1.0, 0.0, 1.0}


# ---- the sign of the value ---------------------------------------------------------------------


def outcomes(game: Game, gamma: float) -> tuple[FloatArray, FloatArray]:
    """Of random games in which one policy plays both sides; see `returns_and_results`."""
    return returns_and_results(BoardVecEnv(game, 16, opening_plies=(0, 20)), gamma)


@pytest.mark.parametrize(("game_id", "rules"), VARIANTS)
def test_with_gamma_minus_one_each_mover_learns_its_own_result(
    game_id: str, rules: dict[str, Any]
) -> None:
    returns, truth = outcomes(make(game_id, **rules), -1.0)
    finished = ~np.isnan(truth)
    assert finished.sum() > 100
    assert np.allclose(returns[finished], truth[finished], atol=1e-4)


def test_with_gamma_plus_one_the_loser_would_learn_that_it_won() -> None:
    returns, truth = outcomes(make("othello"), 1.0)
    lost = truth == -1
    assert lost.sum() > 100
    assert (returns[lost] > 0).mean() > 0.4


# ---- SB3's conventions -------------------------------------------------------------------------


def test_it_trains_and_evaluates_with_the_tools_of_sb3() -> None:
    env = BoardVecEnv(make("reversi"), 8, seed=0)
    monitored = VecMonitor(env)
    assert is_masking_supported(monitored)
    assert get_action_masks(monitored).shape == (1, 8, 65)
    model = MaskablePPO("MlpPolicy", monitored, gamma=-1.0, n_steps=16, batch_size=64, seed=0)
    model.learn(8 * 16 * 10)
    assert model.ep_info_buffer is not None
    assert len(model.ep_info_buffer) > 8
    rewards, lengths = cast(
        tuple[list[float], list[int]],
        evaluate_policy(model, monitored, 16, return_episode_rewards=True),
    )
    assert len(rewards) == 16
    assert set(rewards) <= {-1.0, 0.0, 1.0}
    assert 50 < np.mean(lengths) < 70


def test_spaces() -> None:
    env = BoardVecEnv(make("lines_of_action"), 3)
    assert env.observation_space == spaces.Box(0, 1, (8, 8, 8), np.int8)
    assert env.action_space == spaces.Discrete(513)
    assert env.get_attr("render_mode") == [None] * 3
    assert env.env_is_wrapped(VecMonitor, indices=[0, 2]) == [False, False]
    assert env.env_method("action_masks", indices=[1])[0].shape == (1, 513)


def play(env: BoardVecEnv, steps: int) -> list[State]:
    rng, states = np.random.default_rng(7), []
    for _ in range(steps):
        env.step(env.game.sample(env.state, rng))
        states.append(env.state)
    return states


def test_the_seed_determines_the_games() -> None:
    game = make("wolf_and_sheep")
    envs = [BoardVecEnv(game, 16, opening_plies=(0, 9), seed=s) for s in (1, 1, 2)]
    first, second, other = (concat(play(env, 60)) for env in envs)
    assert same(first, second)
    assert not same(first, other)
    envs[2].seed(5)
    envs[0].seed(5)
    assert np.array_equal(envs[2].reset(), envs[0].reset())
    assert same(concat(play(envs[2], 60)), concat(play(envs[0], 60)))


@pytest.mark.parametrize("kind", ["pool", "starts"])  # starts are drawn anew for every game
def test_a_snapshot_goes_on_as_the_original(kind: str) -> None:
    game = make("othello")
    starts = random_openings(game, 99, (5, 30), np.random.default_rng(0))
    how: dict[str, Any] = {"starts": starts} if kind == "starts" else {"opening_plies": (0, 30)}
    env = BoardVecEnv(game, 16, seed=1, **how)
    play(env, 50)
    snapshot = env.snapshot()
    went_on = concat(play(env, 80))
    other = BoardVecEnv(game, 16, seed=99, **how)
    assert np.array_equal(other.restore(snapshot), game.observe(State(*snapshot["state"])))
    assert same(concat(play(other, 80)), went_on)


def test_new_games_start_after_as_many_opening_plies_as_asked() -> None:
    env = BoardVecEnv(make("othello"), 2000, opening_plies=(0, 40), seed=0)
    env.reset()
    counts = np.bincount(env.state.ply, minlength=41)
    assert len(counts) == 41
    assert counts.min() > 20  # about 49 are expected of each


def test_wrong_arguments_are_refused() -> None:
    game = make("othello")
    with pytest.raises(ValueError, match="num_envs is 0"):
        BoardVecEnv(game, 0)
    with pytest.raises(ValueError, match="range"):
        BoardVecEnv(game, 2, opening_plies=(5, 2))
    over = game.init(1)._replace(terminated=np.array([True]))
    with pytest.raises(ValueError, match="starts must hold"):
        BoardVecEnv(game, 2, starts=over)
    with pytest.raises(ValueError, match="give num_envs or groups"):
        BoardVecEnv(game)
    with pytest.raises(ValueError, match="leave out the others"):
        BoardVecEnv(game, 2, groups=[BoardGroup(2)])
    with pytest.raises(ValueError, match="give one or more"):
        BoardVecEnv(game, groups=[])
    with pytest.raises(ValueError, match="threads is 0"):
        BoardVecEnv(game, 2, threads=0)
    env = BoardVecEnv(game, 2)
    with pytest.raises(TypeError, match="integers"):
        env.step(np.zeros(2))
    with pytest.raises(AttributeError, match="share"):
        env.set_attr("game", game)


@pytest.mark.parametrize(("game_id", "rules"), VARIANTS)
@pytest.mark.parametrize("seat", ["random", 0])
def test_against_an_opponent_every_state_is_the_learners(
    game_id: str, rules: dict[str, Any], seat: str | int
) -> None:
    game, rng = make(game_id, **rules), np.random.default_rng(0)
    chosen = game.roles[seat] if isinstance(seat, int) else seat
    env = BoardVecEnv(game, 24, opponent="greedy", seat=chosen, opening_plies=(0, 4), seed=3)
    env.reset()
    rewards_seen: list[float] = []
    for _ in range(80):
        before, seats = env.state, env.boards.seats.copy()
        assert np.array_equal(before.to_move, seats)
        _, rewards, dones, infos = env.step(game.sample(before, rng))
        assert (env.state.ply[~dones] == before.ply[~dones] + 2).all()
        rewards_seen += rewards[dones].tolist()
        assert all(infos[row]["plies"] > before.ply[row] for row in np.flatnonzero(dones))
    assert rewards_seen
    if "othello" in game_id:
        assert np.mean(rewards_seen) < 0, "random play does not beat greedy"


def test_callbacks_of_sb3_contrib_work_on_it(tmp_path: Any) -> None:
    """`MaskableEvalCallback` against an opponent, while MaskablePPO learns against it."""
    game = make("othello")
    train, judge = (VecMonitor(BoardVecEnv(game, 16, opponent="random", seed=s)) for s in (1, 2))
    callback = MaskableEvalCallback(
        judge, n_eval_episodes=20, eval_freq=32, log_path=str(tmp_path), verbose=0
    )
    model = MaskablePPO("MlpPolicy", train, n_steps=32, batch_size=64, n_epochs=1, seed=0)
    model.learn(16 * 32 * 2, callback=callback)
    results = np.load(tmp_path / "evaluations.npz")["results"]
    assert results.shape[1] == 20
    assert set(np.unique(results)) <= {-1.0, 0.0, 1.0}


def test_maskable_ppo_takes_the_single_environment_as_it_is() -> None:
    """Its `action_masks` is found through Gymnasium's wrappers; no ActionMasker is needed."""
    env = gymnasium.make("boardenvs/Othello-v0", opponent="random")
    model = MaskablePPO("MlpPolicy", env, n_steps=64, batch_size=32, n_epochs=1, seed=0)
    model.learn(128)
    mean, _ = evaluate_policy(model, env, n_eval_episodes=3, warn=False)
    assert -1 <= cast(float, mean) <= 1
    masks = model.rollout_buffer.action_masks
    assert 0 < masks.mean() < 0.5, "the masks of the games, not those of ones"


@pytest.mark.parametrize("opponent", [None, "random"])
def test_games_that_go_on_do_not_write_into_a_snapshot(opponent: str | None) -> None:
    """Taken once, it restores the same games twice."""
    env = BoardVecEnv(make("othello"), 32, opponent=opponent, opening_plies=(0, 6), seed=1)
    env.reset()
    snapshot = env.snapshot()

    def go_on() -> list[bytes]:
        rng, record = np.random.default_rng(0), []
        env.restore(snapshot)
        for _ in range(70):
            observation, rewards, _, _ = env.step(env.game.sample(env.state, rng))
            record += [cast(Any, observation).tobytes(), rewards.tobytes()]
        env.reset()
        return record

    assert go_on() == go_on()
