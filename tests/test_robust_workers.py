"""Worker processes that die: as they start, once, or with nothing to do."""

from __future__ import annotations

import multiprocessing
import os
from pathlib import Path

import pytest
from command_line import run

from boardenvs.arena import make_settings, play_pairings, run_tournament
from boardenvs.arena.tournament_settings import make_plan

# Every Python process imports it as it starts.
DYING = """
import os, signal, sys
if "--multiprocessing-fork" in sys.orig_argv:
    os.kill(os.getpid(), signal.SIGKILL)
"""

pytestmark = pytest.mark.usefixtures("in_python")


def test_a_process_that_dies_as_it_starts_is_named_and_nothing_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_a_pairing_whose_process_died_once_is_played_in_another_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With one thread, which is the workers' own setting."""
    monkeypatch.setenv("ARENA_TEST_FLAG", str(tmp_path / "flag"))
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    entrants = ["random", "python:arena_agents:dying_once"]
    settings = make_settings(entrants, ["reversi", "othello"], pairs=1)
    results = run_tournament(settings, tmp_path / "arena", workers=1)
    for table in results.tables:
        assert not any(standing.faults.forfeits for standing in table.standings.values())
    assert (tmp_path / "flag").read_text() == "1"
    assert "OMP_NUM_THREADS" not in os.environ


def test_a_process_that_dies_with_nothing_to_do_costs_nobody_a_game() -> None:
    both = make_settings(["random", "greedy"], ["reversi", "othello"], pairs=1)
    playing = play_pairings(make_plan(both).pairings, workers=1)
    played = [next(playing)]
    (process,) = multiprocessing.active_children()
    process.kill()
    process.join()
    played += playing
    assert len({one.game for one in played}) == 2
    assert all(one.match is not None and not one.match.forfeits.any() for one in played)
    assert not multiprocessing.active_children()
