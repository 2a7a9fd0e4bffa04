"""Tournaments: the same results however they are played, interrupted and gone on with."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import arena_agents
import numpy as np
import pytest
from registered import FewestDiscs
from variants import HERE

from boardenvs import games
from boardenvs.agents import RandomAgent
from boardenvs.arena import make_settings, play_match, run_tournament, write_results
from boardenvs.arena.playing.openings import same_winner
from boardenvs.arena.report.document import document
from boardenvs.arena.report.markdown import markdown
from boardenvs.arena.report.notes import ladders, notes
from boardenvs.arena.tournament.job import FIRST, NOBODY, SECOND, Entrant, Job, Played
from boardenvs.arena.tournament.journal import Journal
from boardenvs.arena.tournament.results import OVERALL, Results, summarise
from boardenvs.arena.tournament.run import JOURNAL
from boardenvs.arena.tournament.schedule import Schedule
from boardenvs.arena.tournament.settings import make_plan, resumed_settings
from boardenvs.game.openings import distinct_openings
from boardenvs.games import make
from boardenvs.kernel import set_backend

THREE = ["random", "greedy", "python:arena_agents:highest"]


pytestmark = pytest.mark.usefixtures("in_python")


@dataclass
class Log:
    """A watcher that keeps what it is told."""

    done: int = 0
    order: list[tuple[str, str, str]] = field(default_factory=list)

    def begin(self, schedule: Schedule, done: int, workers: int) -> None:
        self.done = done

    def played(self, played: Played) -> None:
        self.order.append(played.key)


def without_timings(results: Results) -> dict[str, Any]:
    values = document(results)
    del values["timings"]
    return values


def play_here(settings: Any) -> Results:
    """A tournament without processes, journal or schedule."""
    plan = make_plan(settings)
    return summarise(settings, plan, [job.play() for job in plan.jobs])


# ---- what is played ----------------------------------------------------------------------------


def test_everyone_meets_everyone_once_in_every_game() -> None:
    settings = make_settings(THREE, ["othello", "reversi"], pairs=7)
    jobs = make_plan(settings).jobs
    meetings = {(job.game, frozenset((job.first.label, job.second.label))) for job in jobs}
    assert len(meetings) == len(jobs) == 6
    assert {job.pairs for job in jobs} == {7}


def test_results_do_not_depend_on_the_order_of_entrants_or_games() -> None:
    one = play_here(make_settings(THREE, ["othello", "reversi"], pairs=3))
    other = play_here(make_settings(THREE[::-1], ["reversi", "othello"], pairs=3))
    values = [
        {(p["game"], p["first"], p["second"]): p for p in document(r)["pairings"]}
        for r in (one, other)
    ]
    assert values[0] == values[1]
    for table in one.tables:
        (same,) = (t for t in other.tables if t.name == table.name)
        assert same.entrants == table.entrants
        assert same.ratings.rating == pytest.approx(table.ratings.rating)


def test_pairings_have_openings_of_their_own_that_the_seed_decides() -> None:
    settings = make_settings(THREE, ["othello"], pairs=8)
    one, two, three = (job.play() for job in make_plan(settings).jobs)
    assert len({str(p.to_json()["games"]) for p in (one, two, three)}) == 3
    again = make_plan(settings).jobs[0].play()
    assert again.to_json()["games"] == one.to_json()["games"]
    other = make_plan(make_settings(THREE, ["othello"], pairs=8, seed=1)).jobs[0].play()
    assert other.to_json()["games"] != one.to_json()["games"]


def test_agents_of_global_chance_repeat_themselves() -> None:
    entrant = Entrant("x", arena_agents.by_global_chance)
    job = Job("othello", make("othello"), entrant, Entrant("random", "random"), 5, (2, 6), 0)
    first, second = (job.play().to_json()["games"] for _ in range(2))
    assert first == second


def test_rule_variants_are_games_of_their_own() -> None:
    texts = ["wolf_and_sheep:rules=classic", "wolf_and_sheep:rules=described"]
    settings = make_settings(["random", "greedy"], texts)
    assert list(settings.openings) == ["wolf_and_sheep", "wolf_and_sheep:rules=described"]


def test_who_cannot_play_a_game_is_left_out_of_it() -> None:
    entrants = ["random", "greedy", "python:arena_agents:Otherwise"]
    results = play_here(make_settings(entrants, ["othello", "reversi"], pairs=2))
    tables = {table.name: set(table.entrants) for table in results.tables}
    assert tables["othello"] == set(entrants)
    assert tables["reversi"] == tables[OVERALL] == {"random", "greedy"}
    assert any("Otherwise does not play reversi: it has never heard" in n for n in notes(results))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"entrants": ["random"]}, "two or more"),
        ({"entrants": ["random", "random"]}, "'random' takes part twice"),
        ({"entrants": ["random", "gredy"]}, "Did you mean 'greedy'"),
        ({"entrants": {"a": lambda o, a: 0, "b": "random"}}, "'a' cannot be sent to another"),
        ({"entrants": {"a": 5, "b": "random"}}, "entrant 'a': 5 is not an agent"),
        ({"entrants": ["random", "python:arena_agents:unmakable"]}, "no weights here"),
        ({"games_played": ["otello"]}, "Did you mean 'othello'"),
        ({"games_played": []}, "no game"),
        ({"pairs": 0}, "pairs is 0"),
        ({"openings": (4, 2)}, "range"),
        ({"openings": (50, 50), "games_played": ["lines_of_action"]}, "lasts 50 random plies"),
        ({"anchor": "gredy"}, "Did you mean 'greedy'"),
    ],
)
def test_wrong_settings_are_named(change: dict[str, Any], message: str) -> None:
    settings = {"entrants": ["random", "greedy"], "games_played": ["othello"], **change}
    with pytest.raises(ValueError, match=message):
        make_plan(make_settings(**settings))


def test_openings_of_wolf_and_sheep_are_still_the_sheeps() -> None:
    """A solver of its own, by the rules alone, agrees that the sheep win every opening kept."""
    game = make("wolf_and_sheep")
    known: dict[Any, bool] = {}

    def mover_wins(position: Any) -> bool:
        key = position[:4]
        if key not in known:
            if position.terminated:
                known[key] = position.result()[position.to_move] == 100
            else:
                moves = position.legal_actions()
                known[key] = not all(mover_wins(position.step(a)) for a in moves)
        return known[key]

    rng = np.random.default_rng(0)
    state, lines = distinct_openings(game, 60, (4, 6), rng, same_winner)
    for row, line in enumerate(lines.tolist()):
        position = game.start()
        for action in line[: state.ply[row]]:
            position = position.step(action)
        assert mover_wins(position) == (position.to_move == 1)
    unchecked, _ = distinct_openings(game, 200, (4, 6), rng)
    assert 0.5 < same_winner(game, unchecked).mean() < 0.95
    assert same_winner(make("othello"), make("othello").init(3)).all()


def test_perfect_sheep_never_lose() -> None:
    entrants = ["perfect", "random", "greedy", "python:arena_agents:lowest"]
    results = play_here(make_settings(entrants, ["wolf_and_sheep"], pairs=15))
    (table,) = results.tables
    wolf, sheep = table.standings["perfect"].by_role
    assert sheep == [45, 0, 0]
    assert table.entrants[0] == "perfect"
    assert sum(wolf) == 45


def test_games_that_cannot_be_sent_to_a_process_are_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Local(FewestDiscs):
        pass

    script = type("Script", (FewestDiscs,), {"__module__": "__main__"})
    monkeypatch.setattr(sys.modules["__main__"], "Script", script, raising=False)
    for factory, message in ((Local, "Local"), (script, "in the script that was started")):
        monkeypatch.setitem(games.GAMES._factories, "fewest_discs", factory)
        with pytest.raises(ValueError, match=f"game 'fewest_discs' cannot be sent.*{message}"):
            make_plan(make_settings(["random", "greedy"], ["fewest_discs"]))


# ---- how it is played --------------------------------------------------------------------------


def test_one_or_two_processes_or_none_give_the_same_results(tmp_path: Path) -> None:
    settings = make_settings(THREE, ["othello", "wolf_and_sheep"], pairs=3)
    here = without_timings(play_here(settings))
    for workers in (1, 2):
        log = Log()
        found = run_tournament(settings, tmp_path / str(workers), workers=workers, watcher=log)
        assert without_timings(found) == here
        assert len(log.order) == 6


def test_a_game_that_the_program_registers_is_played_in_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They do not know its text: what is registered here is not registered there."""
    monkeypatch.setitem(games.GAMES._factories, "fewest_discs", FewestDiscs)
    settings = make_settings(THREE, ["fewest_discs"], pairs=3)
    found = run_tournament(settings, tmp_path, workers=2)
    assert without_timings(found) == without_timings(play_here(settings))
    assert "fewest_discs 6 to 10" in markdown(found, has_pictures=False)
    # Random play is the same in Othello, and who wins the other way round.
    first, second = Entrant("x", "random"), Entrant("y", "random")
    here, there = (
        Job("fewest_discs", make(name), first, second, 5, (2, 6), 0).play().match
        for name in ("fewest_discs", "othello")
    )
    assert here is not None
    assert there is not None
    assert here.scores.tolist() == (1 - there.scores).tolist()


def test_agents_may_be_objects(tmp_path: Path) -> None:
    entrants = {"mine": arena_agents.lowest, "yours": RandomAgent(), "theirs": "greedy"}
    settings = make_settings(entrants, ["reversi"], pairs=2)
    found = run_tournament(settings, tmp_path, workers=1)
    assert set(found.tables[0].entrants) == set(entrants)
    assert found.tables[0].ratings.anchor == found.tables[0].entrants[-1]


def test_a_process_that_dies_loses_its_agents_games_and_no_others(tmp_path: Path) -> None:
    entrants = ["random", "python:arena_agents:dying", "greedy"]
    settings = make_settings(entrants, ["othello", "reversi"], pairs=2)
    found = run_tournament(settings, tmp_path, workers=2)
    assert found.tables[0].standings["python:arena_agents:dying"].counts == (0, 0, 8)
    assert found.tables[0].standings["random"].games == 8
    assert sum("the process died, twice" in note for note in notes(found)) == 4
    assert not any("void" in note for note in notes(found))
    # What is in the journal is not played again, forfeits too.
    log = Log()
    again = run_tournament(settings, tmp_path, resume=True, watcher=log)
    assert (log.done, log.order) == (6, [])
    assert without_timings(again) == without_timings(found)


def test_who_cannot_be_made_forfeits() -> None:
    bad, good = Entrant("bad", arena_agents.unmakable), Entrant("good", "random")
    for pair in ((bad, good), (good, bad)):
        job = Job("othello", make("othello"), *pair, 3, (2, 4), 0)
        match = job.play().match
        assert match is not None
        guilty = 0 if job.first is bad else 1
        assert match.score == guilty
        assert match.conduct[guilty].forfeits == 6
        assert "cannot be made: RuntimeError: no weights here" in str(match.conduct[guilty].message)


def test_a_void_pairing_is_reported_and_rated_around() -> None:
    settings = make_settings(THREE, ["othello"], pairs=2)
    plan = make_plan(settings)
    played = [plan.jobs[0].forfeited(NOBODY, "the machine was hit"), plan.jobs[1].play()]
    played.append(plan.jobs[2].forfeited(SECOND, "gone"))
    results = summarise(settings, plan, [Played.from_json(p.to_json()) for p in played])
    assert any(note.endswith("is void: the machine was hit") for note in notes(results))
    assert np.isnan(results.tables[0].scores).sum() == 3 + 2
    assert np.isfinite(results.tables[0].ratings.rating).all()
    json.dumps(document(results), allow_nan=False)


def test_played_matches_are_read_back_as_they_were() -> None:
    first, second = Entrant("a", "random"), Entrant("b", arena_agents.Otherwise)
    job = Job("reversi", make("reversi"), first, second, 4, (3, 5), 0)
    for played in (job.play(), job.forfeited(FIRST, "x")):
        text = json.dumps(played.to_json())
        assert Played.from_json(json.loads(text)).to_json() == json.loads(text)


def test_costly_jobs_come_first_and_unknown_ones_before_them() -> None:
    settings = make_settings(["a", "b", "c", "random"], ["othello"], pairs=2)
    jobs = [
        Job("othello", make("othello"), x, y, 2, (2, 4), 0)
        for i, x in enumerate(settings.entrants)
        for y in settings.entrants[i + 1 :]
    ]
    match = play_match(make("othello"), "random", "random", 1)
    costs = {"a": 1.0, "b": 5.0, "c": 2.0, "random": 0.1}

    def known(job: Job) -> Played:
        for entrant, conduct in zip((job.first, job.second), match.conduct, strict=True):
            conduct.cpu_seconds = costs[entrant.label] * conduct.timed_moves / conduct.moves
        return Played(*job.key, match)

    schedule = Schedule(jobs)
    assert schedule.seconds_left == np.inf
    order = []
    while schedule.waiting:
        job = schedule.take()
        order.append(job.first.label + job.second.label)
        schedule.learn(job, known(job))
    assert order[:3] == ["ab", "ac", "arandom"]  # all four are known now
    assert order[3:] == ["bc", "brandom", "crandom"]
    assert schedule.seconds_left == 0


# ---- the journal -------------------------------------------------------------------------------


SETTINGS = make_settings(["random", "greedy"], ["othello", "reversi"], pairs=2)


@pytest.fixture
def finished(tmp_path: Path) -> Path:
    """The journal of a finished tournament."""
    journal = Journal.create(tmp_path / JOURNAL, SETTINGS.to_json())
    for job in make_plan(SETTINGS).jobs:
        journal.add(job.play())
    return tmp_path / JOURNAL


def resume(folder: Path, settings: Any = SETTINGS) -> Log:
    log = Log()
    run_tournament(settings, folder, resume=True, workers=1, watcher=log)
    return log


@pytest.mark.parametrize("cut", [1, 20, 200])
def test_a_torn_last_line_is_played_again(finished: Path, cut: int) -> None:
    whole = finished.read_bytes()
    finished.write_bytes(whole[:-cut])
    log = resume(finished.parent)
    assert (log.done, len(log.order)) == (1, 1)
    before, after = (
        [json.loads(line) for line in text.splitlines()] for text in (whole, finished.read_bytes())
    )
    assert before[0] == after[0]
    assert [line["games"] for line in before[1:]] == [line["games"] for line in after[1:]]


def test_other_settings_are_refused_with_what_differs(finished: Path) -> None:
    for change, name in (
        ({"pairs": 3}, "pairs"),
        ({"seed": 1}, "seed"),
        ({"openings": (2, 3)}, "openings of othello"),
    ):
        given: dict[str, Any] = {"games_played": ["othello", "reversi"], "pairs": 2, **change}
        other = make_settings(["random", "greedy"], **given)
        with pytest.raises(ValueError, match=rf"other settings.*\n  {name} was .* and is "):
            resume(finished.parent, other)


def test_entrants_and_games_may_join_and_leave(finished: Path) -> None:
    more = make_settings([*THREE, "perfect"], ["othello", "wolf_and_sheep"], pairs=2)
    log = resume(finished.parent, more)
    assert (log.done, len(log.order)) == (1, 2 + 6)
    less = make_settings(THREE[1:], ["reversi", "othello"], pairs=2)
    log = resume(finished.parent, less)
    assert (log.done, [game for game, *_ in log.order]) == (1, ["reversi"])
    before = json.loads(finished.read_bytes().splitlines()[0])
    assert before == less.to_json()
    # Whoever comes back finds the results of before.
    assert resume(finished.parent, more).order == []
    found = run_tournament(more, finished.parent, resume=True)
    assert without_timings(found) == without_timings(play_here(more))


def test_the_anchor_may_change(finished: Path) -> None:
    before = json.loads(finished.read_bytes().splitlines()[0])
    settings = resumed_settings(before, {"anchor": "greedy"})
    found = run_tournament(settings, finished.parent, resume=True)
    assert found.tables[0].ratings.anchor == "greedy"


def test_settings_come_back_from_the_journal(finished: Path) -> None:
    before = json.loads(finished.read_bytes().splitlines()[0])
    assert resumed_settings(before, {}).to_json() == SETTINGS.to_json()
    given = make_settings(["random", "greedy"], ["othello"], openings=(1, 2), seed=4).to_json()
    assert resumed_settings(given, {}).to_json() == given
    with pytest.raises(ValueError, match="another version: its format is 0"):
        resumed_settings({**before, "format": 0}, {})


def test_folders_are_not_overwritten_by_accident(finished: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="--resume goes on with it, --overwrite replaces it"):
        run_tournament(SETTINGS, finished.parent)
    with pytest.raises(ValueError, match="no tournament was begun there"):
        resume(tmp_path / "other")
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "one.png").write_bytes(b"")
    for overwrite in (False, True):
        with pytest.raises(ValueError, match=r"it has files but no journal\.jsonl, so it is not"):
            run_tournament(SETTINGS, tmp_path / "photos", overwrite=overwrite)
    assert (tmp_path / "photos" / "one.png").exists()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{]\n", "line 4, is not JSON"),
        (b"[1]\n", "not a JSON object"),
        (b"{}\n", "is not a result"),
    ],
)
def test_a_damaged_journal_is_refused(finished: Path, line: bytes, message: str) -> None:
    finished.write_bytes(finished.read_bytes() + line)
    with pytest.raises(ValueError, match=message):
        resume(finished.parent)


# ---- processes that are killed -----------------------------------------------------------------

ENVIRONMENT = {
    **os.environ,
    "BOARDENVS_BACKEND": "numpy",
    "PYTHONPATH": os.pathsep.join([str(HERE.parent), str(HERE)]),
}
SLOW = [*THREE, "python:arena_agents:slow", "--game", "reversi"]


def start(folder: Path, *words: str, **environment: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "boardenvs", "arena", *words, "--pairs", "2", "--workers", "2"]
    return subprocess.Popen(
        [*command, "--out", str(folder)],
        env={**ENVIRONMENT, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def wait_for(condition: Any, process: subprocess.Popen[str] | None = None) -> None:
    for _ in range(600):
        if condition():
            return
        assert process is None or process.poll() is None, process.communicate()[0]
        time.sleep(0.05)
    raise AssertionError("waited in vain")


def lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_tournament_goes_on_to_the_same_results(
    tmp_path: Path, number: signal.Signals
) -> None:
    process = start(tmp_path / "killed", *SLOW)
    wait_for(lambda: lines(tmp_path / "killed" / JOURNAL) >= 3, process)
    process.send_signal(number)
    output, _ = process.communicate()
    assert 3 <= lines(tmp_path / "killed" / JOURNAL) < 7
    if number == signal.SIGINT:
        assert process.returncode == 130
        assert f"go on with: boardenvs arena --resume --out {tmp_path / 'killed'}" in output
        assert "Traceback" not in output
    resumed = subprocess.run(
        [
            *(sys.executable, "-m", "boardenvs", "arena", "--resume", "--trust"),
            *("--out", tmp_path / "killed"),
        ],
        env=ENVIRONMENT,
        check=True,
        capture_output=True,
        text=True,
    )
    assert re.search(r"going on: [2-5] of 6 pairings are in the journal", resumed.stdout)
    settings = make_settings(SLOW[:4], ["reversi"], pairs=2)
    texts = []
    write_results(play_here(settings), tmp_path)
    for folder in (tmp_path, tmp_path / "killed"):
        values = json.loads((folder / "results.json").read_text())
        del values["timings"]
        texts.append(json.dumps(values))
    assert texts[0] == texts[1]


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_processes_end_with_their_parent(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    words = [
        "random",
        "python:arena_agents:leaving_a_pid",
        "--game",
        "othello",
        "--game",
        "reversi",
    ]
    process = start(tmp_path / "out", *words, ARENA_TEST_PIDS=str(pids))
    wait_for(lambda: pids.exists() and len(set(pids.read_text().split())) == 2, process)
    process.kill()
    process.communicate()

    def ended(pid: str) -> bool:
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
        except FileNotFoundError:
            return True

    wait_for(lambda: all(ended(pid) for pid in set(pids.read_text().split())))


# ---- what is written ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Results]:
    set_backend("numpy")
    folder = tmp_path_factory.mktemp("written")
    entrants = ["random", "greedy", "python:arena_agents:Otherwise", "python:arena_agents:lowest"]
    results = play_here(make_settings(entrants, ["othello", "reversi"], pairs=4))
    assert write_results(results, folder) == []
    return folder, results


def test_every_table_has_its_pictures(written: tuple[Path, Results]) -> None:
    folder, results = written
    report = (folder / "report.md").read_text()
    for table in results.tables:
        for kind in ("ratings", "crosstable", "heatmap"):
            picture = folder / table.name / f"{kind}.png"
            assert picture.read_bytes().startswith(b"\x89PNG")
        assert f"({table.name}/ratings.png)" in report
        assert f"({table.name}/heatmap.png)" in report


def test_the_figures_of_results_json_fit_together(written: tuple[Path, Results]) -> None:
    folder, _ = written
    values = json.loads((folder / "results.json").read_text())
    table = values["tables"]["othello"]
    assert [row["entrant"] for row in table["ratings"]][-1] == "python:arena_agents:Otherwise"
    assert table["anchor"] == "random"
    for i, row in enumerate(table["ratings"]):
        count = row["wins"] + row["draws"] + row["losses"]
        assert count == 3 * 2 * 4
        assert row["score"] == pytest.approx((row["wins"] + row["draws"] / 2) / count, abs=1e-4)
        assert np.nanmean([x for x in table["scores"][i] if x is not None]) == pytest.approx(
            row["score"], abs=1e-4
        )
        by_role = row["by_role"]
        assert set(by_role) == {"black", "red"}
        for key in ("wins", "draws", "losses"):
            assert sum(counts[key] for counts in by_role.values()) == row[key]
        for j in range(4):
            if i != j:
                assert table["scores"][i][j] + table["scores"][j][i] == pytest.approx(1)
    won = sum(row["wins"] for row in table["ratings"])
    assert won == sum(row["losses"] for row in table["ratings"])
    assert table["ratings"][-1]["forfeits"] == 24
    assert table["ratings"][-1]["interval"][0] is None
    pairing = values["pairings"][0]
    for key, (low, high) in pairing["share_intervals"].items():
        assert low <= pairing[key] / 8 <= high


def test_the_report_tells_of_forfeits(written: tuple[Path, Results]) -> None:
    report = (written[0] / "report.md").read_text()
    assert re.search(
        r"Otherwise forfeited 8 of 8 games of .*: action 64 \(pass\) is not legal", report
    )
    assert "may be weaker by any amount" in report
    assert "does not play reversi" in report


def test_the_crosstable_has_each_pairs_points(written: tuple[Path, Results]) -> None:
    folder, results = written
    table = results.tables[0]
    section = (folder / "report.md").read_text().split("## Othello")[1]
    rows = section.split("Points of the row")[1].splitlines()[4 : 4 + len(table.entrants)]
    for i, row in enumerate(rows):
        cells = [cell.strip() for cell in row.strip("|").split("|")][2:]
        for j, cell in enumerate(cells):
            won, drawn, _ = table.counts[i, j]
            shown = cell.replace("½", ".5") if cell != "·" else "nan"
            assert float(shown) == won + drawn / 2 if i != j else cell == "·"


def test_without_matplotlib_there_are_figures_and_a_note(
    written: tuple[Path, Results], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    (note,) = write_results(written[1], tmp_path)
    assert 'pip install "boardenvs[arena]"' in note
    names = sorted(p.name for p in tmp_path.iterdir())
    assert names == ["report.html", "report.md", "results.json"]
    assert ".png" not in (tmp_path / "report.md").read_text()


def test_ladders_are_the_entrants_that_differ_in_a_number() -> None:
    labels = ["mcts:rollouts=50", "alphabeta:depth=10", "random", "alphabeta:depth=2", "mcts:c=1.5"]
    entrants = {label: RandomAgent() for label in labels}
    results = play_here(make_settings(entrants, ["reversi"], pairs=1))
    assert ladders(results.tables[0]) == {
        "alphabeta depth": ["alphabeta:depth=2", "alphabeta:depth=10"]
    }
