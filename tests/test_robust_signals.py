"""Signals that end a process: finished games and checkpoints are kept, whoever sends which."""

from __future__ import annotations

import math
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import run

from boardenvs.cli import match as match_command
from boardenvs.records import check, load
from boardenvs.utils.ending import ENDING
from training.run import stop_requests

if not hasattr(signal, "SIGHUP"):
    pytest.skip("no such signals here", allow_module_level=True)

pytestmark = pytest.mark.usefixtures("in_python", "handlers")
every_signal = pytest.mark.parametrize("number", [signal.SIGINT, *ENDING])


@pytest.fixture
def handlers() -> Iterator[None]:
    """As in a new process, but that signals which nobody handles fail the test, not all of them."""
    unhandled: list[int] = []
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, *ENDING)}
    for number in ENDING:
        signal.signal(number, lambda number, frame: unhandled.append(number))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
    assert unhandled == []


def send(number: int) -> None:
    os.kill(os.getpid(), number)


class Looking:
    """Plays at random, and counts the games that are in a file; `number` is sent when some of those
    in play are over.
    """

    path: Path
    number: int | None
    seen: list[int]

    def act(self, game: Any, state: Any, rng: np.random.Generator) -> Any:
        self.seen.append(len(load(self.path)) if self.path.exists() else 0)
        if len(state.ply) < 5 and self.number:
            send(self.number)
        return game.sample(state, rng)


def match(path: Path, number: int | None, code: int) -> tuple[str, list[int]]:
    """What a match of ten games prints, and how many games its file had while it lasted."""
    Looking.path, Looking.number, Looking.seen = path, number, []
    words = ("match", "reversi", f"python:{__name__}:Looking", "random", "--pairs", 5)
    return " ".join(run(*words, "--record", path, code=code).split()), Looking.seen


@every_signal
def test_a_match_keeps_the_games_that_are_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    path = tmp_path / "games.jsonl"
    monkeypatch.setattr(match_command, "_EVERY", math.inf)
    output, seen = match(path, number, code=130)
    assert "Traceback" not in output
    assert set(seen) == {0}
    found = load(path)
    assert 0 < len(found) < 10
    assert f"the {len(found)} of 10 games that are over are in" in output
    assert [(v.ending, v.error) for v in check(found)] == [("finished", None)] * len(found)


def test_a_match_keeps_games_while_it_lasts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "games.jsonl"
    monkeypatch.setattr(match_command, "_EVERY", 0.0)
    _, seen = match(path, None, code=0)
    assert 0 < max(seen) < 10
    assert seen == sorted(seen)
    assert len(load(path)) == 10


@every_signal
def test_a_training_is_asked_to_end(number: int) -> None:
    with stop_requests() as asked:
        assert not asked()
        send(number)
        assert asked()
