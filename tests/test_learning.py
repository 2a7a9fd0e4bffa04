"""That the recipe learns, and that its one special number is what makes it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch as th
import yaml

from boardenvs.envs import groups
from training import ppo

th.set_num_threads(1)

# Half a minute on one core. Neither opponent is met in training.
CONFIG = {
    "game": "othello",
    "steps": 1_000_000,
    "checkpoint_every": 10_000_000,
    "self_play": {"boards": 512, "opening_plies": [0, 40]},
    "ppo": {
        "hidden": [256, 256],
        "steps_per_update": 32,
        "batch_size": 1024,
        "learning_rate": 2e-3,
        "final_learning_rate": 2e-4,
        "gae_lambda": 0.9,
        "entropy_bonus": 0.06,
    },
    "evaluation": {"every": 250_000, "pairs": 200},
    "report": {"opponents": ["random", "greedy"], "pairs": 400},
}


def is_strong(folder: Path, monkeypatch: pytest.MonkeyPatch) -> bool:
    monkeypatch.chdir(folder)
    Path("short.yaml").write_text(yaml.safe_dump(CONFIG))
    assert ppo.main(["short.yaml"]) == 0
    result = json.loads(Path("runs/short/result.json").read_text())
    scores = result["report"]["scores"]["policy"]
    return bool(scores["random"]["score"] >= 0.93 and scores["greedy"]["score"] >= 0.85)


def test_a_minute_of_self_play_beats_random_and_greedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert is_strong(tmp_path, monkeypatch)


def test_with_the_usual_gamma_it_would_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the next state were the mover's own: the loser is taught that it has won."""
    monkeypatch.setattr(groups, "ZERO_SUM", 0.99)
    assert not is_strong(tmp_path, monkeypatch)
