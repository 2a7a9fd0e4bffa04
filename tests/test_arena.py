"""Tournaments: the same results however they are played, interrupted and gone on with."""

from __future__ import annotations

import functools
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import arena_agents
import numpy as np
import pytest
from registered import FewestDiscs
from variants import HERE

from boardenvs import games
from boardenvs.arena import (
    Entrant,
    Pairing,
    Played,
    TournamentSettings,
    make_settings,
    play_pairings,
    rate_pairings,
    rating_pool,
    run_tournament,
    write_results,
)
from boardenvs.arena.executor import NOBODY, SECOND
from boardenvs.arena.match import same_winner
from boardenvs.arena.player import PlayerStats
from boardenvs.arena.report import _rounded, compose, document
from boardenvs.arena.results import Results, Standing, summarise
from boardenvs.arena.tournament import GAMES
from boardenvs.arena.tournament_settings import make_plan
from boardenvs.games import make

HIGHEST = "python:arena_agents:highest"
THREE = ["random", "greedy", HIGHEST]


def without_timings(results: Results) -> dict[str, Any]:
    values = document(results)
    del values["timings"]
    return values


def play_here(settings: TournamentSettings) -> Results:
    """A tournament without processes or files."""
    plan = make_plan(settings)
    return summarise(settings, plan, list(play_pairings(plan.pairings)))


def by_key(results: Results) -> dict[tuple[str, ...], dict[str, Any]]:
    pairings = document(results)["pairings"]
    return {(p["game"], p["first"], p["second"]): p for p in pairings}


# ---- what is played ----------------------------------------------------------------------------


def test_pairings_have_openings_of_their_own_that_the_seed_decides() -> None:
    def openings_of(seed: int) -> set[str]:
        settings = make_settings(THREE, ["othello"], pairs=2, opening_plies=(6, 6), seed=seed)
        matches = [pairing.run() for pairing in make_plan(settings).pairings]
        return {str(match.actions[0, :, :6]) for match in matches if match}

    first = openings_of(0)
    assert len(first) == 3
    assert openings_of(0) == first
    assert not openings_of(1) & first


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"entrants": ["random"]}, "two or more"),
        ({"entrants": ["random", "gredy"]}, "Did you mean 'greedy'"),
        ({"entrants": {"a": lambda o, a: 0, "b": "random"}}, "'a' cannot be sent to another"),
        ({"entrants": ["random", "python:arena_agents:unmakable"]}, "no weights here"),
        ({"games_played": ["otello"]}, "Did you mean 'othello'"),
        ({"pairs": 0}, "pairs is 0"),
        ({"opening_plies": (50, 50), "games_played": ["lines_of_action"]}, "50 random plies"),
    ],
)
def test_wrong_settings_are_named(change: dict[str, Any], message: str) -> None:
    settings = {"entrants": ["random", "greedy"], "games_played": ["othello"], **change}
    with pytest.raises(ValueError, match=message):
        make_plan(make_settings(**settings))


def test_openings_of_wolf_and_sheep_are_still_the_sheeps() -> None:
    """Perfect players, who meet twice from each opening, show whose it is."""
    both = {"a": "perfect", "b": "perfect"}
    results = play_here(make_settings(both, ["wolf_and_sheep"], pairs=20))
    (played,) = results.played
    assert played.match is not None
    assert played.match.by_role == ((0, 0, 20), (20, 0, 0))
    assert "wolf_and_sheep: Only openings are played that do not change who wins." in results.notes
    assert same_winner(make("othello"), make("othello").init(3)).all()


# ---- how it is played --------------------------------------------------------------------------


def test_processes_give_the_same_results_and_who_dies_loses_its_own_games(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Among entrants that are objects, in a game that is registered here and not there."""
    monkeypatch.setitem(games.GAMES._factories, "fewest_discs", FewestDiscs)
    entrants = {
        "mine": arena_agents.lowest,
        "chance": arena_agents.by_global_chance,
        "dying": arena_agents.dying,
    }
    played = ["fewest_discs"]
    settings = make_settings(entrants, played, pairs=2)
    found = run_tournament(settings, tmp_path / "arena", workers=2)
    assert "fewest_discs 6 to 10" in compose(found).markdown()
    assert found.tables[0].standings["dying"].counts == (0, 0, 8)
    assert sum("the process died, twice" in note for note in found.notes) == 2
    assert not any("void" in note for note in found.notes)
    assert found.dead == ["dying"]
    # Pairings depend on no others, nor on how many processes play.
    del entrants["dying"]
    less = make_settings(entrants, played, pairs=2)
    again = run_tournament(less, tmp_path / "again", workers=1)
    assert by_key(again).items() <= by_key(found).items()
    # What is in the file is not played again, forfeits neither; and the same comes of it.
    assert resume(tmp_path / "arena", settings, found) == (3, [])


def test_who_cannot_be_made_forfeits_and_void_pairings_are_rated_around() -> None:
    pair = Entrant("bad", arena_agents.unmakable), Entrant("good", "random")
    for guilty, players in enumerate((pair, pair[::-1])):
        match = Pairing("othello", make("othello"), *players, 3, (2, 4), 0).run()
        assert match is not None
        assert (match.score, match.stats[guilty].forfeits) == (guilty, 6)
        assert match.openings == 3, "or they would be called few"
        assert "cannot be made: RuntimeError: no weights here" in str(match.stats[guilty].message)
    settings = make_settings(THREE, ["othello"], pairs=2)
    plan = make_plan(settings)
    one, two, three = plan.pairings
    played = [
        Played(one, one.lost(NOBODY)),
        Played(two, two.run()),
        Played(three, three.lost(SECOND)),
    ]
    assert [len(p.records) for p in played] == [0, 4, 4]
    results = summarise(settings, plan, played)
    assert any(
        note.endswith("is void: its process died twice, in no player's code")
        for note in results.notes
    )
    assert (results.tables[0].counts.sum(axis=2) == 0).sum() == 3 + 2
    assert np.isfinite(results.tables[0].ratings.rating).all()
    json.dumps(document(results), allow_nan=False)


# ---- the file of games -------------------------------------------------------------------------


SETTINGS = make_settings(["random", "greedy"], ["othello", "reversi"], pairs=2)


@functools.cache
def played_at_once() -> Results:
    return play_here(SETTINGS)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    run_tournament(SETTINGS, folder, workers=0)
    return folder


@pytest.fixture
def finished(whole: Path, tmp_path: Path) -> Path:
    """The games of a finished tournament."""
    return shutil.copytree(whole, tmp_path / "finished") / GAMES


def resume(
    folder: Path, settings: TournamentSettings, expected: Results | None = None
) -> tuple[int, list[str]]:
    """Go on to these results, by default those of a tournament at once. How many pairings were
    played before, and the games of those that are played now.
    """
    seen: list[tuple[Played | None, int, int]] = []
    found = run_tournament(
        settings, folder, resume=True, workers=0, watcher=lambda *now: seen.append(now)
    )
    assert without_timings(found) == without_timings(expected or played_at_once())
    before, *played = (done for _, done, _ in seen)
    assert played == [before + 1 + number for number in range(len(played))]
    return before, [now.pairing.game for now, _, _ in seen if now is not None]


@pytest.mark.parametrize("cut", [1, 20, 1000])
def test_a_torn_pairing_is_played_again(finished: Path, cut: int) -> None:
    finished.write_bytes(finished.read_bytes()[:-cut])
    assert resume(finished.parent, SETTINGS) == (1, ["reversi"])
    assert resume(finished.parent, SETTINGS) == (2, [])


def test_what_no_file_can_hold_ends_no_tournament(tmp_path: Path) -> None:
    settings = make_settings(["random", "python:arena_agents:Odd"], ["othello"], pairs=2)
    results = run_tournament(settings, tmp_path, workers=0)
    assert any("no \N{REPLACEMENT CHARACTER} answer" in note for note in results.notes)
    assert resume(tmp_path, settings, results) == (1, [])
    with pytest.raises(ValueError, match=r"there is no .*tournament\.json: no tournament was"):
        run_tournament(settings, tmp_path / "elsewhere", resume=True)


def test_other_settings_are_refused_with_what_differs(finished: Path) -> None:
    for change, name in (
        ({"pairs": 3}, "pairs"),
        ({"seed": 1}, "seed"),
        ({"opening_plies": (2, 3)}, "opening_plies"),
    ):
        given: dict[str, Any] = {"games_played": ["othello", "reversi"], "pairs": 2, **change}
        other = make_settings(["random", "greedy"], **given)
        with pytest.raises(ValueError, match=rf"other settings.*\n  {name} was .* and is "):
            run_tournament(other, finished.parent, resume=True)


# ---- processes that are killed -----------------------------------------------------------------


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 200
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def ended(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_tournament_goes_on_to_the_same_results(
    tmp_path: Path, number: signal.Signals
) -> None:
    """Its processes end with it, whatever they are at."""
    out, pids, waiting = tmp_path / "killed", tmp_path / "pids", "python:arena_agents:waiting"
    words = ["arena", "random", "greedy", waiting, "--game", "reversi", "--pairs", "1"]
    process = subprocess.Popen(
        [sys.executable, "-m", "boardenvs", *words, "--workers", "2", "--out", str(out)],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(HERE.parent), str(HERE)]),
            "ARENA_TEST_PIDS": str(pids),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    wait_for(lambda: lines(out / GAMES) == lines(pids) == 2)
    process.send_signal(number)
    output, _ = process.communicate()
    wait_for(lambda: all(map(ended, pids.read_text().split())))
    assert lines(out / GAMES) == 2
    if number != signal.SIGKILL:
        assert process.returncode == 130
        assert f"-m boardenvs arena --resume --out {out} --trust\n" in output
        assert "Traceback" not in output
    settings = make_settings(["random", "greedy", waiting], ["reversi"], pairs=1)
    assert resume(out, settings, play_here(settings)) == (1, ["reversi"] * 2)


# ---- what is written ---------------------------------------------------------------------------

OTHERWISE = "python:arena_agents:Otherwise"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Results]:
    folder = tmp_path_factory.mktemp("written")
    entrants = ["random", "greedy", OTHERWISE, "python:arena_agents:lowest"]
    results = play_here(make_settings(entrants, ["othello", "reversi"], pairs=4))
    assert write_results(results, folder) == []
    return folder, results


def test_the_numbers_of_results_json_and_the_report_fit_together(
    written: tuple[Path, Results],
) -> None:
    table = json.loads((written[0] / "results.json").read_text())["tables"]["othello"]
    report = (written[0] / "report.md").read_text().split("## Othello")[1]
    points = report.split("Points of the row")[1].splitlines()[4:8]
    rows = zip(table["ratings"], points, written[1].tables[0].counts, strict=True)
    for i, (row, line, counts) in enumerate(rows):
        assert counts.sum(axis=0).tolist() == [row[key] for key in ("wins", "draws", "losses")]
        assert counts.sum() == 3 * 2 * 4
        assert row["score"] == pytest.approx((row["wins"] + row["draws"] / 2) / 24, abs=1e-4)
        cells = [cell.strip() for cell in line.strip("|").split("|")][2:]
        assert cells.pop(i) == "·"
        scores = np.delete(counts @ (1, 0.5, 0), i)
        assert [float(cell.replace("½", ".5")) for cell in cells] == scores.tolist()


def test_ratings_are_those_of_the_pool_or_called_relative(written: tuple[Path, Results]) -> None:
    """Two anchors keep their published ratings, which fix the scale; one does not."""
    published = {anchor.agent: anchor.rating for anchor in rating_pool("othello").anchors}
    for table in written[1].tables[:2]:
        found = dict(zip(table.entrants, table.ratings.rating, strict=True))
        assert found["greedy"] == published["greedy"]
        assert (table.scale, found["random"]) == ("rating", 0)
    overall = written[1].tables[2]
    assert (overall.scale, overall.ratings.anchors) == ("relative", ("random",))
    report = (written[0] / "report.md").read_text()
    assert report.count("| relative |") == 1
    assert report.count("| rating |") == 2
    lonely = play_here(make_settings(["random", HIGHEST], ["othello"], pairs=1))
    assert [(table.name, table.scale) for table in lonely.tables] == [("othello", "relative")]
    # A name is no anchor.
    named = play_here(make_settings({"random": "random", "greedy": HIGHEST}, ["othello"], pairs=1))
    assert named.tables[0].scale == "relative"


def test_who_played_no_game_has_forfeited_none() -> None:
    unplayed, forfeited = Standing((0, 0, 0), PlayerStats()), PlayerStats(forfeits=2)
    assert unplayed.plays
    assert [Standing(c, forfeited).plays for c in ((0, 0, 2), (1, 0, 2))] == [False, True]


def test_numbers_in_json_are_rounded_without_a_negative_zero() -> None:
    numbers = [-0.04, 1.25, math.inf, math.nan, None]
    assert str(_rounded(numbers, 1)) == "[0.0, 1.2, None, None, None]"


def test_games_of_a_file_are_rated_as_the_tournament_does(whole: Path) -> None:
    results = play_here(make_settings(THREE, ["othello"], pairs=5))
    games = [game for played in results.played for game in played.records]
    table, anchors = results.tables[0].ratings, dict.fromkeys(("random", "greedy"), 0.0)
    anchors = {name: table.rating[table.entrants.index(name)] for name in anchors}
    ratings = rate_pairings(THREE, games, anchors)
    assert ratings.entrants == table.entrants
    assert np.array_equal(ratings.rating, table.rating)
    assert np.array_equal(ratings.high, table.high)
    # Without openings each game counts for itself.
    alone = [replace(game, info={}) for game in games]
    assert rate_pairings(THREE, alone, anchors).rating == pytest.approx(table.rating, abs=5)


def test_two_processes_do_not_play_the_same_tournament(finished: Path) -> None:
    code = (
        "import sys; from pathlib import Path\n"
        "from boardenvs.utils.files import working_alone\n"
        "with working_alone(Path(sys.argv[1]), ()): print('mine', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, str(finished.parent)]
    other = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert other.stdout is not None
    other.stdout.readline()
    with pytest.raises(OSError, match="another process is writing into it"):
        resume(finished.parent, SETTINGS)
    other.communicate(b"")
    assert resume(finished.parent, SETTINGS) == (2, [])
