"""`boardenvs match` and `boardenvs arena`: what they print, write and refuse."""

from __future__ import annotations

import json
import resource
import signal
import sys
from pathlib import Path

import pytest
from command_line import run

from boardenvs import play_match
from boardenvs.games import make
from boardenvs.records import check, load

pytestmark = pytest.mark.usefixtures("in_python")


def test_a_match_is_the_same_by_command_and_in_python(tmp_path: Path) -> None:
    """To the game, and of more openings than one block; in a game that leaves openings out."""
    path, game = tmp_path / "games.jsonl", make("wolf_and_sheep")
    words = ["match", "wolf_and_sheep", "perfect", "greedy", "--pairs", 60, "--seed", 1]
    output = run(*words, "--record", path)
    played = play_match(game, "perfect", "greedy", 60, seed=1)
    low, high = played.interval
    assert f"{played.score:.3f} [{low:.3f}, {high:.3f}]" in output
    assert played.by_role[1] == (60, 0, 0)
    assert "Only openings are played that do not change who wins." in " ".join(output.split())
    found = load(path)
    assert {(verdict.ending, verdict.error) for verdict in check(found)} == {("finished", None)}
    assert played.actions is not None
    lines = played.actions.swapaxes(0, 1).reshape(120, -1).tolist()
    assert [list(r.actions) for r in found] == [[a for a in line if a >= 0] for line in lines]
    assert sum(r.players == ("perfect", "greedy") for r in found) == 60


def test_an_arena_is_played_resumed_and_widened(tmp_path: Path) -> None:
    out = ["--out", tmp_path / "arena", "--workers", 1]
    few = ["--game", "reversi", "--pairs", 2, "--opening-plies", 3, 5, "--seed", 0]
    output = run("arena", "random", "greedy", *few, *out)
    assert "1/1  reversi  greedy - random" in output
    assert "<iframe srcdoc=" in (tmp_path / "arena" / "report.html").read_text()
    values = json.loads((tmp_path / "arena" / "results.json").read_text())
    assert values["settings"]["opening_plies"] == {"reversi": [3, 5]}
    assert values["settings"]["anchor"] == "random"
    assert "--resume goes on with it" in run("arena", "random", "greedy", *few, *out, code=2)

    games = tmp_path / "arena" / "games" / "reversi.jsonl"
    with games.open("a") as file:
        file.write('{"version": 1, "ga')  # killed while it wrote
    output = run("arena", "--resume", *out)
    assert "going on: 1 of 1 pairings" in output
    dead = "python:arena_agents:Dead"
    output = run("arena", "--resume", dead, "greedy", *out, code=1)
    assert f"1/1  reversi  greedy - {dead}" in output
    assert f"{dead} forfeited all its games and is not rated" in " ".join(output.split())
    assert len(list(load(games))) == 8
    widened = json.loads((tmp_path / "arena" / "results.json").read_text())
    assert widened["settings"]["opening_plies"] == {"reversi": [3, 5]}
    assert widened["settings"]["anchor"] is None
    assert "other settings" in run("arena", "--resume", "--trust", "--seed", 1, *out, code=2)


def test_a_pairing_that_was_interrupted_is_not_recorded_twice(tmp_path: Path) -> None:
    """Its games are on disk before it is in the journal."""
    out = tmp_path / "arena"
    few = ("--game", "reversi", "--pairs", 2, "--workers", 1, "--out", out)
    run("arena", "random", "greedy", "positional", *few)
    journal, games = out / "journal.jsonl", out / "games" / "reversi.jsonl"
    before = [(record.players, record.actions) for record in load(games)]
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:-1]))
    assert "going on: 2 of 3 pairings" in run("arena", "--resume", "--workers", 1, "--out", out)
    assert [(record.players, record.actions) for record in load(games)] == before


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits on files")
def test_games_that_cannot_be_written_are_named_and_played_again(tmp_path: Path) -> None:
    """The journal has no pairing of which the games are not there."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    out = tmp_path / "arena"
    resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, before[1]))
    try:
        words = ["arena", "random", "greedy", "--game", "reversi", "--pairs", 30, "--workers", 1]
        said = " ".join(run(*words, "--out", out, code=2).split())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    path = out / "games" / "reversi.jsonl"
    assert f"{path}: File too large" in said
    assert path.read_bytes() == b""
    assert len((out / "journal.jsonl").read_bytes().splitlines()) == 1
