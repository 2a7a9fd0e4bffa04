"""The environments that RLlib takes, against those of Gymnasium and the rules."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("ray.rllib", reason="RLlib is not installed here: make rllib")

import gymnasium as gym
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.env.multi_agent_env_runner import MultiAgentEnvRunner
from ray.rllib.env.single_agent_env_runner import SingleAgentEnvRunner

import boardenvs
from boardenvs.envs.batch import Batch, BoardGroup
from boardenvs.envs.rllib.module import BoardModule
from boardenvs.envs.rllib.multi_agent import BoardMultiAgentEnv
from boardenvs.envs.rllib.vector import GroupedVectorEnv, MaskedVectorEnv

GAMES = ["othello", "lines_of_action", "wolf_and_sheep:rules=described,max_plies=12"]


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("opponent", [None, "greedy"])
def test_the_masked_environment_is_vec_env_with_masks_in_what_it_shows(game, opponent) -> None:
    options = {"opponent": opponent, "opening_plies": (0, 10)}
    ours = MaskedVectorEnv({"game": game, "num_envs": 8, **options})
    other = boardenvs.vec_env(game, 8, autoreset_mode="NextStep", **options)
    observed, infos = ours.reset(seed=3)
    expected, expected_infos = other.reset(seed=3)
    rng = np.random.default_rng(0)
    ended = 0
    for _ in range(150):
        assert infos == {}
        assert ours.observation_space.contains(observed)
        assert (observed["observations"] == expected).all()
        mask, legal = observed["action_mask"], expected_infos["action_mask"]
        over = ~legal.any(axis=1)
        assert (mask[~over] == legal[~over]).all()
        # A network must choose where a game is over, too: noop, which is then ignored.
        assert (mask[over].sum(axis=1) == 1).all()
        assert mask[over, ours.game.noop].all()
        ended += over.sum()
        actions = (rng.random(mask.shape) * mask).argmax(axis=1)
        observed, *stepped, infos = ours.step(actions)
        expected, *expected_step, expected_infos = other.step(actions)
        for found, wanted in zip(stepped, expected_step, strict=True):
            assert (found == wanted).all()
    assert ended


def test_groups_are_replaced_within_the_step() -> None:
    game = boardenvs.games.make("othello")
    env = GroupedVectorEnv(Batch(game, [BoardGroup(6), BoardGroup(4, "greedy")]))
    observed, _ = env.reset(seed=1)
    rng = np.random.default_rng(0)
    ended = 0
    for _ in range(80):
        assert env.observation_space.contains(observed)
        assert observed["action_mask"].any(axis=1).all()
        actions = (rng.random((10, 65)) * observed["action_mask"]).argmax(axis=1)
        observed, rewards, over, cut, _ = env.step(actions)
        assert not cut.any()
        assert (rewards[~over] == 0).all()
        begun = observed["observations"][over].sum(axis=(1, 2, 3))
        assert (begun <= 6).all()  # the discs of a game that begins, one ply played at most
        ended += over.sum()
    assert ended >= 10


@pytest.mark.parametrize("game", GAMES)
def test_two_agents_play_by_the_rules(game) -> None:
    env = BoardMultiAgentEnv({"game": game})
    rules = boardenvs.games.make(game)
    rng = np.random.default_rng(0)
    for _ in range(5):
        position = rules.start()
        observed, _ = env.reset()
        while True:
            assert list(observed) == [position.to_move]
            seen = observed[position.to_move]
            assert env.observation_spaces[position.to_move].contains(seen)
            legal = position.legal_actions()
            assert np.flatnonzero(seen["action_mask"]).tolist() == legal
            action = int(rng.choice(legal))
            observed, rewards, terminated, truncated, _ = env.step({position.to_move: action})
            position = position.step(action)
            if terminated["__all__"] or truncated["__all__"]:
                break
            assert rewards == {0: 0, 1: 0}
        assert observed == {}
        assert terminated["__all__"] == position.terminated
        assert truncated["__all__"] == position.is_truncated()
        first, second = position.result()
        assert rewards == {0: first / 50 - 1, 1: second / 50 - 1}


def test_an_illegal_action_loses() -> None:
    env = BoardMultiAgentEnv({"game": "othello"})
    env.reset()
    _, rewards, terminated, _, _ = env.step({0: 0})
    assert rewards == {0: -1, 1: 1}
    assert terminated["__all__"]


def test_unknown_settings_are_named() -> None:
    with pytest.raises(TypeError, match="hole"):
        MaskedVectorEnv({"game": "othello", "hole": 1})
    with pytest.raises(TypeError, match="hole"):
        BoardMultiAgentEnv({"game": "othello", "hole": 1})


def test_the_env_runner_of_rllib_plays_whole_games_of_legal_actions() -> None:
    config = (
        PPOConfig()
        .environment(MaskedVectorEnv, env_config={"game": "othello", "opening_plies": (30, 40)})
        .env_runners(
            num_env_runners=0,
            num_envs_per_env_runner=4,
            gym_env_vectorize_mode=gym.VectorizeMode.VECTOR_ENTRY_POINT,
        )
        .rl_module(rl_module_spec=RLModuleSpec(module_class=BoardModule))
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


def test_the_multi_agent_env_runner_of_rllib_plays() -> None:
    modules = {name: RLModuleSpec(module_class=BoardModule) for name in ("one", "other")}
    config = (
        PPOConfig()
        .environment(BoardMultiAgentEnv, env_config={"game": "othello"})
        .env_runners(num_env_runners=0)
        .multi_agent(
            policies=set(modules),
            policy_mapping_fn=lambda agent, episode, **kwargs: ("one", "other")[agent],
        )
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs=modules))
    )
    (episode,) = MultiAgentEnvRunner(config=config).sample(num_episodes=1)
    assert episode.is_terminated
    first, second = (episode.agent_episodes[agent].get_return() for agent in (0, 1))
    assert first == -second
    # Each lost or won by the rules, not by an illegal action.
    assert sum(len(one) for one in episode.agent_episodes.values()) > 40
