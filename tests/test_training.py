"""Training: settings, checkpoints, resuming, errors, and that it learns."""

from __future__ import annotations

import csv
import errno
import json
import multiprocessing
import os
import shlex
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch as th
import yaml
from rich.console import Console
from same import same
from stable_baselines3.common.callbacks import BaseCallback

from boardenvs.agents import make_agent
from boardenvs.arena import play_match
from boardenvs.exams import take_exam
from boardenvs.games import make
from boardenvs.kernel import set_backend
from boardenvs.utils.files import written
from training import evaluation, exact, ppo, report, trackers
from training.checkpoint import load_newest
from training.command import read_settings
from training.config import Config
from training.evaluation import Score, SuiteResult
from training.folder import WRITTEN
from training.settings import ConfigError

th.set_num_threads(1)
pytestmark = pytest.mark.usefixtures("in_python")

# Everything that a run can have in a few updates: boards of all kinds, falling schedules.
TINY: dict[str, Any] = {
    "game": "othello",
    "steps": 2000,
    "checkpoint_every": 1,
    "self_play": {
        "boards": 16,
        "opening_plies": [0, 20],
        "opponents": {"greedy": 0.25},
        "pool": {"share": 0.25, "every": 1000, "size": 2, "at_once": 2},
    },
    "ppo": {
        "hidden": [32],
        "steps_per_update": 32,
        "batch_size": 256,
        "final_learning_rate": 1e-4,
        "final_entropy_bonus": 0.001,
        "target_kl": 0.05,
    },
    "evaluation": {"every": 1000, "pairs": 2},
    "report": {"pairs": 2, "opponents": ["random"]},
}


WHOLE = "callbacks={'mine:Kept': {label: whole}}"
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


def prepare(folder: Path, patch: pytest.MonkeyPatch) -> str:
    """A configuration of a second, in a working directory with a module of callbacks, `mine`;
    without pictures, which take longer than the training.
    """
    patch.chdir(folder)
    patch.syspath_prepend(str(folder))
    Path("mine.py").write_text(CODE)
    Path("tiny.yaml").write_text(yaml.safe_dump(TINY))
    for name in ("learning_curve", "rating_scale", "metrics_over_steps"):
        patch.setattr(report, name, lambda *_: b"")
    return "tiny.yaml"


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    return prepare(tmp_path, monkeypatch)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an uninterrupted run of the tiny configuration."""
    folder = tmp_path_factory.mktemp("whole")
    set_backend("numpy")
    with pytest.MonkeyPatch.context() as patch:
        assert ppo.main([prepare(folder, patch), "--set", WHOLE]) == 0
    set_backend(None)
    return folder / "runs" / "tiny"


def kept(label: str) -> Any:
    """The latest of these callbacks that has this label."""
    import mine  # type: ignore[import-not-found]

    return [made for made in mine.Kept.instances if made.label == label][-1]


def end_of(folder: Path) -> list[Any]:
    """What a run ended with: its last checkpoint, its policy and its report, without times, and
    without settings, which may change.
    """
    content = load_newest(folder / "checkpoints")[1]
    del content["config"], content["history"]["times"]
    for row in content["history"]["metrics"] + content["history"]["results"]:
        for name in ("minutes", "speed/steps_per_second", "speed/playing"):
            row.pop(name, None)
    report = json.loads((folder / "result.json").read_text())["report"]
    return [content, (folder / "policy.npz").read_bytes(), report]


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


# ---- runs --------------------------------------------------------------------------------------


def test_openings_are_the_games_own_where_none_are_set(tiny: str) -> None:
    game, scores = make("wolf_and_sheep"), []
    low, high = game.opening_plies
    for plies in ("null", f"[{low}, {high}]", "[0, 1]"):
        changes = ["game=wolf_and_sheep", f"evaluation.opening_plies={plies}"]
        config = read_settings(Config, Path(tiny), changes)
        scores.append(evaluation.play_suite(game, make_agent("greedy"), config.evaluation, 0))
    assert scores[0] == scores[1] != scores[2]


def test_a_run_leaves_all_its_files_and_a_policy_that_loads(tiny: str, finished: Path) -> None:
    found = {p.name for p in finished.iterdir()}
    assert found == {
        "config.yaml", "result.json", "report.md", "report.html", "metrics.csv", "policy.npz",
        "best_model.zip", "learning_curve.svg", "ratings.svg", "metrics.svg", "checkpoints", "pool",
        "tensorboard", "evaluations.csv",
    }  # fmt: skip
    files = {path for path in finished.rglob("*") if path.is_file()}
    assert files == set(written(finished, WRITTEN))  # what --overwrite removes
    result = json.loads((finished / "result.json").read_text())
    settings = read_settings(Config, Path(tiny), [WHOLE])
    assert Config.model_validate(result["config"]) == settings
    assert read_settings(Config, finished / "config.yaml", trust=True) == settings
    assert result["steps"] == 2048
    assert [e["steps"] for e in result["evaluations"]] == [0, 1024, 2048]
    worst = [min(s["score"] for s in e["scores"].values()) for e in result["evaluations"]]
    assert min(s["score"] for s in result["best"]["scores"].values()) == max(worst)
    assert result["report"]["ratings"]["random"]["rating"] == 0
    assert result["report"]["exact"]["policy"] == {}
    with (finished / "evaluations.csv").open() as file:
        shown = [(int(r["steps"]), float(r["evaluation/worst"])) for r in csv.DictReader(file)]
    assert shown == list(zip([0, 1024, 2048], worst, strict=True))
    # The file holds the policy that was judged.
    agent = f"policy:{finished / 'policy.npz'},shield=false"
    marked = take_exam(make("othello"), make_agent(agent))
    assert result["report"]["exam"]["policy"][-1]["kept"] == marked.total.kept
    for player, more in (("policy", ",shield=false"), ("policy, shielded", "")):
        agent = f"policy:{finished / 'policy.npz'}{more}"
        again = play_match(make("othello"), agent, "random", 2, seed=20_000)
        assert again.score == result["report"]["scores"][player]["random"]["score"]


def test_one_role_of_another_game_trains_alone_and_plays(
    tiny: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(exact, "POSITIONS", 500)
    monkeypatch.setattr(exact, "MISTAKES", 50)
    settings = (
        "game=wolf_and_sheep", "steps=500", "evaluation.opponents=[random]", "report.pairs=2",
        "self_play.learn=sheep", "self_play.pool.share=0.5", "self_play.opponents={perfect: 0.5}",
        "self_play.opening_plies=[0, 8]",
    )  # fmt: skip
    assert ppo.main([tiny, *(word for item in settings for word in ("--set", item))]) == 0
    # Its last lines: where the report is, and a command.
    report_line, play_line = capsys.readouterr().out.splitlines()[-2:]
    assert Path(report_line.partition(": ")[2]) == Path("runs/tiny/report.html")
    command = shlex.split(play_line.partition(": ")[2])
    played = subprocess.run(command, input="quit\n", capture_output=True, text=True, timeout=120)
    assert (played.returncode, "moves: " in played.stdout) == (0, True)
    result = play_match(make("wolf_and_sheep"), "policy:runs/tiny/policy.npz", "random", 2)
    assert not any(faults.forfeits for faults in result.faults)
    judged = json.loads(Path("runs/tiny/result.json").read_text())["report"]
    assert "sheep leaks" in judged["exact"]["policy"]
    assert judged["exam"] == {}  # the exact solution says more
    metrics = load_newest(Path("runs/tiny/checkpoints"))[1]["history"]["metrics"]
    assert metrics[0].keys() >= {"games/perfect", "games/pool"}


# ---- going on ----------------------------------------------------------------------------------


def kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def interrupt() -> None:
    raise KeyboardInterrupt


def full(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_run_that_is_stopped_again_and_again_ends_like_an_uninterrupted_one(
    tiny: str, finished: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Path("runs/tiny")

    def saved() -> int:
        return int(load_newest(folder / "checkpoints")[1]["steps"])

    # Killed after the evaluation of 1024 steps, before the file of an opponent takes its place.
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", at_call(9, os.fsync, kill))
        process = multiprocessing.get_context("fork").Process(target=ppo.main, args=([tiny],))
        process.start()
        process.join()
    assert process.exitcode == -signal.SIGKILL
    assert list(folder.rglob("*.tmp"))
    assert saved() == 512
    assert not (folder / "result.json").exists()
    # Interrupted within this evaluation, between two opponents.
    with monkeypatch.context() as patch:
        patch.setattr(evaluation, "score_of", at_call(2, evaluation.score_of, interrupt))
        assert ppo.main([tiny, "--resume"]) == 130
    assert saved() == 512
    with monkeypatch.context() as patch:
        patch.setattr(report, "report_text", full)
        assert ppo.main([tiny, "--resume", "--set", "self_play.threads=2"]) == 1
    assert "python -m training.ppo tiny.yaml --resume" in capsys.readouterr().err
    assert ppo.main([tiny, "--resume"]) == 0
    assert same(end_of(folder), end_of(finished))
    assert not list(Path("runs").rglob("*.tmp"))


def test_a_run_is_neither_overwritten_nor_resumed_by_mistake(
    tiny: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ppo.main([tiny, "--resume"]) == 2
    assert "unknown run to resume" in capsys.readouterr().err
    assert ppo.main([tiny, "--set", "steps=500"]) == 0
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
        lost = Score(score=0, low=0, high=1, wins=0, draws=0, losses=0)
        made = {str(s): lost.model_copy(update={"score": s}) for s in scores}
        return SuiteResult(steps=0, minutes=0, scores=made, exact=exact)

    for better, worse in (
        (result(0.8, 0.7), result(1.0, 0.6)),
        (result(0.9, 0.6), result(0.8, 0.6)),
        # In a solved game: first no leaks, then the worst share.
        (result(0.8, leaks=0, keeps=0.6), result(0.9, leaks=1, keeps=0.9)),
        (result(0.8, leaks=0, keeps=0.7), result(0.9, leaks=0, keeps=0.6)),
    ):
        assert better.rank > worse.rank
    assert result(0.6, leaks=2, keeps=0.7).worst == 0.7


# ---- callbacks ---------------------------------------------------------------------------------


def test_a_callback_gets_the_figures_and_files_of_the_run(finished: Path) -> None:
    told = kept("whole")
    assert told.settings == yaml.safe_load((finished / "config.yaml").read_text())
    assert told.files == ["config.yaml", "policy.npz", "report.html", "result.json"]
    rows = list(csv.DictReader((finished / "metrics.csv").read_text().splitlines()))
    start, *metrics = told.metrics
    assert (start["steps"], len(metrics)) == (0, len(rows))
    for row, figures in zip(rows, metrics, strict=True):
        assert {name: float(text) for name, text in row.items()}.items() <= figures.items()
    evaluations = json.loads((finished / "result.json").read_text())["evaluations"]
    shown = [(f["steps"], f["evaluation/random"]) for f in told.metrics if "evaluation/worst" in f]
    assert shown == [(e["steps"], e["scores"]["random"]["score"]) for e in evaluations]


def test_a_callback_that_returns_false_ends_the_run_with_its_report(tiny: str) -> None:
    named = "callbacks={'mine:Kept': {label: stopped, stop_after: 300}}"
    assert ppo.main([tiny, "--set", named]) == 0
    result = json.loads(Path("runs/tiny/result.json").read_text())
    assert result["steps"] == 512, "the update in progress is finished"
    assert "result.json" in kept("stopped").files


class Interrupting(BaseCallback):
    """Sends what Ctrl-C does in the first step."""

    ended = False

    def _on_step(self) -> bool:
        if self.n_calls == 1:
            os.kill(os.getpid(), signal.SIGINT)
        return True

    def _on_training_end(self) -> None:
        self.ended = True


def test_training_from_python_with_callbacks(tiny: str) -> None:
    """Those given come beside those of the settings; an interruption is an end that they see."""
    named = "callbacks={'mine:Kept': {label: python}}"
    config = read_settings(Config, Path(tiny), [named, "steps=1000"])
    given, quiet = Interrupting(), Console(quiet=True)
    assert not ppo.train(config, callbacks=[given], console=quiet)
    assert given.ended
    assert kept("python").files == ["config.yaml", "policy.npz"]
    assert ppo.train(config, resume=True, console=quiet)
    assert [f["steps"] for f in kept("python").metrics] == [1024]


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
def test_wrong_callbacks_are_named(tiny: str, callbacks: object, message: str) -> None:
    Path(tiny).write_text(yaml.safe_dump({**TINY, "callbacks": callbacks}))
    with pytest.raises(ConfigError, match=message):
        read_settings(Config, Path(tiny), trust=True)


def test_what_is_made_must_be_a_callback(tiny: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert ppo.main([tiny, "--set", "callbacks={'mine:nothing': {}}"]) == 2
    assert "callback mine:nothing is None: it must be a BaseCallback" in capsys.readouterr().err


def test_names_are_those_that_mlflow_takes() -> None:
    assert trackers._allowed("games/mcts:rollouts=16") == "games/mcts:rollouts_16"
    flat = dict(trackers._flat({"ppo": {"hidden": [8], "epochs": 2}, "rules": {}}))
    assert flat == {"ppo.hidden": [8], "ppo.epochs": 2, "rules": {}}
