"""`boardenvs match` and `boardenvs arena`: what they print, write and refuse."""

from __future__ import annotations

import json
import logging
import os
from collections import Counter
from functools import partial
from pathlib import Path

import pytest
from command_line import invoke, rows, run
from test_policy import random_policy

from boardenvs import play_match
from boardenvs.agents.policy_file import save_policy
from boardenvs.games import make
from boardenvs.records import check, load
from boardenvs.utils.console import counting

pytestmark = pytest.mark.usefixtures("undrawn")


def test_a_match_is_the_same_by_command_and_in_python(tmp_path: Path) -> None:
    """To the game, and of more openings than one block; in a game that leaves openings out."""
    path, game = tmp_path / "games.jsonl", make("wolf_and_sheep")
    words = ["match", "wolf_and_sheep", "perfect", "greedy", "--pairs", 60, "--seed", 1]
    output = run(*words, "--record", path)
    played = play_match(game, "perfect", "greedy", 60, seed=1)
    low, high = played.interval
    assert f"{played.score:.3f} [{low:.3f}, {high:.3f}]" in output
    assert played.by_role[1] == (60, 0, 0)
    table = rows(run("match", "wolf_and_sheep", "perfect", "perfect", "--pairs", 2))
    assert [" ".join(cells[:5]) for cells in table] == [
        "all 4 2 0 2", "as wolf 2 0 0 2", "as sheep 2 2 0 0",
    ]  # fmt: skip
    assert "Only openings are played that do not change who wins." in " ".join(output.split())
    found = load(path)
    assert {(verdict.ending, verdict.error) for verdict in check(found)} == {("finished", None)}
    lines = played.actions.swapaxes(0, 1).reshape(120, -1).tolist()
    assert [list(r.actions) for r in found] == [[a for a in line if a >= 0] for line in lines]
    assert sum(r.players == ("perfect", "greedy") for r in found) == 60
    before = path.read_bytes()
    short = [*words[:5], 1, "--record", path]
    assert f"{path} exists: give another file, or --overwrite" in run(*short, code=2)
    assert path.read_bytes() == before
    run(*short, "--overwrite")
    assert len(load(path)) == 2


@pytest.mark.parametrize(("player", "code"), [("as_black", 0), ("Otherwise", 1)])
def test_a_player_that_forfeits_all_its_games_ends_a_match_with_1(player: str, code: int) -> None:
    player = f"python:arena_agents:{player}"
    output = run("match", "othello", player, "random", "--pairs", 2, code=code)
    assert f"{player} forfeited {2 + 2 * code} of 4 games" in " ".join(output.split())


def test_each_process_makes_a_player_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the command's own none, which would start an engine only to look at it."""
    path, player = tmp_path / "pids", "python:arena_agents:counted"
    monkeypatch.setenv("ARENA_TEST_PIDS", str(path))
    words = ["connect_four", player, player, "--pairs", 21, "--workers", 2]
    assert "21 openings" in " ".join(run("match", *words).split())
    made = Counter(path.read_text().split())
    assert set(made.values()) == {2}  # one a side
    assert len(made) <= 2
    assert str(os.getpid()) not in made
    path.unlink()
    run("rate", player, "--game", "tictactoe", "--games", 8, "--workers", 1)
    made = Counter(path.read_text().split())
    assert set(made.values()) == {1}
    assert str(os.getpid()) not in made
    for workers in ([], ["--workers", 2]):
        said = run("match", "reversi", "greedy", "gredy", *workers, code=2)
        assert "Did you mean 'greedy'" in said


def test_an_arena_is_played_resumed_and_replaced(tmp_path: Path) -> None:
    out = ["--out", tmp_path / "arena", "--workers", 1]
    few = ["--game", "reversi", "--pairs", 2, "--opening-plies", 3, 5, "--seed", 0]
    output = run("arena", "random", "greedy", *few, *out)
    assert "1 of 1: reversi  greedy - random" in output
    values = json.loads((tmp_path / "arena" / "results.json").read_text())
    assert values["settings"]["opening_plies"] == {"reversi": [3, 5]}
    assert "--resume goes on with it" in run("arena", "random", "greedy", *few, *out, code=2)

    assert "give no players" in run("arena", "--resume", "--seed", 1, *out, code=2)
    games = tmp_path / "arena" / "games.jsonl"
    with games.open("a") as file:
        file.write('{"version": 1, "ga')  # killed while it wrote
    output = run("arena", "--resume", *out)
    assert "1 of 1: pairings in the file of games" in output
    assert len(list(load(games))) == 4
    dead = "python:arena_agents:Dead"
    output = run("arena", dead, "greedy", *few, *out, "--overwrite", code=1)
    assert f"{dead} forfeited all its games and is not rated" in " ".join(output.split())
    assert len(list(load(games))) == 4


def test_the_policies_in_a_folder_are_a_tournament(tmp_path: Path) -> None:
    """As those that a training has kept."""
    folder, words = tmp_path / "policies", ["--game", "tictactoe", "--pairs", 2, "--workers", 1]
    words += ["--out", tmp_path / "arena"]
    folder.mkdir()
    assert f"{folder} has no policies" in run("arena", f"policy:{folder}", *words, code=2)
    for steps in range(3):
        save_policy(random_policy(make("tictactoe"), seed=steps), folder / f"{steps}.npz")
    run("arena", "random", f"policy:{folder},shield=true", *words)
    values = json.loads((tmp_path / "arena" / "results.json").read_text())
    shielded = [f"policy:{folder / str(steps)}.npz,shield=true" for steps in range(3)]
    assert values["settings"]["entrants"] == ["random", *shielded]


def test_progress_and_compiling_are_reported_without_a_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On standard error, so that standard output stays what it is."""
    monkeypatch.setattr("boardenvs.utils.console.counting", partial(counting, every=0.0))
    found = invoke("rate", "greedy", "--game", "reversi", "--games", 8, "--json")
    assert "8 of 8: rating greedy: " in found.stderr
    assert json.loads(found.stdout)["games"] == 8
    logging.getLogger("boardenvs").info("compiling")  # as the compiler does
    handlers = logging.getLogger("boardenvs").handlers
    assert handlers == [logging.lastResort]
