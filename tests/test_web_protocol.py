"""The answers of the page's server: games, lines, agents, records, trainings."""

import base64
import gzip
import os
import shutil

import pytest
from variants import make, random_record
from web_server import line

from boardenvs import games, records
from boardenvs.agents.levels import read_levels
from boardenvs.agents.trained import FOLDER as TRAINED
from boardenvs.board.bitboard import from_squares
from boardenvs.play import MoveNotation
from boardenvs.records.record import names, replay

OTHELLO = make("othello")
pytestmark = pytest.mark.usefixtures("in_python")


@pytest.mark.parametrize("game_id", games.BUILT_IN)
def test_positions_are_those_of_the_rules(page, game_id):
    record = random_record(make(game_id))
    game = record.game
    told = line(game_id, *names(record))
    answer = page.ask("line", line=told)
    assert answer["wrong"] is None
    for shown, position in zip(answer["positions"], replay(record), strict=True):
        assert shown["fen"] == position.fen()
        for what, squares in (("0", position.pieces(0)), ("1", position.pieces(1))):
            found = [square for square, sign in enumerate(shown["board"]) if sign == what]
            assert from_squares(found) == squares
        legal = MoveNotation(game, rule_sheet=True).legal(position)
        assert [name for name, _, _ in shown["legal"]] == list(legal)
        other = 1 - position.to_move
        for (_, squares, lost), action in zip(shown["legal"], legal.values(), strict=True):
            assert squares == list(game.action_squares(action, position))
            after = position.step(action).pieces(other)
            assert from_squares(lost) == position.pieces(other) & ~after
    assert answer["positions"][-1]["goals"] == list(record.goal)
    assert page.ask("line", line=told, since=2)["positions"] == answer["positions"][2:]


def test_moves_before_an_illegal_one_are_shown(page):
    answer = page.ask("line", line=line("othello", "e3", "a1", "c5"))
    assert len(answer["positions"]) == 2
    assert "a1" in answer["wrong"]


def test_an_agent_moves_by_the_rules_and_its_seed(page):
    question = {"line": line("lines_of_action"), "agent": "mcts:rollouts=4", "seed": 3}
    answer = page.ask("move", **question)["position"]
    start = make("lines_of_action").start()
    assert answer["fen"] == start.step(start.game.parse_action(answer["move"])).fen()
    assert page.ask("move", **question)["position"] == answer


@pytest.mark.parametrize("game_id", games.BUILT_IN)
def test_opponents_are_those_that_can_play(page, game_id):
    found = page.ask("opponents", game=game_id)["opponents"]
    levels = [level["rating"] for level in read_levels(make(game_id))]
    assert [one["rating"] for one in found if one["rating"] is not None] == levels
    problems = {one["agent"]: one["problem"] for one in found}
    assert (problems["perfect"] is None) == (game_id == "wolf_and_sheep")
    for agent in ("perfect", "trained"):
        assert problems[agent] == page.ask("agent", game=game_id, agent=agent).get("error")


def test_explanations_get_better_and_can_be_stopped(page):
    question = {"line": line("othello"), "agent": "mcts:rollouts=8", "seconds": 60}
    number = page.send("explain", **question)
    answers = page.hear(number)
    first = next(answers)["explanation"]
    while (later := next(answers)["explanation"])["nodes"] < 2 * first["nodes"]:
        pass
    assert {move["move"] for move in later["moves"]} == {"e3", "f4", "c5", "d6"}
    page.send("stop", job=number)
    *_, last = answers
    assert last["stopped"]  # which one that ends with its time is not


# ---- files ---------------------------------------------------------------------------------------


def opened(server, page, name, content):
    """The answer to a file that the page sends."""
    path = f"/once/{page.ask('ticket')['ticket']}?name={name}"
    return server.client.post(path, content=content).json()


@pytest.mark.parametrize("suffix", [".jsonl.gz", ".txt"])
def test_records_are_opened(server, page, tmp_path, suffix):
    kept = [random_record(OTHELLO, seed) for seed in range(3)]
    path = tmp_path / f"games{suffix}"
    records.save(path, kept)
    found = opened(server, page, path.name, path.read_bytes())["games"]
    assert [game["moves"].split() for game in found] == [names(record) for record in kept]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("games.jsonl.gz", gzip.compress(b"\0" * (64 << 20), mtime=0), "line 1, has more than"),
        ("games.jsonl", b"nonsense", "games.jsonl, line 1: this is not JSON"),
        ("games.txt", b"f5" * 2_001, "2,001 plies"),
    ],
)
def test_a_file_that_cannot_be_shown_is_reported(server, page, name, content, message):
    error = opened(server, page, name, content)["error"]
    assert message in error
    assert "/tmp" not in error


WHOLE = random_record(OTHELLO)


@pytest.mark.parametrize(
    ("moves", "more", "goal"),
    [
        (names(WHOLE), {"resigned": 0}, WHOLE.goal),  # a finished game cannot be resigned
        (["e3"], {"resigned": 0}, (0, 100)),
        (["e3"], {"goals": [100, 0], "info": {"x": 1}}, (100, 0)),
    ],
)
def test_a_game_is_saved(page, tmp_path, moves, more, goal):
    players = "human", "trained"
    question = {"format": "jsonl", "line": line("othello", *moves), "players": players}
    file = page.ask("save", **question, **more)
    path = tmp_path / file["name"]
    path.write_bytes(base64.b64decode(file["content"]))
    (found,) = records.load(path)
    assert (names(found), found.players, found.goal) == (moves, players, goal)
    assert found.info.items() >= more.get("info", {}).items()


# ---- trainings and tournaments -------------------------------------------------------------------


def make_run(folder, name, **files):
    (folder / name).mkdir()
    for file, text in files.items():
        (folder / name / file.replace("_", ".")).write_text(text)
    return folder / name


def test_runs_are_listed_with_reports_and_policies(server, page, folder):
    settings = "game: lines_of_action\nrules: {rules: described}\n"
    run = make_run(folder, "training", config_yaml=settings)
    old = make_run(folder, "arena", journal_jsonl="{}\n", report_html="<script>1</script>")
    for path in (old, *old.iterdir()):
        os.utime(path, (1, 1))
    shutil.copy(TRAINED / "othello.npz", run / "policy.npz")
    scores = "steps,evaluation/worst,evaluation/random\n0,0,.5\n9,0,1\n"
    (run / "evaluations.csv").write_text(scores)
    training, arena = page.ask("runs")["runs"]
    assert training["curve"] == {"random": [[0, 0.5], [9, 1]]}
    assert (training["kind"], training["report"]) == ("training", False)
    assert training["game"] == "lines_of_action:rules=described"
    assert (arena["name"], arena["kind"], arena["report"]) == ("arena", "tournament", True)
    answer = page.ask("move", line=line("othello"), agent=training["policy"], seed=0)
    assert answer["position"]["ply"] == 1
    report = server.client.get(f"/once/{page.ask('ticket', report='arena')['ticket']}")
    assert report.text == "<script>1</script>"
    # It gets no further than its own page.
    assert report.headers["content-security-policy"].startswith("sandbox allow-scripts;")
    assert "no report" in page.ask("ticket", report="training")["error"]


BROKEN = ["!!int ''", "1:1:1", "!!bool x", "!!timestamp x", "[" * 9999, "game: {}", "game: [1]"]


def test_broken_folders_hide_no_other(page, folder):
    scores = "steps,evaluation/random\n0,x\n"
    for number, text in enumerate(BROKEN):
        make_run(folder, f"broken_{number}", config_yaml=text, evaluations_csv=scores)
    make_run(folder, "whole", config_yaml="game: othello\n", report_html="fine")
    runs = {run["name"]: run for run in page.ask("runs")["runs"]}
    assert [runs["broken_0"][key] for key in ("game", "curve")] == [None, {}]
    assert runs["whole"]["game"] == "othello"
    assert "ticket" in page.ask("ticket", report="whole")


def test_no_link_in_a_run_is_followed(page, folder, tmp_path):
    inside = make_run(folder, "inside", config_yaml="game: othello\n")
    private = make_run(tmp_path, "private", config_yaml="game: secret\n")
    for file in ("report.html", "policy.npz", "evaluations.csv"):
        (private / file).write_text("steps,evaluation/secret\n0,1\n")
        (inside / file).symlink_to(private / file)
    (folder / "linked").symlink_to(private)
    runs = {run["name"]: run for run in page.ask("runs")["runs"]}
    assert "linked" not in runs
    assert [runs["inside"][key] for key in ("report", "policy", "curve")] == [False, None, {}]
    for name in ("linked", "inside", "..", "../private"):
        assert "no report" in page.ask("ticket", report=name)["error"]
