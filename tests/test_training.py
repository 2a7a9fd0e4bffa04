"""Runs of trainers: resumed bit for bit, the best policy kept, files, callbacks, wrong settings."""

from __future__ import annotations

import csv
import errno
import io
import itertools
import json
import multiprocessing
import os
import re
import resource
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("pydantic")

import torch as th
import yaml
from examples import guides
from rich.console import Console
from same import same
from stable_baselines3.common.callbacks import BaseCallback

from boardenvs.agents import make_agent
from boardenvs.agents.network import BoardNetwork
from boardenvs.agents.policy import Policy
from boardenvs.agents.policy_file import load_policy, save_policy
from boardenvs.agents.policy_network import fully_connected
from boardenvs.arena import play_match
from boardenvs.envs.batch import EndedGames
from boardenvs.exams import take_exam
from boardenvs.games import make
from boardenvs.utils.files import LOCK, written
from training import evaluation, ppo
from training.command import read_settings, training_command
from training.evaluation import Score, SuiteResult, best_of, play
from training.folder import WRITTEN, RunError, begin, load_newest, run_folder, save_checkpoint
from training.gumbel.gumbel_settings import GumbelConfig
from training.ntuple.ntuple_settings import NTupleConfig
from training.report import evaluate_finally
from training.run import Run, game_metrics
from training.run_settings import (
    ConfigError,
    GameSettings,
    PPOConfig,
    RunSettings,
    SuiteSettings,
    between,
    find_device,
    find_precision,
    set_up_torch,
)

CONFIGS = Path(__file__).resolve().parents[1] / "configs"

set_up_torch()

# All kinds of boards, and falling schedules, in a few updates.
TINY: dict[str, Any] = {
    "game": "othello",
    "steps": 2000,
    "checkpoint_every": 1,
    "self_play": {
        "boards": 16,
        "opening_plies": [0, 20],
        "opponents": {"greedy": 0.25},
        "pool": {"share": 0.25, "every": 1000},
    },
    "network": {"hidden": [32]},
    "ppo": {
        "steps_per_update": 32,
        "batch_size": 256,
        "final_learning_rate": 1e-4,
        "final_entropy_bonus": 0.001,
    },
    "evaluation": {"every": 1000, "pairs": 1},
    "report": {"pairs": 2, "opponents": ["random"]},
}

KINDS: dict[str, type[GameSettings]] = {
    "": PPOConfig, "gumbel": GumbelConfig, "ntuple": NTupleConfig,
}  # fmt: skip
SMALL: dict[str, dict[str, Any]] = {
    "": {**TINY, "self_play": {"boards": 32, "opponents": {"alphabeta:depth=1": 0.25}}},
    "gumbel": {
        "game": "othello",
        "steps": 512,
        "self_play": {"boards": 8},
        "network": {"hidden": [16]},
        "learning": {"replay": 512, "batch_size": 32},
    },
    "ntuple": {"game": "othello", "tuples": ["a1 b1"], "generations": [{"games": 1}]},
}


def prepare(folder: Path, patch: pytest.MonkeyPatch) -> str:
    """Write a configuration of a second."""
    patch.chdir(folder)
    Path("tiny.yaml").write_text(yaml.safe_dump(TINY))
    return "tiny.yaml"


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    return prepare(tmp_path, monkeypatch)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an uninterrupted run of the tiny configuration."""
    folder = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch, (folder / "printed").open("w") as printed:
        for module in ("run", "report"):
            patch.setattr(f"training.{module}.LINES_EVERY", 0.0)
        patch.setattr(sys, "stdout", printed)
        assert ppo.main([prepare(folder, patch)]) == 0
    return folder / "runs" / "tiny"


def end_of(folder: Path) -> list[Any]:
    """The last checkpoint, the policy and the report of a run, without times."""
    content = load_newest(folder / "checkpoints")[0]
    assert content is not None
    del content["seconds"]
    for row in content["results"]:
        del row["minutes"], row["cpu_minutes"]
    result = json.loads((folder / "result.json").read_text())
    return [content, (folder / "policy.npz").read_bytes(), result["report"]]


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


def test_a_run_leaves_all_its_files_and_a_policy_that_loads(finished: Path) -> None:
    assert {p.name for p in finished.iterdir()} == {
        "config.yaml", "result.json", "report.md", "report.html", "policy.npz", "checkpoints",
        "policies", "pool", "tensorboard", "evaluations.csv", "learning_curve.svg", LOCK,
    }  # fmt: skip
    assert len([*(finished / "checkpoints").iterdir()]) == 2  # one to fall back on
    files = {path for path in finished.rglob("*") if path.is_file()}
    assert files == set(written(finished, [*WRITTEN, LOCK]))  # --overwrite keeps the lock
    assert "](learning_curve.svg)" in (finished / "report.md").read_text()
    assert (finished / "report.html").read_text().count("&quot;title&quot;:") == 2  # games
    assert ">random<" in (finished / "learning_curve.svg").read_text()
    result = json.loads((finished / "result.json").read_text())
    assert [e["steps"] for e in result["evaluations"]] == [512, 1024, 2048]
    worst = [min(s["score"] for s in e["scores"].values()) for e in result["evaluations"]]
    assert min(s["score"] for s in result["best"]["scores"].values()) == max(worst)
    with (finished / "evaluations.csv").open() as file:
        shown = list(csv.DictReader(file))
    for row, judged, lowest in zip(shown, result["evaluations"], worst, strict=True):
        assert {"train/value_loss"} <= judged["losses"].keys() <= row.keys()
        assert all("loss" in name for name in judged["losses"])
        assert float(row["evaluation/worst"]) == lowest
        for name, score in judged["scores"].items():
            columns = [float(row[f"{key}/{name}"]) for key in ("evaluation", "low", "high")]
            assert columns == [score["score"], score["low"], score["high"]]
    printed = (finished.parents[1] / "printed").read_text()
    for progress in ("1024 of 2000: tiny: ", "1 of 2: matches of the report\n"):
        assert f"\n{progress}" in printed
    page = (finished / "report.html").read_text()
    for players in ("policy against random", "random against policy"):  # two games to step through
        assert players in page
    table = (finished / "report.md").read_text().split("| --- |")[1].splitlines()[1:3]
    scores = result["report"]["scores"]
    assert [line.strip("| ").split(" | ") for line in table] == [
        ["random", player, f"{s['score']:.3f}", f"{s['low']:.3f} to {s['high']:.3f}",
         f"{s['wins']} / {s['draws']} / {s['losses']}"]
        for player in ("policy", "policy, shielded")
        for s in [scores[player]["random"]]
    ]  # fmt: skip
    # The file holds the policy that was judged.
    exam = take_exam(make("othello"), make_agent(f"policy:{finished / 'policy.npz'}"))
    best = result["best"]
    assert best["kept"] == exam.total.kept
    notes = {"run": "tiny", "seed": 0, "steps": best["steps"]}
    assert load_policy(finished / "policy.npz").notes == notes
    for player, more in (("policy", ""), ("policy, shielded", ",shield=true")):
        agent = f"policy:{finished / 'policy.npz'}{more}"
        again = play_match(make("othello"), agent, "random", 2, seed=20_000)
        judged = scores[player]["random"]
        assert again.counts == (judged["wins"], judged["draws"], judged["losses"])
        assert again.interval == (judged["low"], judged["high"])
    content, _ = load_newest(finished / "checkpoints")
    assert content is not None
    (group,) = content["learner"]["optimizer"]["param_groups"]
    assert group["lr"] == TINY["ppo"]["final_learning_rate"]


def test_the_next_steps_run_as_they_are_written(finished: Path) -> None:
    """In another shell, where no virtual environment is activated."""
    report = (finished / "report.md").read_text()
    play, web = re.findall(r"^    (.* -m boardenvs .*)$", report, re.MULTILINE)
    assert web == play.split(" play ")[0] + " web"
    result = subprocess.run(
        play,
        shell=True,
        cwd=finished.parents[1],
        env={**os.environ, "PATH": os.defpath, "PYTHONPATH": str(Path(__file__).parents[1])},
        input="quit\n",
        capture_output=True,
        text=True,
        check=True,
    )
    assert "type a move" in result.stdout


# ---- resuming ----------------------------------------------------------------------------------


def power_that_goes() -> None:
    """Kills the process while a file of the second update is written."""
    os.fsync = at_call(7, os.fsync, partial(signal.raise_signal, signal.SIGKILL))


def ctrl_c() -> None:
    """Interrupts an evaluation between two opponents."""
    evaluation.score_of = at_call(
        2, evaluation.score_of, lambda: signal.raise_signal(signal.SIGINT)
    )


def full_disk() -> None:
    """Has room for a policy, and not for a checkpoint."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))


def exit_code(fault: Callable[[], None], *words: str) -> int | None:
    """Of a training in a process of its own, in which something happens."""

    def train() -> None:
        fault()
        sys.exit(ppo.main([*words]))

    process = multiprocessing.get_context("fork").Process(target=train)
    process.start()
    process.join()
    return process.exitcode


def test_a_training_that_diverges_says_so(tiny: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert ppo.main([tiny, "--set", "ppo.learning_rate=1e30"]) == 2
    assert "perhaps the learning rate is too high" in capsys.readouterr().err


def test_a_run_that_is_stopped_again_and_again_ends_like_an_uninterrupted_one(
    tiny: str, finished: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = Path("runs/tiny")
    assert exit_code(power_that_goes, tiny) == -signal.SIGKILL
    assert list(folder.rglob("*.tmp"))
    assert exit_code(ctrl_c, tiny, "--resume") == 130
    assert exit_code(full_disk, tiny, "--resume", "--set", "self_play.threads=2") == 1
    assert " -m training.ppo tiny.yaml --resume" in capfd.readouterr().err
    assert not (folder / "result.json").exists()
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
    assert (
        ppo.main([tiny, "--resume", "--set", "seed=9", "--set", "ppo.gae_lambda=0.3", *free]) == 2
    )
    message = capsys.readouterr().err
    assert "seed was 0 and is 9" in message
    assert "ppo.gae_lambda was 0.95 and is 0.3" in message
    assert "report" not in message
    assert "threads" not in message
    for wrong, said in (
        ("device=cuda:9", "device is 'cuda:9'"),
        (
            "start=runs/tiny/policy.npz",
            "a file of runs/tiny, which --overwrite removes: --set name=NAME",
        ),
        ("evaluation.opponents=[policy:runs/tiny/policy.npz]", "names a file of runs/tiny"),
    ):
        files = {path: path.read_bytes() for path in Path("runs").rglob("*.*") if path.is_file()}
        assert ppo.main([tiny, "--overwrite", "--set", wrong]) == 2
        assert said in capsys.readouterr().err
        assert files == {path: path.read_bytes() for path in files}
    old = Path("runs/tiny/policies/000000099999.npz")
    old.touch()
    assert ppo.main([tiny, "--overwrite", "--set", "steps=500"]) == 0
    assert not old.exists()
    Path("runs/tiny/config.yaml").unlink()
    assert ppo.main([tiny, "--overwrite"]) == 2
    assert "is not replaced" in capsys.readouterr().err


def test_evaluations_are_the_same_by_the_seed_also_with_players_of_others() -> None:
    game, players = make("tictactoe"), ("random", "python:arena_agents:by_global_chance")
    one, again, other = (play(game, SuiteSettings(pairs=9), *players, seed) for seed in (1, 1, 2))
    assert np.array_equal(one.actions, again.actions)
    assert not np.array_equal(one.actions, other.actions)


@pytest.mark.parametrize(
    ("kind", "override", "message"),
    [
        ("", "steps=9999", None),
        ("", "checkpoint_every=9", None),
        ("", "report.opponents=[greedy]", None),
        ("", "self_play.threads=2", None),
        ("ntuple", "workers=2", None),
        ("", "self_play.boards=64", "self_play.boards was 32 and is 64"),
        ("", "evaluation.pairs=9", "evaluation.pairs was 1 and is 9"),
        ("gumbel", "search.workers=2", "search.workers was 0 and is 2"),
        ("ntuple", "tuples=[a1 c1]", r"tuples was \['a1 b1'\] and is \['a1 c1'\]"),
    ],
)
def test_a_run_goes_on_with_its_own_settings(
    tmp_path: Path, kind: str, override: str, message: str | None
) -> None:
    path = tmp_path / "small.yaml"
    path.write_text(yaml.safe_dump(SMALL[kind] | {"name": "mine"}))
    before, now = (read_settings(KINDS[kind], path, words) for words in ([], [override]))
    assert before.name == now.name == "mine"
    folder = tmp_path / "run"
    with run_folder(folder, before):
        begin(folder, before, resume=False)
        save_checkpoint(folder / "checkpoints", 1, {})
    with pytest.raises(RunError, match="--resume goes on with it"), run_folder(folder, now):
        pass
    wrong = pytest.raises(RunError, match=message) if message else nullcontext()
    with wrong, run_folder(folder, now, resume=True):
        begin(folder, now, resume=True)
        assert yaml.safe_load((folder / "config.yaml").read_text()) == now.model_dump(mode="json")


def test_a_learner_goes_on_bit_for_bit(tmp_path: Path) -> None:
    """With a pool, an opponent and openings that draw, also in a process that has drawn others."""
    small = {
        "name": "tiny", "game": "tictactoe", "steps": 999, "network": {"hidden": [8]},
        "self_play": {
            "boards": 16,
            "pool": {"share": 0.25},
            "opponents": {"greedy": 0.25, "python:arena_agents:rolling": 0.25},
            "openings": {"python:arena_agents:rolling": 1}, "opening_plies": [0, 3],
        },
        "ppo": {
            "steps_per_update": 8, "batch_size": 32, "learning_rate": 1e-2,
            "final_entropy_bonus": 1e-3,
        },
        "evaluation": {"pairs": 1}, "report": {"opponents": ["random"]},
    }  # fmt: skip
    ends, config, quiet = [], PPOConfig.model_validate(small), Console(quiet=True)
    for resumed in (False, True):
        with closing(ppo.PPORun(config, tmp_path)) as training:
            training._console, training._show = quiet, lambda *_: None
            if resumed:
                training.resume(quiet)
            else:
                training._step()
                training.save()
            metrics = training._update()
            ends.append([training.steps, metrics, training._snapshot(), training.pool.snapshot()])
        assert 5 <= metrics["games/plies"] <= 9
        assert 0 <= metrics["games/greedy"] <= 1
        done = training.steps / 999
        assert metrics["train/learning_rate"] == pytest.approx(1e-2 - 9e-3 * done)
        assert training.learner.ent_coef == pytest.approx(1e-2 - 9e-3 * done)
    assert same(*ends)


def test_what_goes_on_does_so_as_it_began(tiny: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = [tiny, "--trust", "--set", "seed=3"]
    assert training_command("training.ppo", PPOConfig, lambda *_: False, words) == 130
    assert f"-m training.ppo {tiny} --resume --trust --set seed=3\n" in capsys.readouterr().out

    def on_a_full_disk(*_: Any) -> bool:
        raise OSError(errno.ENOSPC, "full")

    words += ["--overwrite"]
    assert training_command("training.ppo", PPOConfig, on_a_full_disk, words) == 1
    said = capsys.readouterr().err
    assert re.search(
        r"^error: .*full\nWhen it is fixed: .* --resume --trust --set seed=3$", said, re.M
    )


def test_devices_are_those_that_torch_has(monkeypatch: pytest.MonkeyPatch) -> None:
    for gpus, name, found in (
        (0, "auto", "cpu"), (2, "auto", "cuda"), (2, "cuda:1", "cuda:1"), (1, "cuda", "cuda"),
        (2, "cpu", "cpu"), (0, "cuda", None), (1, "cuda:1", None),
    ):  # fmt: skip
        monkeypatch.setattr(th.cuda, "device_count", lambda gpus=gpus: gpus)
        error = pytest.raises(ConfigError, match=f"torch has {gpus} GPUs")
        with nullcontext() if found else error:
            assert str(find_device(name)) == found
    for able, precision in (({"amx_bf16": True}, "bfloat16"), ({}, "float32")):
        monkeypatch.setattr(th.cpu, "get_capabilities", lambda able=able: able)
        assert find_precision(th.device("cpu")) == precision


@pytest.mark.skipif(sys.platform != "linux", reason="only glibc's allocator is set up")
def test_freed_memory_is_used_again_without_the_system() -> None:
    faults = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        arrays = [np.ones(3 << 20, np.uint8) for _ in range(40)]
        faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
        del arrays
    assert faults[-1] < 40 * (3 << 20) // resource.getpagesize() / 10, faults


# ---- what is due between updates ---------------------------------------------------------------


class Counting(Run):
    """Learns to count: an update is ten steps, and the policy's value is their number. With what it
    prefers by then it loses to `FirstLegal`, later wins, and at last wins with one side.
    """

    prefers: ClassVar = {10: "b1 a2 c2 b3", 50: "c1 c3 c2", 100: "c3 b3 a3"}
    then: Callable[[], object] = staticmethod(lambda: None)  # happens in the update to 70 steps

    def _update(self) -> dict[str, float]:
        self.steps += 10
        if self.steps == 70:
            self.then()
        return {}

    def _policy(self) -> Policy:
        sizes = [(int(np.prod(self.game.observation_shape)), 2), (2, self.game.num_actions), (2, 1)]
        layers = [
            (np.zeros(size, np.float32), np.full(size[1], self.steps, np.float32)) for size in sizes
        ]
        for rank, name in enumerate(self.prefers.get(self.steps, "").split()):
            layers[1][1][self.game.parse_action(name)] += 9 - rank
        return Policy(self.game, fully_connected(layers))

    def _snapshot(self) -> dict[str, Any]:
        return {"counted": self.steps}

    def _restore(self, snapshot: dict[str, Any]) -> None:
        assert snapshot["counted"] == self.steps


def counting(folder: Path, resume: bool = False, **changes: Any) -> tuple[Counting, str]:
    """A finished or interrupted run, and what it printed."""
    panel = {"pairs": 1, "opponents": ["random"], "opening_plies": [0, 2]}
    fields = {
        "name": "tiny", "game": "three_in_a_row:ThreeInARow", "steps": 100,
        "checkpoint_every": 25, "evaluation": {"every": 50, **panel}, **changes,
    }  # fmt: skip
    settings, shown = RunSettings.model_validate(fields), io.StringIO()
    folder.mkdir(exist_ok=True)
    training = Counting(settings, folder)
    training.train(resume, Console(file=shown, width=200))
    return training, shown.getvalue()


def counted(file: Path) -> list[int]:
    steps: list[int] = load_policy(file).network.layers["value"][1].tolist()
    return steps


@pytest.mark.parametrize(
    ("scores", "exact", "chosen"),
    [
        ([0.5, 0.76, 0.73, 0.7], False, 2),  # a standard error is 0.05
        ([0.5, 0.7, 0.72], False, 2),
        ([0.5, 0.76, 0.7], False, 1),
        ([0.5, 0.76, 0.75], True, 1),
        ([0.5, 0.76, 0.76], True, 2),
    ],
)
def test_the_latest_is_chosen_that_differs_from_the_best_by_chance(
    scores: list[float], exact: bool, chosen: int
) -> None:
    results = [
        SuiteResult(
            steps=steps,
            minutes=1,
            cpu_minutes=1,
            scores={
                "random": Score(score=1, low=0, high=1, wins=1, draws=0, losses=0),
                "greedy": Score(score=x, low=x - 0.1, high=x + 0.1, wins=1, draws=0, losses=0),
            },
            exact={"kept": x} if exact else {},
        )
        for steps, x in enumerate(scores)
    ]
    assert best_of(results).steps == chosen


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_the_run_after_the_update_and_it_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Counting, "then", lambda self: signal.raise_signal(number))
        seconds = itertools.count(0, 600)  # ten minutes from one look at a clock to the next
        patch.setattr("training.run._clocks", lambda: np.array([2.0, 1.0]) * next(seconds))
        stopped, shown = counting(tmp_path / "tiny")
    assert (stopped.steps, stopped._saved) == (70, 70)
    assert "50 steps" in shown  # also without a terminal
    again, shown = counting(tmp_path / "tiny", resume=True)
    assert [r.steps for r in again.results] == [10, 50, 100]
    longer, _ = counting(tmp_path / "tiny", resume=True, steps=130)
    assert [r.steps for r in longer.results] == [10, 50, 100, 130]
    wall, cpu = longer.minutes
    assert wall >= 10  # with those of earlier parts
    assert wall == pytest.approx(2 * cpu, rel=0.01)


def test_the_best_policy_is_kept_whatever_comes_after(tmp_path: Path) -> None:
    folder, opponents = tmp_path / "tiny", ["python:returns:FirstLegal"]
    panel = {"every": 50, "pairs": 1, "opponents": opponents, "opening_plies": [0, 0]}
    training, _ = counting(folder, evaluation=panel)
    assert [result.rank[0] for result in training.results] == [0, 1, 0.5]
    assert training.best.steps == 50
    assert counted(folder / "policy.npz") == [50]
    (folder / "policy.npz").unlink()
    counting(folder, resume=True, evaluation=panel)
    assert counted(folder / "policy.npz") == [50]


def test_the_policy_of_each_evaluation_is_kept(tmp_path: Path) -> None:
    """As a player of a tournament, also where a part of the run is lost and repeated; of some in
    between and of the beginning there are opponents.
    """
    folder, pool = tmp_path / "tiny", {"pool": {"share": 0.25, "every": 30}}
    counting(folder, self_play=pool)
    *_, before, last = sorted((folder / "checkpoints").iterdir())
    assert [int(path.stem) for path in (before, last)] == [80, 100]
    last.unlink()
    training, _ = counting(folder, resume=True, self_play=pool)
    assert [counted(path)[0] for path in sorted((folder / "pool").iterdir())] == [0, 30, 60, 90]
    assert training.pool.snapshot()["files"]
    assert {p.name: counted(p) for p in (folder / "policies").iterdir()} == {
        f"{steps:012d}.npz": [steps] for steps in (10, 50, 100)
    }


def test_evaluations_are_of_openings_of_the_run_s_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged, evaluate = list[int](), evaluation.evaluate

    def noted(config: RunSettings, policy: Policy, seed: int) -> dict[str, Any]:
        judged.append(seed)
        return evaluate(config, policy, seed)

    monkeypatch.setattr(evaluation, "evaluate", noted)
    counting(tmp_path / "tiny", seed=3)
    assert judged == [10_003] * 3


def test_the_learning_rate_falls_to_its_end(tiny: str) -> None:
    """Of a learner that is as the settings say; at first all legal moves are alike to it."""
    changes = ["ppo.learning_rate=1e-2", "ppo.gae_lambda=0.8", "seed=7"]
    config = read_settings(PPOConfig, Path(tiny), changes)
    env = ppo.make_env(config)
    learner: Any = ppo.make_learner(config, env)
    rates = [learner.lr_schedule(left) for left in (1.0, 0.5, 0.0)]
    assert rates == pytest.approx([1e-2, 5.05e-3, 1e-4])
    assert between(1e-2, 1e-4, 1.5) == pytest.approx(1e-4)  # the last update may go beyond
    names = "gae_lambda n_epochs vf_coef max_grad_norm n_steps batch_size ent_coef seed"
    values = [getattr(learner, name) for name in names.split()]
    assert [*values, learner.clip_range(1.0)] == [0.8, 2, 0.5, 0.5, 32, 256, 0.01, 7, 0.2]
    seen, masks = th.as_tensor(env.reset()), env.action_masks()
    (drawn, _, chances), (best, _, _) = (
        learner.policy(seen, deterministic=best, action_masks=masks) for best in (False, True)
    )
    assert masks[range(len(masks)), drawn].all()
    assert (drawn != best).any()
    assert chances.detach().numpy() == pytest.approx(-np.log(masks.sum(axis=1)), abs=0.1)


def test_the_shield_is_judged_beside_the_policy(tmp_path: Path) -> None:
    """Which makes an untrained one much better."""
    game, file = make("tictactoe"), tmp_path / "policy.npz"
    save_policy(BoardNetwork(game, {"hidden": [8]}).as_policy(game, None, mover_view=True), file)
    suite = {"opponents": ["greedy"], "pairs": 30, "opening_plies": [0, 3]}
    config = RunSettings.model_validate(
        {"name": "x", "game": "tictactoe", "steps": 1, "report": suite}
    )
    final = evaluate_finally(config, file, Console(quiet=True))
    raw, shielded = (final.scores[kind]["greedy"] for kind in ("policy", "policy, shielded"))
    assert raw.wins + raw.draws + raw.losses == 60
    assert shielded.score > raw.score + 0.2


def test_metrics_of_games_are_means_over_groups() -> None:
    """Lengths over all games; points of each opponent's own."""
    ended = {"self-play": EndedGames(3, 30, 2.5), "greedy": EndedGames(1, 20, 0.5)}
    expected = {"games/plies": 12.5, "games/greedy": 0.5}
    assert game_metrics(ended) == expected


def test_policies_are_ranked_by_their_worst_score() -> None:
    def result(*scores: float, **exact: float) -> SuiteResult:
        lost = Score(score=0, low=0, high=1, wins=0, draws=0, losses=0)
        made = {str(s): lost.model_copy(update={"score": s}) for s in scores}
        return SuiteResult(steps=0, minutes=0, cpu_minutes=0, scores=made, exact=exact)

    for better, worse in (
        (result(0.8, 0.7), result(1.0, 0.6)),
        (result(0.9, 0.6), result(0.8, 0.6)),
        (result(0.8, keeps=0.7), result(0.9, keeps=0.6)),  # in a solved game by the worst share
    ):
        assert better.rank > worse.rank


def test_a_result_reads_as_its_numbers() -> None:
    known: dict[str, Any] = {
        "steps": 9,
        "minutes": 1,
        "cpu_minutes": 1,
        "losses": {"train/value_loss": 3.0},
    }
    score = Score(score=0.625, low=0.5, high=0.75, wins=4, draws=2, losses=1)
    result = SuiteResult(scores={"random": score}, exact={"wolf keeps": 0.25}, kept=0.125, **known)
    assert str(result) == "random 0.625 [0.500, 0.750] +4 =2 -1   wolf keeps 0.25"
    assert result.metrics == {
        "evaluation/worst": 0.25, "evaluation/random": 0.625, "low/random": 0.5,
        "high/random": 0.75, "exact/wolf_keeps": 0.25, "exam/kept": 0.125, "train/value_loss": 3,
    }  # fmt: skip


def test_a_player_that_fails_ends_an_evaluation() -> None:
    suite, failing = SuiteSettings(opponents=("greedy",), pairs=1), "python:arena_agents:Otherwise"
    for players in (("random", failing), (failing, "random")):
        with pytest.raises(RuntimeError, match=r"failed in an evaluation: .*not legal"):
            evaluation.play(make("tictactoe"), suite, *players, 0)


class Stopping(BaseCallback):
    """Ends the run in its first update: by Ctrl-C, or as SB3's callbacks do."""

    ended = False

    def __init__(self, by_signal: bool) -> None:
        super().__init__()
        self.by_signal = by_signal

    def _on_step(self) -> bool:
        if self.by_signal and self.n_calls == 1:
            os.kill(os.getpid(), signal.SIGINT)
        return self.by_signal

    def _on_rollout_end(self) -> None:
        self.logger.record("own/text", "as TensorBoard shows it")

    def _on_training_end(self) -> None:
        self.ended = True


def test_callbacks_of_sb3_see_the_run_and_end_it(tiny: str) -> None:
    config, quiet = read_settings(PPOConfig, Path(tiny)), Console(quiet=True)
    stopping = Stopping(by_signal=True)
    assert not ppo.train(config, callbacks=[stopping], console=quiet)
    assert stopping.ended
    stopping = Stopping(by_signal=False)
    assert ppo.train(config, callbacks=[stopping], resume=True, console=quiet)
    assert stopping.ended
    learnt: Any = stopping.model
    done = 1024 / config.steps
    first, last = config.ppo.entropy_bonus, config.ppo.final_entropy_bonus or 0
    assert learnt.ent_coef == pytest.approx(first + done * (last - first))
    assert Path(stopping.logger.get_dir() or "") == Path("runs/tiny")
    result = json.loads(Path("runs/tiny/result.json").read_text())
    assert result["steps"] == 1024, "the update in progress is finished"


# ---- settings ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_configurations_that_come_with_the_project_are_valid(kind: str) -> None:
    for path in sorted((CONFIGS / kind).glob("*.yaml")):
        read_settings(KINDS[kind], path)


def test_commands_in_guides_have_valid_settings() -> None:
    command = (
        r"python -m training\.(\w+) (configs/[a-z0-9_/]+\.yaml)"
        r"((?: --set (?:[^\s`']|'[^'\n]*')+)*)"
    )
    found = [x for page in guides() for x in re.findall(command, page.read_text())]
    assert len(found) > 15
    for trainer, path, overrides in found:
        kind = KINDS["" if trainer == "ppo" else trainer]
        # Whether Ray is installed is not asked here.
        changes = [x for x in shlex.split(overrides)[1::2] if not re.search("=(ray|[A-Z]+)$", x)]
        read_settings(kind, CONFIGS.parent / path, changes)


@pytest.mark.parametrize(
    ("kind", "override", "message"),
    [
        ("", "ppo.learning_rat=1", "ppo.learning_rat: unknown.*Did you mean 'learning_rat"),
        ("", "game=otello", "game is 'otello': unknown game 'otello'. Did you mean 'othello'"),
        ("", "game='othello:hole=3'", "unknown parameter of othello 'hole'. Did you mean 'holes'"),
        ("", "ppo.gae_lambda=1.5", "ppo.gae_lambda is 1.5: .*less than or equal to 1"),
        ("", "self_play.opening_plies=[9, 3]", r"opening_plies is \[9, 3\]: .*range"),
        ("", "evaluation.opponents=[greddy]", "evaluation.opponents: .*Did you mean 'greedy'"),
        ("", "ppo.batch_size=100", "ppo.batch_size is 100: it must divide"),
        ("", "self_play.opponents={positional: 0.001}", "positional is 0.001: of 32 boards that"),
        (
            "",
            "self_play={threads: 2, opponents: {'python:random:Random': 0.5}}",
            "threads is 2, and 'python:random:Random' may draw",
        ),
        ("", "self_play.pool.share=0.9", "add up to more than 1"),
        ("", "report.opponents=['alphabeta:depth=1']", "which self_play.opponents has too"),
        ("", "report.opponents=[perfect]", "report.opponents: 'perfect' cannot play othello"),
        ("", "steps", "write it as key=value"),
        ("gumbel", "self_play.pool={share: .5}", "search has no pool"),
        ("gumbel", "learning.replay=100", "learning.replay is 100: it must be 512 or more"),
        ("gumbel", "start=trained", r"start is 'trained', a network of .*hidden"),
        (
            "gumbel",
            "network.channels=8",
            r"it has \['channels', 'hidden'\]: it must have hidden, or",
        ),
        ("gumbel", "network={channels: 8}", r"it has \['channels'\]: it must have hidden, or"),
        ("gumbel", "search.workers=3", "search.workers is 3: it must divide self_play.boards, 8"),
        ("gumbel", "start=none.npz", "none.npz"),
        ("ntuple", "tuples=[a1 a9]", "a9"),
        ("ntuple", "features=true", "features is true, and othello has none"),
        ("ntuple", "generations=[{games: 1, targets: {depth: 1}}]", "the first generation has"),
        ("ntuple", "generations=[{games: 1, random_move_share: 0.5}]", "it needs targets"),
    ],
)
def test_wrong_settings_are_named(tmp_path: Path, kind: str, override: str, message: str) -> None:
    path = tmp_path / "small.yaml"
    path.write_text(yaml.safe_dump(SMALL[kind]))
    with pytest.raises(ConfigError, match=message):
        read_settings(KINDS[kind], path, [override])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("game: [othello", "is not plain YAML"),
        (r'game: "\ud800"', "is not plain YAML"),
        ("othello", "holds no settings"),
        ("game: othello", "steps is missing"),
        (None, "Did you mean"),
    ],
)
def test_a_bad_file_ends_with_code_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str | None, message: str
) -> None:
    (tmp_path / "tiny.yaml").touch()
    if text is not None:
        (tmp_path / "tinny.yaml").write_text(text)
    assert ppo.main([str(tmp_path / "tinny.yaml")]) == 2
    assert message in capsys.readouterr().err
