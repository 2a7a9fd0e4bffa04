"""Worker processes that die while they start, or with nothing to do."""

from __future__ import annotations

import multiprocessing
import os
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from command_line import run

from boardenvs.arena import Settings, make_settings, run_tournament
from boardenvs.arena.tournament import pool
from boardenvs.arena.tournament.job import Job, Played
from boardenvs.arena.tournament.pool import WorkerError
from boardenvs.arena.tournament.settings import make_plan

ROOT = Path(__file__).parent.parent

# What every Python process that starts imports: the file has a letter for each to come, and "d" is
# for those that die at once.
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
"""


pytestmark = pytest.mark.usefixtures("in_python")


@pytest.fixture
def tournament() -> Settings:
    return make_settings(["random", "greedy"], ["reversi"], pairs=1)


@pytest.fixture
def starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "site" / "sitecustomize.py").parent.mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(DYING)
    path = tmp_path / "starts"
    paths = [str(tmp_path / "site"), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    monkeypatch.setenv("ROBUST_STARTS", str(path))
    return path


def test_another_process_takes_the_place_of_one_that_died_early(
    tmp_path: Path, starts: Path, tournament: Settings
) -> None:
    starts.write_text("dd")
    results = run_tournament(tournament, tmp_path / "arena", workers=1)
    assert results.tables[0].standings["random"].games == 2
    assert results.tables[0].standings["random"].forfeits == 0


def test_several_that_died_early_are_told_and_nothing_is_lost(
    tmp_path: Path, starts: Path, tournament: Settings
) -> None:
    starts.write_text("d" * 1000)
    with pytest.raises(WorkerError, match=r"3 worker processes .*signal 9 \(SIGKILL\)"):
        run_tournament(tournament, tmp_path / "arena", workers=1)
    words = ["arena", "--resume", "--out", tmp_path / "arena", "--workers", 1]
    told = run(*words, code=2)
    assert f"boardenvs arena --resume --out {tmp_path / 'arena'}" in told
    assert "Traceback" not in told
    starts.write_text("")
    run(*words)


def test_those_that_died_early_are_counted_in_a_row(tmp_path: Path, starts: Path) -> None:
    """Here two and two, and between and after them one that dies in a game, which its player loses
    then.
    """
    starts.write_text("ddlddl")
    settings = make_settings(["random", "python:arena_agents:dying"], ["reversi"], pairs=1)
    results = run_tournament(settings, tmp_path / "arena", workers=1)
    assert starts.read_text() == ""
    assert results.tables[0].standings["python:arena_agents:dying"].forfeits == 2
    assert not multiprocessing.active_children()


def test_a_job_whose_process_died_once_is_played_in_another_one(
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
    assert not any(table.standings["random"].forfeits for table in results.tables)
    assert not any(table.standings[entrants[1]].forfeits for table in results.tables)
    lines = dict.fromkeys(log.read_text().splitlines())  # in their order, each once
    died, other, alone = (line.split() for line in lines)
    assert died[1] == alone[1] != other[1]  # the games
    assert len({died[0], other[0], alone[0]}) == 3  # the processes
    assert died[2] == other[2] == alone[2] == "1"
    assert "OMP_NUM_THREADS" not in os.environ


def test_a_process_that_lives_is_replaced_without_waiting_for_its_end(
    tournament: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it is where another one has died: the job is played again in a new process."""
    worker, (job,) = pool._Worker(multiprocessing.get_context("spawn")), make_plan(tournament).jobs
    assert worker.play(job).result().match is not None
    process = worker._process
    assert process is not None
    join, waited = process.join, list[float | None]()

    def joining(timeout: float | None = None) -> None:
        waited.append(timeout)
        join(timeout and 0.1)

    monkeypatch.setattr(process, "join", joining)
    assert worker.replace()
    assert waited in ([], [None])  # by the executor, once it has been killed
    assert worker.play(job).result().match is not None
    worker.end()


def test_a_process_that_dies_with_nothing_to_do_is_replaced(
    tmp_path: Path, tournament: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = 0

    def play(self: Any, job: Job) -> Future[Played]:
        nonlocal asked
        asked += 1
        if asked == 2:
            process = self._process
            process.kill()
            process.join()
            while not self._executor._broken:  # until it has been noticed
                pass
        return before(self, job)

    before = pool._Worker.play
    monkeypatch.setattr(pool._Worker, "play", play)
    both = make_settings(["random", "greedy"], ["reversi", "othello"], pairs=1)
    results = run_tournament(both, tmp_path / "arena", workers=1)
    assert asked == 2
    assert len(results.played) == 2
    assert all(played.match is not None for played in results.played)
