"""Training: settings, checkpoints, resuming, errors, and that it learns."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch as th
import yaml

from boardenvs.agents import RandomAgent
from boardenvs.arena import play_match
from boardenvs.games import make
from training import ppo
from training.checkpoint import (
    CheckpointError,
    load_checkpoint,
    load_newest,
    save_checkpoint,
    to_arrays,
    to_tensors,
)
from training.config import Config, ConfigError, read_config
from training.evaluation import PanelResult, Score
from training.policy import PolicyAgent, load_policy

th.set_num_threads(1)

ROOT = Path(__file__).parents[1]
CONFIGS = sorted((ROOT / "configs").glob("*.yaml"))
TINY = {
    "game": "othello",
    "steps": 6000,
    "checkpoint_every": 1,
    "self_play": {"boards": 32, "random_plies": [0, 20]},
    "ppo": {"hidden": [32], "steps_per_update": 32, "batch_size": 256},
    "evaluation": {"every": 2000, "pairs": 4, "final_pairs": 6},
}


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A configuration of a few seconds, in an empty working directory."""
    monkeypatch.chdir(tmp_path)
    Path("tiny.yaml").write_text(yaml.safe_dump(TINY))
    return "tiny.yaml"


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "training.ppo", *arguments]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments), env=environment(), capture_output=True, text=True, check=False
    )


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200"}


def final_state(name: str) -> dict[str, th.Tensor]:
    content = load_newest(Path("runs", name, "checkpoints"))[1]
    return {**content["model"]["policy"], "rng": content["model"]["torch_rng"]}


def same(a: dict[str, th.Tensor], b: dict[str, th.Tensor]) -> bool:
    return a.keys() == b.keys() and all(th.equal(a[key], b[key]) for key in a)


# ---- settings ----------------------------------------------------------------------------------


@pytest.mark.parametrize("path", CONFIGS, ids=lambda p: p.stem)
def test_configurations_that_come_with_the_project_are_valid(path: Path) -> None:
    assert read_config(path).name == path.stem


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("ppo.learning_rat=1", "ppo.learning_rat: unknown setting.*Did you mean 'learning_rate'"),
        ("gam=othello", "gam: unknown setting 'gam'. Did you mean 'game'"),
        ("game=otello", "game is 'otello': unknown game 'otello'. Did you mean 'othello'"),
        ("rules={hole: 3}", "unknown parameter of othello 'hole'. Did you mean 'holes'"),
        ("ppo.epochs=many", "ppo.epochs is 'many': .*valid integer"),
        ("ppo.gae_lambda=1.5", "ppo.gae_lambda is 1.5: .*less than or equal to 1"),
        ("steps=0", "steps is 0: .*greater than 0"),
        ("self_play.random_plies=[9, 3]", r"random_plies is \[9, 3\]: .*range"),
        ("evaluation.opponents=[greddy]", "Did you mean 'greedy'"),
        ("ppo.batch_size=100", "ppo.batch_size is 100: it must divide"),
        ("name=../x", "name is '../x'"),
        ("steps.x=1", "steps is no group"),
        ("steps", "write it as key=value"),
    ],
)
def test_wrong_settings_are_named(tiny: str, override: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        read_config(Path(tiny), [override])


def test_a_missing_setting_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("game: othello")
    with pytest.raises(ConfigError, match="steps is missing"):
        read_config(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [("game: [othello", "is not YAML"), ("othello", "holds no settings"), (None, "Did you mean")],
)
def test_a_bad_file_ends_with_code_2(
    tiny: str, capsys: pytest.CaptureFixture[str], text: str | None, message: str
) -> None:
    if text is not None:
        Path("tinny.yaml").write_text(text)
    assert ppo.main(["tinny.yaml"]) == 2
    assert message in capsys.readouterr().err


def test_the_command_tells_errors_without_a_traceback(tiny: str) -> None:
    result = run(tiny, "--set", "ppo.epoch=3")
    assert result.returncode == 2
    assert "Did you mean 'epochs'" in result.stderr
    assert "Traceback" not in result.stderr + result.stdout


# ---- checkpoints -------------------------------------------------------------------------------


def test_a_checkpoint_keeps_arrays_of_every_type(tmp_path: Path) -> None:
    content = {
        "words": np.array([1, 2**64 - 1], np.uint64),
        "nested": ({"flags": np.array([True])}, [np.array([1], np.int8), 3, "x", None, 2**100]),
    }
    path = save_checkpoint(tmp_path, 5, to_tensors(content))
    loaded = to_arrays(load_checkpoint(path))
    assert loaded["words"].dtype == np.uint64
    assert loaded["words"].tolist() == [1, 2**64 - 1]
    assert loaded["nested"][1][4] == 2**100
    assert loaded["nested"][0]["flags"].dtype == bool


def test_the_last_two_checkpoints_are_kept_and_nothing_else(tmp_path: Path) -> None:
    for steps in (1, 20, 300):
        save_checkpoint(tmp_path, steps, {"steps": steps})
    assert [p.name for p in sorted(tmp_path.iterdir())] == [
        "000000000020.ckpt",
        "000000000300.ckpt",
    ]


@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "foreign"])
def test_a_damaged_checkpoint_is_named_and_the_one_before_it_taken(
    tmp_path: Path, damage: str
) -> None:
    save_checkpoint(tmp_path, 1, {"steps": 1})
    path = save_checkpoint(tmp_path, 2, {"steps": 2})
    data = path.read_bytes()
    flipped = data[:-30] + bytes([data[-30] ^ 1]) + data[-29:]
    path.write_bytes(
        {"cut": data[:-10], "flip": flipped, "empty": b"", "foreign": b"PK" + data}[damage]
    )
    with pytest.raises(CheckpointError, match=path.name):
        load_checkpoint(path)
    _, content, problems = load_newest(tmp_path)
    assert content == {"steps": 1}
    assert path.name in problems[0]


def test_no_whole_checkpoint_is_an_error_that_names_the_files(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="no checkpoint in"):
        load_newest(tmp_path)
    path = save_checkpoint(tmp_path, 2, {})
    path.write_bytes(b"x")
    with pytest.raises(CheckpointError, match=path.name):
        load_newest(tmp_path)


# ---- runs --------------------------------------------------------------------------------------


def test_a_run_leaves_all_its_files_and_a_policy_that_loads(tiny: str) -> None:
    assert ppo.main([tiny]) == 0
    folder = Path("runs/tiny")
    found = {p.name for p in folder.iterdir()}
    assert found == {
        "config.yaml", "result.json", "best_model.zip", "learning_curve.png", "checkpoints",
        "tensorboard",
    }  # fmt: skip
    result = json.loads((folder / "result.json").read_text())
    assert Config.model_validate(result["config"]) == read_config(Path(tiny))
    assert read_config(folder / "config.yaml") == read_config(Path(tiny))
    assert result["steps"] == 6144
    assert [e["steps"] for e in result["evaluations"]] == [0, 2048, 4096, 6144]
    worst = [min(s["score"] for s in e["scores"].values()) for e in result["evaluations"]]
    assert min(s["score"] for s in result["best"]["scores"].values()) == max(worst)
    for score in result["final"].values():
        assert score["wins"] + score["draws"] + score["losses"] == 12
        assert score["low"] <= score["score"] <= score["high"]
    # The file holds the policy that was judged.
    again = play_match(
        make("othello"), load_policy(folder / "best_model.zip"), RandomAgent(), 6, seed=20_000
    )
    assert again.score == result["final"]["random"]["score"]


def test_the_seed_determines_the_run(tiny: str) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        assert ppo.main([tiny, "--set", f"name={name}", "--set", f"seed={seed}"]) == 0
    assert same(final_state("a"), final_state("b"))
    assert not same(final_state("a"), final_state("c"))


def test_a_resumed_run_ends_like_an_uninterrupted_one(tiny: str) -> None:
    assert ppo.main([tiny, "--set", "name=whole"]) == 0
    assert ppo.main([tiny, "--set", "name=parts", "--set", "steps=2000"]) == 0
    assert ppo.main([tiny, "--set", "name=parts", "--resume"]) == 0
    assert same(final_state("whole"), final_state("parts"))
    whole, parts = (
        json.loads(Path("runs", n, "result.json").read_text()) for n in ("whole", "parts")
    )
    assert whole["final"] == parts["final"]
    scores = [[e["scores"] for e in r["evaluations"]] for r in (whole, parts)]
    assert scores[0] == scores[1]


def wait_for_checkpoint(process: subprocess.Popen[str], folder: Path, newer_than: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        if any(int(p.stem) > newer_than for p in folder.glob("*.ckpt")):
            return
        time.sleep(0.02)
    raise AssertionError("no checkpoint was written")


@pytest.mark.parametrize("signal_sent", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_or_killed_run_can_go_on(tiny: str, signal_sent: signal.Signals) -> None:
    long = ("--set", "steps=100000", "--set", "evaluation.every=100000")
    process = subprocess.Popen(command(tiny, *long), env=environment(), text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)  # fmt: skip
    wait_for_checkpoint(process, Path("runs/tiny/checkpoints"), 0)
    process.send_signal(signal_sent)
    output = process.communicate(timeout=60)[0]
    assert "Traceback" not in output
    if signal_sent == signal.SIGINT:
        assert process.returncode == 130
        assert "go on with: python -m training.ppo tiny.yaml --resume --set steps=100000" in output
    reached = load_newest(Path("runs/tiny/checkpoints"))[1]["model"]["steps"]
    shorter = f"steps={reached + 3000}"
    result = run(tiny, "--resume", "--set", shorter, "--set", "evaluation.every=100000")
    assert result.returncode == 0, result.stdout + result.stderr
    after = json.loads(Path("runs/tiny/result.json").read_text())
    assert reached < after["steps"] < reached + 6000
    uninterrupted = ("--set", "name=u", "--set", shorter, "--set", "evaluation.every=100000")
    assert ppo.main([tiny, *uninterrupted]) == 0
    assert same(final_state("u"), final_state("tiny"))


def test_a_damaged_checkpoint_is_passed_over_with_a_warning(
    tiny: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ppo.main([tiny]) == 0
    expected = final_state("tiny")
    newest = max(Path("runs/tiny/checkpoints").glob("*.ckpt"))
    newest.write_bytes(newest.read_bytes()[:1000])
    assert ppo.main([tiny, "--resume"]) == 0
    assert f"warning: checkpoint {newest} is damaged" in capsys.readouterr().out
    assert same(final_state("tiny"), expected)


def test_a_run_is_neither_overwritten_nor_resumed_by_mistake(
    tiny: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ppo.main([tiny, "--resume"]) == 2
    assert "unknown run to resume" in capsys.readouterr().err
    assert ppo.main([tiny, "--set", "steps=1000"]) == 0
    assert ppo.main([tiny]) == 2
    assert "--overwrite replaces it" in capsys.readouterr().err
    assert ppo.main([tiny, "--resume", "--set", "seed=9"]) == 2
    assert "seed was 0 and is 9" in capsys.readouterr().err
    for path in Path("runs/tiny/checkpoints").iterdir():
        path.unlink()
    assert ppo.main([tiny, "--resume"]) == 2
    assert "no checkpoint in runs/tiny/checkpoints" in capsys.readouterr().err
    assert ppo.main([tiny, "--overwrite", "--set", "steps=1000"]) == 0
    Path("runs/tiny/config.yaml").unlink()
    assert ppo.main([tiny, "--overwrite"]) == 2
    assert "no folder of a run" in capsys.readouterr().err


def test_the_clock_can_end_a_run(tiny: str) -> None:
    assert ppo.main([tiny, "--set", "steps=10000000", "--set", "minutes=0.02"]) == 0
    result = json.loads(Path("runs/tiny/result.json").read_text())
    assert 0 < result["steps"] < 200_000


def test_policies_are_ranked_by_their_worst_score() -> None:
    def result(*scores: float) -> PanelResult:
        made = {
            str(i): Score(score=s, low=0, high=1, wins=0, draws=0, losses=0)
            for i, s in enumerate(scores)
        }
        return PanelResult(steps=0, minutes=0, scores=made)

    assert result(0.8, 0.7).worst > result(1.0, 0.6).worst
    assert result(0.9, 0.6).worst > result(0.8, 0.6).worst


@pytest.mark.parametrize("game_id", ["othello", "wolf_and_sheep", "lines_of_action"])
def test_it_plays_every_game_legally_greedy_or_sampled(tiny: str, game_id: str) -> None:
    small = ["--set", f"game={game_id}", "--set", "steps=1000", "--set", "self_play.boards=8"]
    assert ppo.main([tiny, *small]) == 0
    game, rng = make(game_id), np.random.default_rng(0)
    agent = load_policy("runs/tiny/best_model.zip")
    for player in (agent, PolicyAgent(agent.policy, sample=True)):
        state = game.init(50)
        for _ in range(70):
            actions = player.act(game, state, rng)
            assert game.is_legal(state, actions)[~state.terminated].all()
            assert (actions[state.terminated] == game.noop).all()
            state = game.step(state, actions)


def test_a_short_training_clearly_beats_random(tiny: str) -> None:
    settings = [
        "steps=160000", "checkpoint_every=1000000", "self_play.boards=128",
        "self_play.random_plies=[0, 40]", "ppo.hidden=[128]", "ppo.gae_lambda=0.8",
        "ppo.learning_rate=2e-3", "ppo.batch_size=512", "evaluation.every=80000",
        "evaluation.pairs=50", "evaluation.final_pairs=150",
    ]  # fmt: skip
    assert ppo.main([tiny, *(word for item in settings for word in ("--set", item))]) == 0
    final = json.loads(Path("runs/tiny/result.json").read_text())["final"]
    assert final["random"]["low"] > 0.75
