"""`boardenvs match` and `boardenvs arena`: what they print, write and refuse."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest
from command_line import run

from boardenvs.arena import play_match
from boardenvs.arena.playing.openings import same_winner
from boardenvs.games import make
from boardenvs.records import check, load

pytestmark = pytest.mark.usefixtures("in_python")


def test_a_match_says_what_playing_it_says(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    output = run("match", "wolf_and_sheep", "perfect", "greedy", "--pairs", 12, "--record", path)
    game = make("wolf_and_sheep")
    played = play_match(
        game, "perfect", "greedy", 12, opening_plies=game.opening_plies, keep=same_winner
    )
    low, high = played.interval
    assert f"{played.score:.3f} [{low:.3f}, {high:.3f}]" in output
    rows = {
        cells[0]: [int(cell.split()[0]) for cell in cells[1:5]]
        for line in output.splitlines()
        if line.startswith("│")
        for cells in [[cell.strip() for cell in line.strip("│").split("│")]]
    }
    assert rows["all"] == [24, played.wins, played.draws, played.losses]
    assert rows["as wolf"] == [12, *played.by_role[0]]
    assert rows["as sheep"] == [12, *played.by_role[1]] == [12, 12, 0, 0]
    found = load(path)
    assert [verdict.ending for verdict in check(found)] == ["finished"] * 24
    assert not any(verdict.error for verdict in check(found))
    assert sum(r.players == ("perfect", "greedy") for r in found) == 12


def test_a_match_tells_of_forfeits() -> None:
    output = run("match", "othello", "python:arena_agents:Otherwise", "random", "--pairs", 3)
    assert "Otherwise forfeited 6 of 6 games: action 64 (pass) is not legal in" in output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["match", "otello", "random", "greedy"], "Did you mean 'othello'"),
        (["match", "othello", "random", "gredy"], "Did you mean 'greedy'"),
        (["match", "othello", "perfect", "greedy"], "cannot play othello"),
        (["match", "othello", "random", "greedy", "--record", "x.doc"], "does not say its format"),
        (["match", "othello", "random", "greedy", "--opening-plies", 5, 2], "range"),
        (["arena", "random"], "two or more"),
        (["arena", "random", "gredy"], "Did you mean 'greedy'"),
        (["arena", "--resume"], "no tournament was begun there"),
        (["arena", "--resume", "--overwrite"], "take one"),
    ],
)
def test_wrong_words_are_named(
    words: list[object], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    output = run(*words, code=2)
    assert re.search(message, " ".join(output.split()))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_told_before_players_are_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    words = ["arena", "random", "python:arena_agents:unmakable", "--game", "othello", "--out"]
    told = " ".join(run(*words, tmp_path / "file" / "arena", code=2).split())
    assert "file is a file, not a folder" in told
    assert "no weights here" not in told
    assert "no weights here" in run(*words, tmp_path / "arena", code=2)


def test_an_arena_is_played_resumed_and_widened(tmp_path: Path) -> None:
    out = ["--out", tmp_path / "arena", "--workers", 1]
    few = ["--game", "reversi", "--pairs", 2, "--opening-plies", 3, 5, "--seed", 0]
    output = run("arena", "random", "greedy", *few, *out)
    assert "1/1  reversi  greedy - random" in output
    report = html.unescape((tmp_path / "arena" / "report.html").read_text())
    shown = json.loads(re.search(r'<script id="data"[^>]*>(.*?)</script>', report)[1])  # type: ignore[index]
    assert [game["title"] for game in shown["games"]] == [
        "greedy against random",
        "random against greedy",
    ]
    values = json.loads((tmp_path / "arena" / "results.json").read_text())
    assert values["settings"]["openings"] == {"reversi": [3, 5]}
    assert values["settings"]["anchor"] == "random"
    assert "--resume goes on with it" in run("arena", "random", "greedy", *few, *out, code=2)

    output = run("arena", "--resume", *out)
    assert "going on: 1 of 1 pairings" in output
    games = tmp_path / "arena" / "games" / "reversi.jsonl"
    with games.open("a") as file:
        file.write('{"version": 1, "ga')  # killed while it wrote
    output = run("arena", "--resume", "python:arena_agents:lowest", "greedy", *out)
    assert len(list(load(games))) == 8
    assert "1/1  reversi  greedy - python:arena_agents:lowest" in output
    widened = json.loads((tmp_path / "arena" / "results.json").read_text())
    assert widened["settings"]["openings"] == {"reversi": [3, 5]}
    assert widened["settings"]["anchor"] is None
    assert "other settings" in run("arena", "--resume", "--trust", "--seed", 1, *out, code=2)

    output = run("arena", "random", "greedy", *few, "--overwrite", *out)
    again = json.loads((tmp_path / "arena" / "results.json").read_text())
    del again["timings"], values["timings"]
    assert again == values
