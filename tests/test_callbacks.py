"""Callbacks of Stable-Baselines3 beside a training: what they are told, and what they may do."""

from __future__ import annotations

import csv
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
import torch as th
import yaml
from rich.console import Console
from stable_baselines3.common.callbacks import BaseCallback

from training import ppo, report, trackers
from training.config import Config
from training.settings import ConfigError, read_settings

th.set_num_threads(1)
pytestmark = pytest.mark.usefixtures("in_python")

SETTINGS: dict[str, Any] = {
    "game": "othello",
    "steps": 700,
    "self_play": {"boards": 16, "pool": {"share": 0.25, "every": 250, "at_once": 1}},
    "ppo": {"hidden": [16], "steps_per_update": 16, "batch_size": 256},
    "evaluation": {"every": 500, "pairs": 2, "opponents": ["random"]},
    "report": {"pairs": 2, "opponents": ["random"]},
}
CODE = """
from training.trackers import Tracker

class Kept(Tracker):
    instances = []

    def __init__(self, label, stop_after=10**9):
        super().__init__()
        self.label, self.stop_after = label, stop_after
        self.settings, self.metrics, self.files = {}, [], []
        Kept.instances.append(self)

    def _on_step(self):
        return self.num_timesteps < self.stop_after

    def begin(self, settings):
        self.settings = settings

    def show(self, metrics, steps):
        self.metrics.append({"steps": steps, **metrics})

    def end(self, files):
        self.files = sorted(file.name for file in files)

def nothing():
    return None
"""


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A configuration of a second, in a folder with a module of callbacks, `mine`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    Path("mine.py").write_text(CODE)
    Path("tiny.yaml").write_text(yaml.safe_dump(SETTINGS))
    for name in ("learning_curve", "rating_scale", "metrics_over_steps"):
        monkeypatch.setattr(report, name, lambda *_: b"")
    return Path("tiny.yaml")


def kept() -> Any:
    import mine  # type: ignore[import-not-found]

    return mine.Kept.instances[-1]


def test_a_callback_gets_the_figures_and_files_of_the_run(settings: Path) -> None:
    named = "callbacks={'mine:Kept': {label: here}}"
    assert ppo.main([str(settings), "--set", named]) == 0
    told = kept()
    assert told.label == "here"
    assert told.settings == yaml.safe_load(Path("runs/tiny/config.yaml").read_text())
    assert told.files == ["config.yaml", "policy.npz", "report.html", "result.json"]

    rows = list(csv.DictReader(Path("runs/tiny/metrics.csv").read_text().splitlines()))
    assert [f["steps"] for f in told.metrics] == [0] + [int(row["steps"]) for row in rows]
    for row, metrics in zip(rows, told.metrics[1:], strict=True):
        for name, text in row.items():
            assert str(metrics[name]) == str(float(text)) or name == "steps", name
    evaluations = json.loads(Path("runs/tiny/result.json").read_text())["evaluations"]
    shown = [(f["steps"], f["evaluation/random"]) for f in told.metrics if "evaluation/worst" in f]
    assert shown == [(e["steps"], e["scores"]["random"]["score"]) for e in evaluations]


def test_a_callback_that_returns_false_ends_the_run_with_its_report(settings: Path) -> None:
    settings.write_text(yaml.safe_dump({**SETTINGS, "steps": 100_000}))
    named = "callbacks={'mine:Kept': {label: x, stop_after: 300}}"
    assert ppo.main([str(settings), "--set", named]) == 0
    result = json.loads(Path("runs/tiny/result.json").read_text())
    assert result["steps"] == 512, "the update in progress, of 256 steps, is finished"
    assert "result.json" in kept().files


class Interrupting(BaseCallback):
    """Sends what Ctrl-C does in the first step."""

    ended = False

    def _on_step(self) -> bool:
        if self.n_calls == 1:
            os.kill(os.getpid(), signal.SIGINT)
        return True

    def _on_training_end(self) -> None:
        self.ended = True


def test_training_from_python_with_callbacks(settings: Path) -> None:
    """Those given come beside those of the settings; an interruption is an end that they see."""
    config = read_settings(Config, settings, ["callbacks={'mine:Kept': {label: x}}"])
    given, quiet = Interrupting(), Console(quiet=True)
    assert not ppo.train(config, callbacks=[given], console=quiet)
    assert given.ended
    assert kept().files == ["config.yaml", "policy.npz"]
    assert ppo.train(config, resume=True, console=quiet)
    assert [f["steps"] for f in kept().metrics] == [512, 768]


@pytest.mark.parametrize(
    ("callbacks", "message"),
    [
        ({"mine:Keep": {}}, "unknown name in mine 'Keep'. Did you mean 'Kept'"),
        ({"nowhere:Kept": {}}, "cannot import 'nowhere'"),
        ({"mine": {}}, "'mine' names nothing in Python: write MODULE:NAME"),
        ({"mine:CODE": {}}, "unknown name in mine 'CODE'"),
        ({"mine:__name__": {}}, "it must be a class of callbacks, or a function"),
        ({"mine:Kept": {}}, r"missing a required argument: 'label': it takes \(label, stop_after"),
        ({"mine:Kept": {"lable": 1}}, "it takes"),
        (["mine:Kept"], "valid dictionary"),
    ],
)
def test_wrong_callbacks_are_named(settings: Path, callbacks: object, message: str) -> None:
    settings.write_text(yaml.safe_dump({**SETTINGS, "callbacks": callbacks}))
    with pytest.raises(ConfigError, match=message):
        read_settings(Config, settings, trust=True)


def test_what_is_made_must_be_a_callback(
    settings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ppo.main([str(settings), "--set", "callbacks={'mine:nothing': {}}"]) == 2
    assert "callback mine:nothing is None: it must be a BaseCallback" in capsys.readouterr().err


def test_names_are_those_that_mlflow_takes() -> None:
    assert trackers._allowed("games/mcts:rollouts=16") == "games/mcts:rollouts_16"
    flat = dict(trackers._flat({"ppo": {"hidden": [8], "epochs": 2}, "rules": {}}))
    assert flat == {"ppo.hidden": [8], "ppo.epochs": 2, "rules": {}}
