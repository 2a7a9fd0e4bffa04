"""Signals that end a process: finished games and checkpoints are kept, whoever sends which."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from command_line import run

from boardenvs.bench import __main__ as bench
from boardenvs.cli.match import _Keeper
from boardenvs.records import check, load
from boardenvs.utils.ending import ENDING, handling
from training import ppo

if not hasattr(signal, "SIGHUP"):
    pytest.skip("no such signals here", allow_module_level=True)

ROOT = Path(__file__).parent.parent
ALL = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


def start(*words: object, **more: str) -> subprocess.Popen[str]:
    paths = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
    environment = {**os.environ, "PYTHONPATH": paths, "BOARDENVS_BACKEND": "numpy", **more}
    return subprocess.Popen(
        [sys.executable, "-m", *map(str, words)],
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        preexec_fn=_listen,  # the parent may have been told to ignore them
    )


def _listen() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in ENDING:
        signal.signal(number, signal.SIG_DFL)


def test_a_match_keeps_the_games_that_are_over(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    player = "python:robust_agents:signal_when_some_games_are_over"
    words = ("boardenvs", "match", "othello", player, "random", "--pairs", 20, "--record", path)
    process = start(*words, ROBUST_SIGNAL=str(int(signal.SIGINT)))
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 130, output
    assert "Traceback" not in output
    found = load(path)
    assert 0 < len(found) < 40
    assert f"the {len(found)} of 40 games that are over are in" in " ".join(output.split())
    assert [(v.ending, v.error) for v in check(found)] == [("finished", None)] * len(found)


def test_a_match_keeps_games_while_it_lasts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, seen = tmp_path / "games.jsonl", list[int]()

    def looking(game: Any, state: Any, rng: np.random.Generator) -> Any:
        seen.append(len(load(path)) if path.exists() else 0)
        return game.sample(state, rng)

    monkeypatch.setattr(_Keeper, "_EVERY", 0.0)
    monkeypatch.setattr("robust_agents.signal_when_some_games_are_over", looking)
    player = "python:robust_agents:signal_when_some_games_are_over"
    words = ["match", "reversi", player, "random", "--pairs", "20", "--record", str(path)]
    run(*words)
    assert 0 < max(seen) < 40
    assert seen == sorted(seen)
    assert len(load(path)) == 40


# ---- in one process ------------------------------------------------------------------------------


@pytest.fixture
def handlers() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in ALL}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


TINY = {
    "game": "reversi",
    "steps": 1_000_000,
    "self_play": {"boards": 32},
    "ppo": {"hidden": [16], "steps_per_update": 32, "batch_size": 256},
    "evaluation": {"every": 1_000_000, "pairs": 2},
}


def test_a_training_ends_with_a_checkpoint(
    tmp_path: Path,
    handlers: None,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tiny.yaml").write_text(yaml.safe_dump(TINY))
    checkpoints = tmp_path / "runs" / "tiny" / "checkpoints"

    def hang_up() -> None:
        deadline = time.monotonic() + 60
        while not any(checkpoints.glob("*.ckpt")) and time.monotonic() < deadline:
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGHUP)

    threading.Thread(target=hang_up).start()
    assert ppo.main(["tiny.yaml"]) == 130
    output = "".join(capfd.readouterr())
    assert "go on with: python -m training.ppo tiny.yaml --resume" in output
    assert "Traceback" not in output
    assert max(int(path.stem) for path in checkpoints.glob("*.ckpt")) > 0


@pytest.mark.parametrize("number", ALL)
def test_the_benchmark_ends_in_a_line_and_writes_nothing(
    tmp_path: Path,
    handlers: None,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    number: signal.Signals,
) -> None:
    monkeypatch.setenv("ROBUST_SIGNAL", str(int(number)))
    (tmp_path / "bench.json").write_text("before")
    game = "robust_agents:SignalledWhileRulesAreTraced"
    words = ["--games", game, "--sizes", "1", "--backends", "numpy", "--no-peers"]
    with pytest.raises(SystemExit) as ended:
        bench.main([*words, "--out", str(tmp_path)])
    assert ended.value.code == 130
    assert capsys.readouterr().err == "interrupted\n"
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [
        ("bench.json", "before")
    ]


def test_what_nohup_ignores_stays_ignored(handlers: None) -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with handling(ENDING, lambda number: pytest.fail("it was handled")):
        os.kill(os.getpid(), signal.SIGHUP)


def test_a_terminal_that_closes_may_say_so_twice(handlers: None) -> None:
    handled: list[int] = []
    with ExitStack() as stack:
        stack.enter_context(handling(ENDING, handled.append))
        os.kill(os.getpid(), signal.SIGHUP)
        os.kill(os.getpid(), signal.SIGHUP)
    assert handled == [signal.SIGHUP]
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
