"""Training: settings, checkpoints, resuming, errors, and that it learns."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch as th
import yaml
from same import same

from boardenvs.agents import make_agent
from boardenvs.arena import play_match
from boardenvs.exams import take_exam
from boardenvs.games import make
from boardenvs.utils.files import written
from training import evaluation, ppo, report, run
from training.checkpoint import load_newest, save_checkpoint
from training.config import Config
from training.evaluation import Score, SuiteResult
from training.folder import WRITTEN
from training.settings import ConfigError, read_settings

th.set_num_threads(1)

ROOT = Path(__file__).parents[1]
CONFIGS = sorted((ROOT / "configs").glob("*.yaml"))
# Everything that a run can have in a few thousand steps: boards of all kinds, falling schedules.
TINY: dict[str, Any] = {
    "game": "othello",
    "steps": 6000,
    "checkpoint_every": 1,
    "self_play": {
        "boards": 32,
        "opening_plies": [0, 20],
        "opponents": {"alphabeta:depth=1": 0.25},
        "pool": {"share": 0.25, "every": 2000, "size": 2, "at_once": 2},
    },
    "ppo": {
        "hidden": [32],
        "steps_per_update": 32,
        "batch_size": 256,
        "final_learning_rate": 1e-4,
        "final_entropy_bonus": 0.001,
        "target_kl": 0.05,
    },
    "evaluation": {"every": 2000, "pairs": 4},
    "report": {"pairs": 6},
}


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A configuration of a second or two, in an empty working directory, without pictures, which
    take longer than the training.
    """
    monkeypatch.chdir(tmp_path)
    Path("tiny.yaml").write_text(yaml.safe_dump(TINY))
    for name in ("learning_curve", "rating_scale", "metrics_over_steps"):
        monkeypatch.setattr(report, name, lambda *_: b"")
    return "tiny.yaml"


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an uninterrupted run of the tiny configuration, with pictures."""
    folder = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        Path("tiny.yaml").write_text(yaml.safe_dump(TINY))
        assert ppo.main(["tiny.yaml"]) == 0
    return folder / "runs" / "tiny"


@pytest.fixture(scope="module")
def whole(finished: Path) -> dict[str, Any]:
    """How this run ended."""
    return end_of(finished)


def end_of(folder: str | Path) -> dict[str, Any]:
    """The weights, random states and results that a run ended with, without its times; a run in
    `runs/` by its name.
    """
    folder = Path("runs", folder)
    content = load_newest(folder / "checkpoints")[1]
    result = json.loads((folder / "result.json").read_text())
    model, metrics = content["learner"], content["history"]["metrics"]
    return {
        "weights": model["policy"],
        "optimizer": [list(s.values()) for s in model["optimizer"]["state"].values()],
        "rng": model["torch_rng"],
        "boards": model["env"]["state"],
        "pool": content["pool"]["digests"],
        "policy": (folder / "policy.npz").read_bytes(),
        "report": result["report"],
        "scores": [(e["steps"], e["scores"]) for e in result["evaluations"]],
        "metrics": [{k: v for k, v in f.items() if k[:5] != "speed"} for f in metrics],
    }


def kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def at_call(number: int, function: Callable[..., Any], then: Callable[[], None]) -> Any:
    """The function, but before its n-th call something else happens."""
    calls = 0

    def wrapped(*arguments: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == number:
            then()
        return function(*arguments, **named)

    return wrapped


# ---- settings ----------------------------------------------------------------------------------


@pytest.mark.parametrize("path", CONFIGS, ids=lambda p: p.stem)
def test_configurations_that_come_with_the_project_are_valid(path: Path) -> None:
    assert read_settings(Config, path).name == path.stem


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
        (
            f"steps={10**400}",
            "steps is 1000.*0000: .*less than or equal to 1000000000000000",
        ),
        (f"self_play.boards={10**400}", "self_play.boards is 1000.*less than or equal to 16777216"),
        ("ppo.learning_rate=.inf", "ppo.learning_rate is inf: .*finite"),
        ("evaluation.opening_plies=[0, 1001]", "less than or equal to 1000"),
        ("self_play.opening_plies=[9, 3]", r"opening_plies is \[9, 3\]: .*range"),
        ("evaluation.opponents=[greddy]", "evaluation.opponents: .*Did you mean 'greedy'"),
        ("evaluation.opponents=[random, random]", "named twice"),
        ("ppo.batch_size=100", "ppo.batch_size is 100: it must divide"),
        ("precision=half", "precision is 'half'"),
        ("self_play.opponents={greddy: 0.1}", "self_play.opponents: .*Did you mean 'greedy'"),
        ("self_play.opponents={greedy: 2}", "less than or equal to 1"),
        (
            "self_play.opponents={positional: 0.001}",
            "opponents.positional is 0.001: of 32 boards that is",
        ),
        (
            "self_play={threads: 2, opponents: {'python:random:Random': 0.5}}",
            "threads is 2, and 'python:random:Random' may take its chance",
        ),
        ("self_play.pool.share=0.8", "add up to more than 1"),
        ("self_play.learn=wolf", "unknown self_play.learn 'wolf'"),
        ("self_play.learn=black", "learn is 'black', and 16 of 32 boards have no opponent"),
        ("report.opponents=['alphabeta:depth=1']", "which self_play.opponents has too"),
        ("report.opponents=[perfect]", "report.opponents: 'perfect' cannot play othello"),
        ("name=../x", "name is '../x'"),
        ("steps.x=1", "steps is not a group"),
        ("steps", "write it as key=value"),
    ],
)
def test_wrong_settings_are_named(tiny: str, override: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        read_settings(Config, Path(tiny), [override])


def test_a_game_may_be_named_with_its_parameters(tiny: str) -> None:
    spec = "lines_of_action:rules=described,max_steps=12"
    config = read_settings(Config, Path(tiny), [f"game={spec}"])
    assert config.make_game() == make("lines_of_action", rules="described", max_steps=12)
    with pytest.raises(ConfigError, match="game is 'othello:hole=3': unknown parameter"):
        read_settings(Config, Path(tiny), ["game='othello:hole=3'"])


def test_openings_are_the_games_own_where_none_are_set(tiny: str) -> None:
    game, scores = make("wolf_and_sheep"), []
    low, high = game.opening_plies
    for plies in ("null", f"[{low}, {high}]", "[0, 1]"):
        changes = ["game=wolf_and_sheep", f"evaluation.opening_plies={plies}"]
        config = read_settings(Config, Path(tiny), changes)
        scores.append(evaluation.play_suite(game, make_agent("greedy"), config.evaluation, 0))
    assert scores[0] == scores[1] != scores[2]


def test_a_missing_setting_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("game: othello")
    with pytest.raises(ConfigError, match="steps is missing"):
        read_settings(Config, path)


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


# ---- runs --------------------------------------------------------------------------------------


def test_a_run_leaves_all_its_files_and_a_policy_that_loads(tiny: str, finished: Path) -> None:
    folder = finished
    found = {p.name for p in folder.iterdir()}
    assert found == {
        "config.yaml", "result.json", "report.md", "report.html", "metrics.csv", "policy.npz",
        "best_model.zip", "learning_curve.png", "ratings.png", "metrics.png", "checkpoints", "pool",
        "tensorboard",
    }  # fmt: skip
    files = {path for path in folder.rglob("*") if path.is_file()}
    assert files == set(written(folder, WRITTEN))  # what --overwrite removes
    result = json.loads((folder / "result.json").read_text())
    assert Config.model_validate(result["config"]) == read_settings(Config, Path(tiny))
    assert read_settings(Config, folder / "config.yaml") == read_settings(Config, Path(tiny))
    assert result["steps"] == 6144
    assert [e["steps"] for e in result["evaluations"]] == [0, 2048, 4096, 6144]
    worst = [min(s["score"] for s in e["scores"].values()) for e in result["evaluations"]]
    assert min(s["score"] for s in result["best"]["scores"].values()) == max(worst)
    for scores in result["report"]["scores"].values():
        for score in scores.values():
            assert score["wins"] + score["draws"] + score["losses"] == 12
            assert score["low"] <= score["score"] <= score["high"]
    assert result["report"]["ratings"]["random"]["rating"] == 0
    # The file holds the policy that was judged.
    for player, more in (("policy", ""), ("policy, shielded", ",shield=true")):
        agent = f"policy:{folder / 'policy.npz'}{more}"
        again = play_match(make("othello"), agent, "random", 6, seed=20_000)
        assert again.score == result["report"]["scores"][player]["random"]["score"]
    pictures = re.findall(r"\]\((.*?)\)", (folder / "report.md").read_text())
    assert len(pictures) == 3
    for picture in pictures:
        assert (folder / picture).read_bytes()[1:4] == b"PNG"


SHEEP_ALONE = (
    "self_play.learn=sheep", "self_play.pool.share=0.5", "self_play.opponents={perfect: 0.5}",
    "self_play.opening_plies=[0, 8]",
)  # fmt: skip


@pytest.mark.parametrize(
    ("rules", "more"), [("wolf_and_sheep", SHEEP_ALONE), ("lines_of_action", ())]
)
def test_other_games_train_and_play_and_one_role_alone(
    tiny: str, rules: str, more: tuple[str, ...]
) -> None:
    settings = (f"game={rules}", "steps=1000", "evaluation.opponents=[random]", *more)
    assert ppo.main([tiny, *(word for item in settings for word in ("--set", item))]) == 0
    game, rng = make(rules), np.random.default_rng(0)
    state = game.init(50)
    agent = make_agent("policy:runs/tiny/policy.npz,sample=true")
    for _ in range(70):
        actions = agent.act(game, state, rng)
        assert game.is_legal(state, actions)[~state.terminated].all()
        state = game.step(state, actions)
    judged = json.loads(Path("runs/tiny/result.json").read_text())["report"]
    assert ("sheep leaks" in judged["exact"]["policy"]) == (rules == "wolf_and_sheep")
    if rules == "wolf_and_sheep":  # where the exact solution says more than an exam
        assert judged["exam"] == {}
        metrics = load_newest(Path("runs/tiny/checkpoints"))[1]["history"]["metrics"]
        assert metrics[0].keys() >= {"games/perfect", "games/pool"}
    else:
        marked = take_exam(game, make_agent("policy:runs/tiny/policy.npz"))
        assert judged["exam"]["policy"][-1]["kept"] == marked.total.kept


def full(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_run_goes_on_while_the_disk_is_full(
    tiny: str,
    whole: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What a checkpoint would hold is in memory; it is written as soon as there is room."""
    save: Any = save_checkpoint
    for number in (2, 3):
        save = at_call(number, save, full)
    monkeypatch.setattr(run, "save_checkpoint", save)
    with monkeypatch.context() as patch:
        patch.setattr(report, "report_text", full)
        assert ppo.main([tiny]) == 1
    captured = capsys.readouterr()
    assert captured.out.count("warning: a checkpoint could not be written ([Errno 28]") == 2
    assert "python -m training.ppo tiny.yaml --resume" in captured.err
    assert ppo.main([tiny, "--resume"]) == 0
    assert same(end_of("tiny"), whole)


# ---- going on ----------------------------------------------------------------------------------


# Where a run is killed: what is about to be called for the n-th time.
MOMENTS: dict[str, tuple[Any, str, int]] = {
    "in an update": (ppo.PPORun, "_draw_opponents", 3),
    "in an evaluation": (evaluation, "examine", 3),
    "before a file takes its place": (os, "fsync", 9),
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_killed_run_goes_on_and_ends_like_an_uninterrupted_one(
    tiny: str, whole: dict[str, Any], monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    owner, name, number = MOMENTS[moment]
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, at_call(number, getattr(owner, name), kill))
        process = multiprocessing.get_context("fork").Process(target=ppo.main, args=([tiny],))
        process.start()
        process.join()
    assert process.exitcode == -signal.SIGKILL
    assert not Path("runs/tiny/result.json").exists()
    assert ppo.main([tiny, "--resume", "--set", "self_play.threads=2"]) == 0
    assert same(end_of("tiny"), whole)
    assert not list(Path("runs").rglob("*.tmp"))


def test_a_run_is_neither_overwritten_nor_resumed_by_mistake(
    tiny: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ppo.main([tiny, "--resume"]) == 2
    assert "unknown run to resume" in capsys.readouterr().err
    assert ppo.main([tiny, "--set", "steps=1000"]) == 0
    assert ppo.main([tiny]) == 2
    assert "--overwrite replaces it" in capsys.readouterr().err
    free = ["--set", "report.pairs=5", "--set", "self_play.threads=2"]
    changes = ["--set", "seed=9", "--set", "ppo.clip_range=0.3", *free]
    assert ppo.main([tiny, "--resume", *changes]) == 2
    message = capsys.readouterr().err
    assert "seed was 0 and is 9" in message
    assert "ppo.clip_range was 0.2 and is 0.3" in message
    assert "report" not in message, "which may change"
    assert "threads" not in message
    for path in Path("runs/tiny/checkpoints").iterdir():
        path.unlink()
    assert ppo.main([tiny, "--resume"]) == 2
    assert "runs/tiny/checkpoints is empty, though the run ended" in capsys.readouterr().err
    Path("runs/tiny/config.yaml").unlink()
    assert ppo.main([tiny, "--overwrite"]) == 2
    assert "not the folder of a run" in capsys.readouterr().err


def test_policies_are_ranked_by_their_worst_score() -> None:
    def result(*scores: float, **exact: float) -> SuiteResult:
        made = {
            str(i): Score(score=s, low=0, high=1, wins=0, draws=0, losses=0)
            for i, s in enumerate(scores)
        }
        return SuiteResult(steps=0, minutes=0, scores=made, exact=exact)

    assert result(0.8, 0.7).rank > result(1.0, 0.6).rank
    assert result(0.9, 0.6).rank > result(0.8, 0.6).rank
    # In a solved game: first no leaks, then the worst share.
    assert result(0.8, leaks=0, keeps=0.6).rank > result(0.9, leaks=1, keeps=0.9).rank
    assert result(0.8, leaks=0, keeps=0.7).rank > result(0.9, leaks=0, keeps=0.6).rank
    assert result(0.6, leaks=2, keeps=0.7).worst == 0.7
