"""Trainings that learn: our own, README's, by Stable-Baselines3. Some minutes: `make learning`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch as th
import yaml
from examples import half_as_long, readme_examples, run_example

from training import ppo

th.set_num_threads(1)

PPO = {
    "steps_per_update": 32,
    "batch_size": 1024,
    "learning_rate": 2e-3,
    "final_learning_rate": 2e-4,
    "gae_lambda": 0.9,
}
# Some seconds on one core. Neither opponent is met in training.
OTHELLO: dict[str, Any] = {
    "game": "othello",
    "steps": 250_000,
    "checkpoint_every": 10_000_000,
    "self_play": {"boards": 512, "opening_plies": [0, 40]},
    "network": {"hidden": [256, 256]},
    "ppo": {**PPO, "entropy_bonus": 0.06},
    "evaluation": {"every": 250_000, "pairs": 20},
    "report": {"opponents": ["random", "greedy"], "pairs": 150},
}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def scores(config: dict[str, Any], main: Callable[[list[str]], int] = ppo.main) -> list[float]:
    """Against random and against greedy, of what is trained so in this folder."""
    Path("short.yaml").write_text(yaml.safe_dump(config))
    assert main(["short.yaml", "--trust"]) == 0
    found = json.loads(Path("runs/short/result.json").read_text())["report"]["scores"]["policy"]
    return [found[name]["score"] for name in ("random", "greedy")]


def test_some_seconds_of_self_play_beats_random_and_greedy() -> None:
    random, greedy = scores(OTHELLO)
    assert random >= 0.75
    assert greedy >= 0.75


def test_the_training_in_the_readme_beats_the_opponent_that_it_names(tmp_path: Path) -> None:
    (example,) = (e for e in readme_examples() if "learn(" in e.text)
    shorter = example._replace(text=half_as_long(example.text))
    shown = run_example(shorter, tmp_path, readme=True)
    score = re.search(r"^(\d\.\d{3}) \[\d\.\d{3}, \d\.\d{3}\] \(", shown, re.MULTILINE)
    assert score is not None
    assert float(score[1]) > 0.65
