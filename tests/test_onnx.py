"""ONNX models of policies: onnxruntime computes from them what NumPy does from the policy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_policy import positions, random_policy

from boardenvs.agents.policy import Policy
from boardenvs.game.contract import Game

onnxruntime = pytest.importorskip("onnxruntime")


def session(path: Path) -> Any:
    return onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])


def outputs(path: Path, observation: Any, mask: Any) -> list[Any]:
    names = ["logits", "probabilities", "value"]
    found: list[Any] = session(path).run(
        names, {"observation": observation, "action_mask": mask.astype(np.int8)}
    )
    return found


def check(policy: Policy, path: Path) -> None:
    game = policy.game
    state = positions(game)
    legal = game.legal(state)
    logits, probabilities, values = outputs(path, game.observe(state), legal)
    expected, value = policy.evaluate(game, state)
    assert np.abs(probabilities - expected).max() < 1e-5
    assert np.abs(values - value).max() < 1e-5
    assert np.abs(logits - policy.forward(game.observe(state))[0])[legal].max() < 1e-4
    assert (logits[~legal] == np.finfo(np.float32).min).all()


def test_a_runtime_computes_what_the_policy_does(game: Game, tmp_path: Path) -> None:
    path = tmp_path / "policy.onnx"
    random_policy(game).to_onnx(path)
    check(random_policy(game), path)
    over = outputs(path, game.observe(game.init(3)), np.zeros((3, game.num_actions)))
    assert np.isfinite(over[1]).all()
