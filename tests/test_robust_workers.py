"""Worker processes that die while they start, or with nothing to do."""

from __future__ import annotations

import multiprocessing
import os
import re
import time
from pathlib import Path

import pytest
from command_line import run

from boardenvs.arena import make_settings, play_pairings, run_tournament
from boardenvs.arena.tournament_settings import make_plan

# What every Python process that starts imports: the file has a letter for each to come, "d" for
# those that die at once, and "c" for those that Ctrl-C meets.
DYING = """
import os, signal, sys
path = os.environ.get("ROBUST_STARTS")
if path and "--multiprocessing-fork" in sys.orig_argv:
    with open(path, "r+") as file:
        to_come = file.read()
        file.seek(0)
        file.write(to_come[1:])
        file.truncate()
    if to_come.startswith("d"):
        os.kill(os.getpid(), signal.SIGKILL)
    if to_come.startswith("c"):
        os.kill(os.getpid(), signal.SIGINT)
"""


pytestmark = pytest.mark.usefixtures("in_python")


@pytest.fixture
def starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "site" / "sitecustomize.py").parent.mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(DYING)
    path = tmp_path / "starts"
    paths = [str(tmp_path / "site"), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    monkeypatch.setenv("ROBUST_STARTS", str(path))
    return path


def test_several_that_died_early_are_named_and_nothing_is_lost(
    tmp_path: Path, starts: Path
) -> None:
    starts.write_text("d" * 1000)
    words = ["arena", "random", "greedy", "--game", "reversi", "--pairs", 1, "--workers", 1]
    said = run(*words, "--out", tmp_path / "arena", code=2)
    assert re.search(r"3 worker processes .*signal 9 \(SIGKILL\)", said)
    assert f"boardenvs arena --resume --out {tmp_path / 'arena'}" in said
    assert "Traceback" not in said
    settings = make_settings(["random", "greedy"], ["reversi"], pairs=1)
    run_tournament(settings, tmp_path / "arena", resume=True, workers=0)


def test_those_that_died_early_are_counted_in_a_row(tmp_path: Path, starts: Path) -> None:
    """Here two and two, and between and after them one that dies in a game, which its player loses
    then.
    """
    starts.write_text("ddlddl")
    settings = make_settings(["random", "python:arena_agents:dying"], ["reversi"], pairs=1)
    results = run_tournament(settings, tmp_path / "arena", workers=1)
    assert starts.read_text() == ""
    assert results.tables[0].standings["python:arena_agents:dying"].faults.forfeits == 2
    assert not multiprocessing.active_children()


def test_ctrl_c_does_not_end_those_that_start(starts: Path) -> None:
    starts.write_text("ccc")
    plan = make_plan(make_settings(["random", "greedy"], ["reversi"], pairs=1))
    (played,) = play_pairings(plan.pairings, workers=1)
    assert starts.read_text() == "cc"
    assert played.match is not None


def test_a_pairing_whose_process_died_once_is_played_in_another_one(
    tmp_path: Path, starts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Alone, after all others, however many died before they played; each with one thread."""
    starts.write_text("dl")
    log, flag = tmp_path / "log", tmp_path / "flag"
    flag.touch()
    monkeypatch.setenv("ROBUST_LOG", str(log))
    monkeypatch.setenv("ROBUST_FLAG", str(flag))
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    entrants = ["random", "python:robust_agents:dying_once"]
    settings = make_settings(entrants, ["reversi", "othello"], pairs=1)
    results = run_tournament(settings, tmp_path / "arena", workers=1)
    for table in results.tables:
        assert not any(standing.faults.forfeits for standing in table.standings.values())
    lines = dict.fromkeys(log.read_text().splitlines())  # in their order, each once
    died, other, alone = (line.split() for line in lines)
    assert died[1] == alone[1] != other[1]  # the games
    assert len({died[0], other[0], alone[0]}) == 3  # the processes
    assert died[2] == other[2] == alone[2] == "1"
    assert "OMP_NUM_THREADS" not in os.environ


def test_a_process_that_dies_with_nothing_to_do_costs_nobody_a_game() -> None:
    both = make_settings(["random", "greedy"], ["reversi", "othello"], pairs=1)
    playing = play_pairings(make_plan(both).pairings, workers=1)
    played = [next(playing)]
    (process,) = multiprocessing.active_children()
    process.kill()
    while process.is_alive():
        time.sleep(0.01)
    played += playing
    assert len({one.game for one in played}) == 2
    assert all(one.match is not None and not one.match.forfeits.any() for one in played)
    assert not multiprocessing.active_children()
