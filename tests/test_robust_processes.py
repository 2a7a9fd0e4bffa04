"""Processes that end: finished games and checkpoints are kept, and workers' games too."""

from __future__ import annotations

import errno
import math
import multiprocessing
import os
import select
import signal
import tempfile
import time
from pathlib import Path

import pytest
from command_line import run

from boardenvs.arena import make_settings, play_pairings, run_tournament
from boardenvs.arena.tournament_settings import make_plan
from boardenvs.cli import match as match_command
from boardenvs.records import check, load
from boardenvs.utils.child import ChildProgram, TimedCalls
from boardenvs.utils.ending import ENDING, handling, leave_terminal
from training.run import stop_requests

if not hasattr(signal, "SIGHUP"):
    pytest.skip("no such signals here", allow_module_level=True)

pytestmark = pytest.mark.usefixtures("handlers")
every_signal = pytest.mark.parametrize("number", [signal.SIGINT, *ENDING])


@pytest.fixture
def handlers():
    """As in a new process, but that signals which nobody handles fail the test, not all of them."""
    unhandled = []
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, *ENDING)}
    for number in ENDING:
        signal.signal(number, lambda number, frame: unhandled.append(number))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
    assert unhandled == []


def send(number):
    os.kill(os.getpid(), number)


def test_a_terminal_that_closes_is_heard_once():
    """A shell and the kernel may both say so."""
    heard = []
    with handling((signal.SIGHUP,), heard.append):
        send(signal.SIGHUP)
        send(signal.SIGHUP)
    assert heard == [signal.SIGHUP]


def test_output_to_a_terminal_that_is_gone_is_dropped_and_that_to_files_kept(capfd):
    pty = pytest.importorskip("pty")
    leave_terminal()
    os.write(1, b"kept\n")
    assert capfd.readouterr().out == "kept\n"
    (master, slave), saved = pty.openpty(), os.dup(1)
    os.dup2(slave, 1)
    try:
        leave_terminal()
        assert not os.isatty(1)
    finally:
        os.dup2(saved, 1)
        for number in (master, slave, saved):
            os.close(number)


def test_a_process_that_ended_between_two_calls_is_replaced(capfd):
    """Until then it goes on, after errors too, and prints nothing among our output."""
    calls = TimedCalls(300)
    first = calls.call(os.getpid)
    with pytest.raises(ValueError, match="invalid literal for int"):
        calls.call(int, "x")
    calls.call(os.write, 1, b"aside\n")
    assert capfd.readouterr() == ("", "aside\n")
    assert calls.call(os.getpid) == first
    os.kill(first, signal.SIGKILL)
    while first in (child.pid for child in multiprocessing.active_children()):
        time.sleep(0.01)
    assert calls.call(os.getpid) != first
    with pytest.raises(ValueError, match="exit code 3"):
        calls.call(os._exit, 3)


def test_a_program_s_end_is_told_as_it_was(monkeypatch):
    """It gets no secrets, and its output ends when it closes it."""
    monkeypatch.setenv("MY_TOKEN", "secret")
    monkeypatch.setenv("MY_NAME", "name")
    for script, output, errors, how in (
        ("", b"", b"/no/program: No such file or directory\n", "with exit code 127"),
        ("kill -9 $$", b"", b"", "by signal 9 (SIGKILL)"),
        ("echo $MY_TOKEN$MY_NAME; echo x >&2; exit 3", b"name\n", b"x\n", "with exit code 3"),
    ):
        program = ChildProgram(["sh", "-c", script] if script else ["/no/program"])
        assert program.how_it_ended() == how
        assert (os.read(program.stdout, 99), os.read(program.stderr, 99)) == (output, errors)
        assert not program.is_closed
        program.close()
        assert program.is_closed
    program = ChildProgram(["sh", "-c", "exec >&-; exec sleep 100"])
    assert select.select([program.stdout], [], [], 30)[0]
    assert os.read(program.stdout, 99) == b""
    program.close()


class Looking:
    """Plays at random, and counts the games that are in a file; `number` is sent when some of those
    in play are over.
    """

    path: Path
    number: int | None
    seen: list[int]

    def act(self, game, state, rng):
        self.seen.append(len(load(self.path)) if self.path.exists() else 0)
        if len(state.ply) < 5 and self.number:
            send(self.number)
        return game.sample(state, rng)


def full(temporary, target):
    if target.parent.name.startswith("boardenvs_"):
        return os.replace(temporary, target)
    raise OSError(errno.ENOSPC, "full")


def match(path, number, code):
    """What a match of ten games prints, and how many games its file had while it lasted."""
    Looking.path, Looking.number, Looking.seen = path, number, []
    words = ("match", "reversi", f"python:{__name__}:Looking", "random", "--pairs", 5)
    return " ".join(run(*words, "--record", path, code=code).split()), Looking.seen


@every_signal
def test_a_match_keeps_the_games_that_are_over(tmp_path, monkeypatch, number):
    path = tmp_path / "games.jsonl"
    monkeypatch.setattr(match_command, "_EVERY", math.inf)
    output, seen = match(path, number, code=130)
    assert "Traceback" not in output
    assert set(seen) == {0}
    found = load(path)
    assert 0 < len(found) < 10
    assert f"{len(found)} of 10 games are in" in output
    assert [(v.ending, v.error) for v in check(found)] == [("finished", None)] * len(found)


def test_a_match_keeps_games_while_it_lasts(tmp_path, monkeypatch):
    monkeypatch.setattr(match_command, "_EVERY", 0.0)
    _, seen = match(tmp_path / "games.jsonl", None, code=0)
    assert 0 < max(seen) < 10
    assert len(load(tmp_path / "games.jsonl")) == 10


def test_a_full_disk_costs_no_games(tmp_path, monkeypatch):
    """Neither a match that goes on, nor its games."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(match_command, "_EVERY", 0.0)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", full)
        output, _ = match(tmp_path / "games.jsonl", None, code=2)
    assert "Traceback" not in output
    assert not (tmp_path / "games.jsonl").exists()
    (elsewhere,) = tmp_path.glob("boardenvs_*/games.jsonl")
    assert len(load(elsewhere)) == 10
    assert f"games.jsonl: full; the games that are over are in {elsewhere} instead" in output


@every_signal
def test_a_training_is_asked_to_end(number):
    with stop_requests() as asked:
        assert not asked()
        send(number)
        assert asked()


# ---- worker processes ----------------------------------------------------------------------------

# Every Python process imports it as it starts.
DYING = """
import os, signal, sys
if "--multiprocessing-fork" in sys.orig_argv:
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_process_that_dies_as_it_starts_is_named_and_nothing_is_lost(tmp_path, monkeypatch):
    (tmp_path / "sitecustomize.py").write_text(DYING)
    words = ["arena", "random", "greedy", "--game", "reversi", "--pairs", 1, "--workers", 1]
    with monkeypatch.context() as patch:
        patch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
        said = run(*words, "--out", tmp_path / "arena", code=2)
    assert "a worker process died before it played, by signal 9 (SIGKILL)" in said
    assert f"boardenvs arena --resume --out {tmp_path / 'arena'}" in said
    assert "Traceback" not in said
    settings = make_settings(["random", "greedy"], ["reversi"], pairs=1)
    run_tournament(settings, tmp_path / "arena", resume=True, workers=0)


def test_a_process_that_dies_with_nothing_to_do_costs_nobody_a_game():
    both = make_settings(["random", "greedy"], ["reversi", "othello"], pairs=1)
    playing = play_pairings(make_plan(both).pairings, workers=1)
    played = [next(playing)]
    (process,) = multiprocessing.active_children()
    process.kill()
    process.join()
    played += playing
    assert len({one.pairing.game for one in played}) == 2
    assert all(one.match is not None and not one.match.forfeits.any() for one in played)
    assert not multiprocessing.active_children()


@every_signal
def test_of_signals_that_nohup_ignores_only_ctrl_c_stops_a_training(number):
    signal.signal(number, signal.SIG_IGN)
    with stop_requests() as stop_requested:
        send(number)
        assert stop_requested() == (number == signal.SIGINT)
