"""What RLlib takes of us: environments against Gymnasium's and the rules, and returns by sides."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("ray.rllib", reason="RLlib is not installed here: make rllib")

import gymnasium as gym
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.env.single_agent_env_runner import SingleAgentEnvRunner
from ray.rllib.evaluation.postprocessing import Postprocessing
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from returns import FirstLegal, over, paid, played_on, results_of_movers

import boardenvs
from boardenvs.envs.advantages import advantages
from boardenvs.envs.batch import BoardGroup
from boardenvs.envs.rllib.environments import BoardMultiAgentEnv, MaskedVectorEnv
from boardenvs.envs.rllib.ppo import BoardPPOConfig
from boardenvs.envs.rllib.runner import BoardEnvRunner
from boardenvs.game.state import State, concat, where

CAPPED = "wolf_and_sheep:rules=described,max_plies=9"
CHECKERS = "boardenvs_checkers:Checkers"  # a turn may be several steps


# ---- environments --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("game", "opponent"), [("othello", None), ("lines_of_action", None), (CAPPED, "greedy")]
)
def test_the_masked_environment_is_vec_env_with_masks_in_what_it_shows(game, opponent) -> None:
    options = {"opponent": opponent, "opening_plies": (0, 5)}
    ours = MaskedVectorEnv({"game": game, "num_envs": 8, **options})
    other = boardenvs.vec_env(game, 8, autoreset_mode="NextStep", **options)
    observed, infos = ours.reset(seed=3)
    expected: Any
    expected, expected_infos = other.reset(seed=3)
    rng = np.random.default_rng(0)
    ended = 0
    for _ in range(130):
        assert infos == {}
        assert ours.observation_space.contains(observed)
        assert (observed["observations"] == expected.reshape(8, -1)).all()
        mask, legal = observed["action_mask"], expected_infos["action_mask"]
        going = legal.any(axis=1)
        assert (mask[going] == legal[going]).all()
        # A network must choose where a game is over, too: noop, which is then ignored.
        assert (mask[~going].nonzero()[1] == ours.game.noop).all()
        ended += (~going).sum()
        actions = (rng.random(mask.shape) * mask).argmax(axis=1)
        observed, *stepped, infos = ours.step(actions)
        expected, *expected_step, expected_infos = other.step(actions)
        for found, wanted in zip(stepped, expected_step, strict=True):
            assert (found == wanted).all()
    assert ended or game == "lines_of_action"


@pytest.mark.parametrize("game", ["othello", CAPPED])
def test_two_agents_play_by_the_rules(game) -> None:
    ours, other = BoardMultiAgentEnv({"game": game}), boardenvs.env(game, reward="zero_sum")
    rng = np.random.default_rng(0)
    for _ in range(5):
        other.reset()
        observed, _ = ours.reset()
        while True:
            mover, roles = other.position.to_move, other.possible_agents
            (seen,) = [observed.pop(mover)]
            assert not observed
            assert ours.observation_spaces[mover].contains(seen)
            expected = other.observe(roles[mover])
            assert (seen["observations"] == expected["observation"].ravel()).all()
            assert (seen["action_mask"] == expected["action_mask"]).all()
            action = int(rng.choice(np.flatnonzero(seen["action_mask"])))
            other.step(action)
            observed, rewards, terminated, truncated, _ = ours.step({mover: action})
            assert rewards == {i: other.rewards[role] for i, role in enumerate(roles)}
            assert terminated["__all__"] == any(other.terminations.values())
            assert truncated["__all__"] == any(other.truncations.values())
            if terminated["__all__"] or truncated["__all__"]:
                break
        assert observed == {}


def test_an_illegal_action_loses_and_unknown_settings_are_named() -> None:
    env = BoardMultiAgentEnv({"game": "othello"})
    env.reset()
    _, rewards, terminated, _, _ = env.step({0: 0})
    assert (rewards, terminated["__all__"]) == ({0: -1, 1: 1}, True)
    for kind in (MaskedVectorEnv, BoardMultiAgentEnv):
        with pytest.raises(TypeError, match="hole"):
            kind({"game": "othello", "hole": 1})


def test_rllibs_own_runner_and_masking_module_play_whole_games_of_legal_actions() -> None:
    options = {"game": "othello", "opponent": "greedy", "opening_plies": (30, 40)}
    config = (
        PPOConfig()
        .environment(MaskedVectorEnv, env_config=options)
        .env_runners(
            num_env_runners=0,
            num_envs_per_env_runner=4,
            gym_env_vectorize_mode=gym.VectorizeMode.VECTOR_ENTRY_POINT,
        )
        .rl_module(rl_module_spec=RLModuleSpec(module_class=ActionMaskingTorchRLModule))
    )
    episodes = SingleAgentEnvRunner(config=config).sample(num_episodes=6)
    assert len(episodes) == 6
    for episode in episodes:
        assert episode.is_terminated
        seen, actions = episode.get_observations(), episode.get_actions()
        assert all(seen["action_mask"][t, a] for t, a in enumerate(actions))
        rewards = episode.get_rewards()
        assert (rewards[:-1] == 0).all()
        assert rewards[-1] in (-1, 0, 1)


# ---- returns by sides ----------------------------------------------------------------------------


def beginning(game, seat, boards) -> State:
    """Boards where games begin for the learner on `seat`, None being both."""
    start: State = game.init(boards)
    if seat in (None, game.roles[0]):
        return start
    begun: State = game.step(start, game.legal(start).argmax(axis=1))
    return begun


@pytest.mark.parametrize("gamma", [1.0, 0.5])
@pytest.mark.parametrize("name", ["othello", "wolf_and_sheep", CAPPED, CHECKERS])
def test_targets_are_the_results_of_games_for_each_mover(name, gamma) -> None:
    """And where a game goes on, the value of its last state. The rules alone play the games again,
    on boards of all kinds side by side.
    """
    game, boards, steps = boardenvs.games.make(name), 6, 130
    seats = [None, *game.roles]
    groups = [BoardGroup(boards, seat and FirstLegal(), seat or "alternating") for seat in seats]
    config = BoardPPOConfig().boards(game, groups).network((16,)).debugging(seed=0)
    config.training(lambda_=1.0, gamma=gamma)
    runner = BoardEnvRunner(config=config, worker_index=0)
    fresh = concat([beginning(game, seat, boards) for seat in seats])
    replies = np.repeat([False, True, True], boards)
    sampled = runner.sample(num_timesteps=steps * len(replies))
    targets, actions = (
        sampled[what].reshape(steps, -1) for what in (Postprocessing.VALUE_TARGETS, Columns.ACTIONS)
    )
    state, movers, ends = fresh, [], []
    for step in range(steps):
        assert game.is_legal(state, actions[step]).all()
        movers.append(state.to_move)
        after = played_on(game, state, actions[step], replies)
        ends.append(paid(game, after))
        state = where(over(game, after), fresh, after)
    results = results_of_movers(movers, ends)
    assert (results[0] >= -1).all()  # on every board a game ended
    assert (results == -1).any()  # which a wrong sign would show
    # Discounts count steps: against an opponent those of the learner.
    left = np.zeros(results.shape, int)
    for step in range(steps - 2, -1, -1):
        left[step] = np.where(np.isnan(ends[step][:, 0]), left[step + 1] + 1, 0)
    _, values = runner._evaluate(runner.env.seen_by_network())
    signs = np.where(np.array(movers) == state.to_move, 1, -1)
    unfinished = values * signs * gamma ** (left + 1)
    expected = np.where(np.isnan(results), unfinished, results * gamma**left)
    assert targets == pytest.approx(expected, abs=1e-5)


def test_advantages_are_those_of_the_definition() -> None:
    rng = np.random.default_rng(0)
    steps, boards, decay = 30, 5, 0.8
    rewards, factors = rng.normal(size=(steps, boards)), rng.choice([-1.0, 1.0], (steps, boards))
    over_, values = rng.random((steps, boards)) < 0.2, rng.normal(size=(steps + 1, boards))
    found = advantages(rewards, over_, values, factors, decay)
    goes_on = np.where(over_, 0, factors)
    deltas = rewards + goes_on * values[1:] - values[:-1]
    for step in range(steps):
        weights = np.cumprod(np.vstack([np.ones(boards), decay * goes_on[step : steps - 1]]), 0)
        assert found[step] == pytest.approx((weights * deltas[step:]).sum(axis=0))


def test_a_runner_is_asked_for_steps_alone() -> None:
    config = BoardPPOConfig().boards("othello", 2).network((4,))
    with pytest.raises(NotImplementedError, match=r"plays as policy:PATH"):
        BoardEnvRunner(config=config, worker_index=0).sample(num_episodes=1)
