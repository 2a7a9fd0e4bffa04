"""`BoardVecEnv` as SB3 and sb3-contrib want it; what it plays is shown elsewhere."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch as th
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.callbacks import MaskableEvalCallback
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.callbacks import EvalCallback
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.vec_env import VecMonitor, VecNormalize
from variants import GAMES

from boardenvs.arena import play_match
from boardenvs.envs.batch import BoardGroup
from boardenvs.envs.factory import single_env
from boardenvs.envs.sb3 import BoardVecEnv
from boardenvs.envs.sb3_ppo import SelfPlayPPO
from boardenvs.game.errors import IllegalActionError
from boardenvs.games import make
from boardenvs.render import to_rgb

th.set_num_threads(1)
SHORT: dict[str, Any] = {"n_steps": 8, "batch_size": 32, "n_epochs": 1, "seed": 0}


def test_it_trains_and_evaluates_with_the_tools_of_sb3(tmp_path: Path) -> None:
    train = VecMonitor(BoardVecEnv("reversi", 8, seed=0))
    judge = VecMonitor(BoardVecEnv(make("reversi"), 16, opponent="random", seed=2))
    assert is_masking_supported(train)
    assert get_action_masks(train).shape == (1, 8, 65)
    (some,) = train.env_method("action_masks", indices=[5, 2])
    assert np.array_equal(some, get_action_masks(train)[0][[5, 2]])
    callback = MaskableEvalCallback(
        judge, n_eval_episodes=10, eval_freq=64, log_path=str(tmp_path), verbose=0
    )
    model = SelfPlayPPO("MlpPolicy", train, n_steps=64, n_epochs=1, seed=0)
    with pytest.raises(TypeError, match=r"policy_from_sb3\(model, game\) makes a player of it"):
        play_match("reversi", model, "random", 1)
    model.learn(8 * 64, callback=callback)
    assert 50 < np.mean([game["l"] for game in model.ep_info_buffer or ()]) < 70
    results = np.load(tmp_path / "evaluations.npz")["results"]
    assert results.shape[1] == 10
    assert set(np.unique(results)) <= {-1.0, 0.0, 1.0}


def test_self_play_takes_the_sign_also_after_load_and_set_env(tmp_path: Path) -> None:
    """Or it would be reported, as below; what is made of it is in `test_selfplay.py`."""
    model = SelfPlayPPO("MlpPolicy", VecMonitor(BoardVecEnv("checkers", 8, seed=1)), **SHORT)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.learn(128)
        model.save(tmp_path / "model")
        other = SelfPlayPPO.load(tmp_path / "model")
        other.set_env(BoardVecEnv("checkers", 8, seed=2))
        other.learn(128)


@pytest.mark.parametrize(
    ("game", "opponent", "read", "reported"),
    [
        ("reversi", None, False, True),
        ("reversi", None, True, False),
        ("reversi", "random", False, False),
        ("checkers", None, False, True),
        ("checkers", None, True, True),  # where they change with every step
        ("checkers", "random", False, False),
    ],
)
def test_self_play_without_the_sign_is_reported_once(
    game: str, opponent: str | None, read: bool, reported: bool
) -> None:
    env = BoardVecEnv(game, 4, opponent=opponent, seed=1)
    assert not read or len(env.discounts) == 4
    model = MaskablePPO("MlpPolicy", env, **SHORT)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        for _ in range(2):
            model.learn(64)
    messages = [str(warning.message) for warning in found]
    assert len(messages) == reported, messages
    assert all("sb3_ppo.SelfPlayPPO takes them" in message for message in messages)


def test_self_play_refuses_what_would_learn_wrongly(tmp_path: Path) -> None:
    env = BoardVecEnv("reversi", 4)
    model = SelfPlayPPO("MlpPolicy", env)
    model.save(tmp_path / "model")
    normalized = VecNormalize(env)
    for wrong, error, message in (
        (lambda: SelfPlayPPO("MlpPolicy", env, gamma=-1.0), ValueError, "gamma is -1.0: it must"),
        (lambda: SelfPlayPPO.load(tmp_path / "model", gamma=0.0), ValueError, "gamma is 0.0"),
        (lambda: SelfPlayPPO("MlpPolicy", normalized), ValueError, "VecNormalize: leave it out"),
        (lambda: model.set_env(normalized), ValueError, "VecNormalize: leave it out"),
        (lambda: SelfPlayPPO("MlpPolicy", "boardenvs/Reversi-v0"), TypeError, "take MaskablePPO"),
    ):
        with pytest.raises(error, match=message):
            wrong()


def test_what_asks_for_no_masks_is_told_what_does() -> None:
    env = BoardVecEnv("reversi", 4, opponent="random")
    model = SelfPlayPPO("MlpPolicy", BoardVecEnv("reversi", 4), **SHORT)
    judge = EvalCallback(env, eval_freq=1, warn=False)
    for learn in (
        lambda: PPO("MlpPolicy", env).learn(1000),
        lambda: DQN("MlpPolicy", env, buffer_size=10).learn(1000),
        lambda: model.learn(100, judge),
    ):
        with pytest.raises(IllegalActionError, match=r"MaskableEvalCallback.*gymnasium\.make"):
            learn()
    wrong = BoardVecEnv("reversi", 4, seat="black", opponent=lambda game, state, rng: 0 * state.ply)
    wrong.reset()
    with pytest.raises(IllegalActionError, match="the opponent") as error:
        wrong.step(wrong.action_masks().argmax(axis=1))
    assert "Maskable" not in str(error.value)


def test_infos_may_be_written_to() -> None:
    """As wrappers of rewards do; it shows nowhere else, and is gone with the next step."""
    env, other = BoardVecEnv("reversi", 2), BoardVecEnv("reversi", 2, opponent="random")
    for boards in (env, other, env):
        boards.reset()
        infos = boards.step(boards.action_masks().argmax(axis=1))[3]
        assert infos == [{}, {}]
        infos[0]["mine"] = 1
        assert infos[1] == {}


def test_seeds_are_for_the_next_games_alone() -> None:
    env = BoardVecEnv("tictactoe", 20, opening_plies=(0, 4))
    env.seed(3)
    first, other = env.reset(), env.reset()
    env.seed(3)
    assert np.array_equal(first, env.reset())
    assert not np.array_equal(first, other)
    with pytest.raises(ValueError, match="have none"):
        env.set_options({"opening_plies": (0, 9)})


def test_pictures_are_of_the_first_boards() -> None:
    options: Any = {"opening_plies": (0, 4), "symmetries": True, "render_mode": "rgb_array"}
    env = BoardVecEnv("tictactoe", 20, seed=1, **options)  # whose last is seen turned
    picture = VecMonitor(env).render()
    last = to_rgb(env.game, env.game.positions(env.state)[15], unit=32)
    height, width, _ = last.shape
    assert picture is not None
    assert picture.shape == (4 * height, 4 * width, 3)
    np.testing.assert_array_equal(picture[-height:, -width:], last)
    assert env.metadata["render_fps"] == 2
    with pytest.raises(ValueError, match="unknown render_mode 'human'"):
        BoardVecEnv("tictactoe", 20, render_mode="human")  # type: ignore[arg-type]


def test_maskable_ppo_takes_the_single_environment_as_it_is() -> None:
    """Its `action_masks` is found through Gymnasium's wrappers; no ActionMasker is needed."""
    env = gymnasium.make("boardenvs/Othello-v0", opponent="random")
    model = MaskablePPO("MlpPolicy", env, n_steps=64, batch_size=32, n_epochs=1, seed=0)
    model.learn(64)
    masks = model.rollout_buffer.action_masks
    assert 0 < masks.mean() < 0.5, "the masks of the games, not those of ones"


@pytest.mark.parametrize("game_id", GAMES)
def test_sb3_accepts_the_single_environment(game_id: str) -> None:
    """Without its warnings, which take planes for pixels."""
    for given in (False, True):
        env = single_env(game_id, mask_in_observation=given)
        check_env(env, warn=False, skip_render_check=True)


OVER = make("othello").init(1)._replace(terminated=np.array([True]))


@pytest.mark.parametrize(
    ("num_envs", "options", "message"),
    [
        (2, {"starts": OVER}, "starts must hold"),
        (None, {}, "give num_envs or groups"),
        (2, {"groups": [BoardGroup(2)]}, "leave out the others"),
    ],
)
def test_wrong_arguments_are_refused(num_envs: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        BoardVecEnv(make("othello"), num_envs, **options)
