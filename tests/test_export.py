"""A policy leaves torch unchanged: NumPy computes from its file what the trained network does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch as th

from boardenvs.agents.policy import PolicyAgent
from boardenvs.agents.policy_file import load_policy, save_policy
from boardenvs.game.openings import random_openings
from boardenvs.games import GAMES
from training.config import Config
from training.model import find_precision, make_env, make_model
from training.network import MaskedChoice
from training.policy import export_policy

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
    logits, values = export_policy(model.policy, env.game).forward(env.game.observe(state))
    with np.errstate(under="ignore"):
        logits -= np.log(np.where(legal, np.exp(logits), 0).sum(axis=1, keepdims=True))
    assert np.abs(logits - expected.log_probs.numpy())[legal].max() < 1e-3
    assert np.abs(values - worth).max() < 1e-3

    path = tmp_path / "policy.npz"  # in float16
    save_policy(export_policy(model.policy, env.game, {"steps": 2048}), path)
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
        monkeypatch.setattr("training.model.processor", lambda found=found: found)
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
