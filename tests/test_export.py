"""A policy leaves torch unchanged: NumPy computes from its file what the trained network does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch as th
from sb3_contrib import MaskablePPO
from stable_baselines3 import DQN, PPO

from boardenvs import games
from boardenvs.agents.export import policy_from_sb3
from boardenvs.agents.policy import PolicyAgent
from boardenvs.agents.policy_file import PolicyFileError, load_policy, save_policy
from boardenvs.agents.spec import make_agent
from boardenvs.envs.sb3 import BoardVecEnv
from boardenvs.game.openings import random_openings
from boardenvs.games import GAMES
from training.config import Config
from training.model import make_env, make_model
from training.network import MaskedChoice
from training.precision import find_precision

th.set_num_threads(1)


@pytest.mark.parametrize("game_id", GAMES)
def test_numpy_and_torch_agree(game_id: str, tmp_path: Path) -> None:
    config = Config.model_validate(
        {
            "name": "x",
            "game": game_id,
            "steps": 2048,
            "precision": "float32",
            "self_play": {"boards": 32, "opening_plies": [0, 10]},
            "ppo": {"hidden": [64, 48], "steps_per_update": 32, "batch_size": 256},
            "report": {"opponents": ["random"]},
        }
    )
    env = make_env(config)
    model = make_model(config, env)
    model.learn(config.steps)
    plies = (0, 14 if game_id == "wolf_and_sheep" else 40)
    state = random_openings(env.game, 1000, plies, np.random.default_rng(0))
    legal = env.game.legal(state)
    observation = th.as_tensor(env.game.observe(state).copy())
    with th.no_grad():
        expected = model.policy.get_distribution(observation, legal)
        worth = model.policy.predict_values(observation).flatten().numpy()
    assert isinstance(expected, MaskedChoice)
    logits, values = policy_from_sb3(model, env.game).forward(env.game.observe(state))
    with np.errstate(under="ignore"):
        logits -= np.log(np.where(legal, np.exp(logits), 0).sum(axis=1, keepdims=True))
    assert np.abs(logits - expected.log_probs.numpy())[legal].max() < 1e-3
    assert np.abs(values - worth).max() < 1e-3

    path = tmp_path / "policy.npz"  # in float16
    save_policy(policy_from_sb3(model, env.game, {"steps": 2048}), path)
    loaded = load_policy(path)
    assert loaded.notes == {"steps": 2048}
    chances, _ = loaded.evaluate(env.game, state)
    assert np.abs(chances - expected.probs.numpy()).max() < 5e-3
    chosen = PolicyAgent(loaded).act(env.game, state, np.random.default_rng(0))
    assert (chosen == expected.probs.numpy().argmax(axis=1)).mean() > 0.97


def test_precision_is_what_is_set_or_what_the_processor_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert find_precision("float32") == "float32"
    assert find_precision("bfloat16") == "bfloat16"
    for found, expected in (
        ({"avx512_bf16": True}, "bfloat16"),
        ({"amx_bf16": True}, "bfloat16"),
        ({"avx512_f": True}, "float32"),
        ({}, "float32"),
    ):
        monkeypatch.setattr("training.precision.processor", lambda found=found: found)
        assert find_precision("auto") == expected


def test_bfloat16_computes_about_the_same() -> None:
    values = {}
    for precision in ("float32", "bfloat16"):
        config = Config(name="x", game="othello", steps=1, precision=precision)
        env = make_env(config)
        model = make_model(config, env)
        observation = th.as_tensor(env.game.observe(env.game.init(1)).copy())
        with th.no_grad():
            features = model.policy.extract_features(observation)
        assert isinstance(features, th.Tensor)
        values[precision] = features.numpy()
    assert values["bfloat16"].dtype == np.float32
    difference = np.abs(values["float32"] - values["bfloat16"]).max()
    assert 0 < difference < 0.02 * np.abs(values["float32"]).max()


# ---- models of anyone's --------------------------------------------------------------------------

SHAPES: dict[str, dict[str, Any]] = {
    "as sb3 makes them": {},
    "of different widths": {"net_arch": {"pi": [48, 16], "vf": [32, 64]}},
    "of different depths": {
        "net_arch": {"pi": [40], "vf": [32, 24, 8]},
        "activation_fn": th.nn.ReLU,
    },
    "without layers": {"net_arch": []},
    "one layer": {"net_arch": [20], "activation_fn": th.nn.ReLU},
}


@pytest.mark.parametrize("algorithm", [MaskablePPO, PPO])
@pytest.mark.parametrize("shape", SHAPES)
def test_models_of_stable_baselines_leave_torch_too(
    tmp_path: Path, shape: str, algorithm: Any
) -> None:
    game = games.make("othello_holes")  # with a plane that is the same on all boards
    env = BoardVecEnv(game, 4, opening_plies=(0, 30), seed=1)
    model = algorithm("MlpPolicy", env, gamma=-1.0, policy_kwargs=SHAPES[shape], seed=3)
    with th.no_grad():  # as it comes its outputs are all nearly the same
        for values in model.policy.parameters():
            values.copy_(th.randn(values.shape, generator=th.Generator().manual_seed(1)) * 0.2)
    policy = policy_from_sb3(model, game, {"by": "me"})
    state = random_openings(game, 200, (0, 40), np.random.default_rng(0))
    observation = th.as_tensor(game.observe(state).copy())
    with th.no_grad():
        expected = model.policy.get_distribution(observation).distribution.logits.numpy()
        worth = model.policy.predict_values(observation).flatten().numpy()
    logits, found = policy.forward(game.observe(state))
    logits = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    assert np.abs(logits - expected).max() < 1e-3
    assert np.abs(found - worth).max() < 1e-3
    assert np.ptp(found) > 0.1  # no constant, which would agree by itself
    save_policy(policy, str(tmp_path / "mine.npz"))
    again = load_policy(tmp_path / "mine.npz")
    assert (again.activation, again.notes) == (policy.activation, {"by": "me"})
    assert np.abs(again.forward(game.observe(state))[1] - worth).max() < 0.05  # in float16
    make_agent(f"policy:{tmp_path / 'mine.npz'}").act(game, state, np.random.default_rng(0))


def test_what_cannot_be_exported_says_why(tmp_path: Path) -> None:
    game = games.make("othello")
    env = BoardVecEnv(game, 4, seed=1)
    with pytest.raises(TypeError, match="DQN has no mlp_extractor: it must be an algorithm of"):
        policy_from_sb3(DQN("MlpPolicy", env, buffer_size=10), game)
    deep = {"net_arch": {"pi": [8], "vf": [8, 8]}}
    with pytest.raises(ValueError, match="have 1 and 2 layers with tanh: with it they must have"):
        policy_from_sb3(MaskablePPO("MlpPolicy", env, policy_kwargs=deep), game)
    odd = {"activation_fn": th.nn.ELU}
    with pytest.raises(ValueError, match="there is a ELU: layers must be Linear, ReLU or Tanh"):
        policy_from_sb3(MaskablePPO("MlpPolicy", env, policy_kwargs=odd), game)
    with pytest.raises(
        ValueError, match="the model has 192 inputs: an observation of othello has 128"
    ):
        policy_from_sb3(MaskablePPO("MlpPolicy", BoardVecEnv(games.make("othello_holes"), 4)), game)
    path = tmp_path / "model.zip"
    MaskablePPO("MlpPolicy", env).save(path)
    with pytest.raises(PolicyFileError, match="is a model of Stable-Baselines3: load it and write"):
        load_policy(path)
