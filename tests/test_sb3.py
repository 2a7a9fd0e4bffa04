"""`BoardVecEnv` as SB3 and sb3-contrib want it; what it plays is shown elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch as th
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.callbacks import MaskableEvalCallback
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.vec_env import VecMonitor
from variants import GAMES

from boardenvs.envs.batch import BoardGroup
from boardenvs.envs.factory import single_env
from boardenvs.envs.sb3 import BoardVecEnv
from boardenvs.games import make

th.set_num_threads(1)


def test_it_trains_and_evaluates_with_the_tools_of_sb3(tmp_path: Path) -> None:
    train = VecMonitor(BoardVecEnv("reversi", 8, seed=0))
    judge = VecMonitor(BoardVecEnv(make("reversi"), 16, opponent="random", seed=2))
    assert is_masking_supported(train)
    assert get_action_masks(train).shape == (1, 8, 65)
    callback = MaskableEvalCallback(
        judge, n_eval_episodes=10, eval_freq=64, log_path=str(tmp_path), verbose=0
    )
    model = MaskablePPO("MlpPolicy", train, gamma=-1.0, n_steps=64, n_epochs=1, seed=0)
    model.learn(8 * 64, callback=callback)
    assert 50 < np.mean([game["l"] for game in model.ep_info_buffer or ()]) < 70
    results = np.load(tmp_path / "evaluations.npz")["results"]
    assert results.shape[1] == 10
    assert set(np.unique(results)) <= {-1.0, 0.0, 1.0}


def test_maskable_ppo_takes_the_single_environment_as_it_is() -> None:
    """Its `action_masks` is found through Gymnasium's wrappers; no ActionMasker is needed."""
    env = gymnasium.make("boardenvs/Othello-v0", opponent="random")
    model = MaskablePPO("MlpPolicy", env, n_steps=64, batch_size=32, n_epochs=1, seed=0)
    model.learn(64)
    masks = model.rollout_buffer.action_masks
    assert 0 < masks.mean() < 0.5, "the masks of the games, not those of ones"


@pytest.mark.parametrize("game_id", GAMES)
@pytest.mark.usefixtures("in_python")
def test_sb3_accepts_the_single_environment(game_id: str) -> None:
    """Without its warnings, which take planes for pixels."""
    for given in (False, True):
        env = single_env(game_id, mask_in_observation=given)
        check_env(env, warn=False, skip_render_check=True)


OVER = make("othello").init(1)._replace(terminated=np.array([True]))


@pytest.mark.parametrize(
    ("num_envs", "options", "message"),
    [
        (0, {}, "num_envs is 0"),
        (2, {"starts": OVER}, "starts must hold"),
        (None, {}, "give num_envs or groups"),
        (2, {"groups": [BoardGroup(2)]}, "leave out the others"),
    ],
)
def test_wrong_arguments_are_refused(num_envs: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        BoardVecEnv(make("othello"), num_envs, **options)


def test_reset_options_are_refused() -> None:
    env = BoardVecEnv("othello", 2)
    env.set_options()
    with pytest.raises(ValueError, match=r"options are {'position': 'x'}: the games"):
        env.set_options({"position": "x"})
