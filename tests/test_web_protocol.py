"""What the server of the page answers: games, lines, agents, records, trainings."""

import gzip
import json
import shutil
import signal
import subprocess
import sys
import time

import httpx
import pytest
from web_server import line, served

from boardenvs import games, records
from boardenvs.agents.trained import FOLDER as TRAINED
from boardenvs.arena import play_match
from boardenvs.records.record import Record, names, replay


@pytest.fixture
def page(server):
    with server.page() as page:
        yield page


def played(game_id, pairs=1, seed=0):
    game = games.make(game_id)
    match = play_match(game, "random", "random", pairs=pairs, seed=seed)
    return records.record_match(game, match, ("one", "other"))


@pytest.mark.parametrize("game_id", games.BUILT_IN)
def test_positions_are_those_of_the_rules(page, game_id):
    record = played(game_id)[0]
    game = record.game
    answer = page.ask("line", line=line(game_id, *names(record)))
    positions = replay(record)
    assert answer["wrong"] is None
    assert len(answer["positions"]) == len(positions)
    for shown, position in zip(answer["positions"], positions, strict=True):
        assert shown["fen"] == position.fen()
        for square, what in enumerate(shown["board"]):
            bit = 1 << square
            inside = [position.pieces(0) & bit, position.pieces(1) & bit, game.holes & bit]
            assert "01#".find(what) == next((i for i, x in enumerate(inside) if x), -1)
        legal = [] if position.is_over() else position.legal_actions()
        assert [move[0] for move in shown["legal"]] == [
            game.action_name(action, position) for action in legal
        ]
    assert answer["positions"][-1]["over"]
    assert answer["positions"][-1]["goals"] == list(record.goal)


def test_a_line_from_a_ply_on(page):
    all_of_it = page.ask("line", line=line("othello", "e3", "f3", "c5"))["positions"]
    rest = page.ask("line", line=line("othello", "e3", "f3", "c5"), since=2)["positions"]
    assert rest == all_of_it[2:]


def test_an_illegal_move_is_said_and_what_was_before_it_is_shown(page):
    answer = page.ask("line", line=line("othello", "e3", "a1", "c5"))
    assert len(answer["positions"]) == 2
    assert "a1" in answer["wrong"]


def test_groups_are_counted_in_lines_of_action_alone(page):
    assert page.ask("line", line=line("lines_of_action"))["positions"][0]["groups"] == [2, 2]
    assert page.ask("line", line=line("othello"))["positions"][0]["groups"] is None


@pytest.mark.parametrize("text", ["trained", "greedy", "alphabeta:depth=1", "mcts:rollouts=20"])
def test_an_agent_moves_by_the_rules(page, text):
    answer = page.ask("move", line=line("lines_of_action"), agent=text, seed=3)
    game = games.make("lines_of_action")
    name = answer["position"]["move"]
    record = Record(game, (game.parse_action(name),))
    assert answer["position"]["fen"] == replay(record)[-1].fen()
    again = page.ask("move", line=line("lines_of_action"), agent=text, seed=3)
    assert again["position"] == answer["position"]


def test_an_agent_that_cannot_play_is_said_as_it_is_typed(page):
    assert "error" not in page.ask("agent", game="othello", agent="trained:shield=true")
    assert "Did you mean 'greedy'" in page.ask("agent", game="othello", agent="gredy")["error"]
    assert "depth" in page.ask("agent", game="othello", agent="alphabeta:depth=0")["error"]
    assert "othello" in page.ask("agent", game="othello", agent="perfect")["error"]
    assert "error" not in page.ask("agent", game="othello", agent="level:10")
    assert "1 to 10" in page.ask("agent", game="othello", agent="level:11")["error"]
    assert [name for name in page.hello["agents"] if name.startswith("level")] == [
        f"level:{level}" for level in range(1, 11)
    ]


def test_explanations_get_better_and_can_be_stopped(page):
    question = {"line": line("othello"), "agent": "mcts:rollouts=100", "seconds": 30}
    number = page.send("explain", **question)
    answers = page.hear(number)
    first = next(answers)["explanation"]
    while (later := next(answers)["explanation"])["positions"] < 4 * first["positions"]:
        pass
    assert {move["move"] for move in later["moves"]} == {"e3", "f4", "c5", "d6"}
    began = time.monotonic()
    page.send("stop", job=number)
    *_, last = answers
    assert last["stopped"]
    assert time.monotonic() - began < 5


def test_a_whole_game_is_reviewed(page):
    record = played("wolf_and_sheep")[0]
    answers = page.hear(
        page.send("review", line=line(record.game.id, *names(record)), agent="perfect")
    )
    found = [answer for answer in answers if "ply" in answer]
    assert [answer["ply"] for answer in found] == list(range(len(record.actions)))
    assert all(answer["explanation"]["exact"] for answer in found)


def test_a_slow_agent_keeps_nobody_waiting(server, page):
    slow = {"line": line("othello"), "agent": "alphabeta:depth=30", "seed": 0}
    number = page.send("move", **slow)
    with server.page() as other:
        for _ in range(3):
            answer = other.ask("move", line=line("othello"), agent="random", seed=1, timeout=20)
            assert answer["position"]["ply"] == 1
    assert page.ask("line", line=line("othello"))["positions"]
    page.send("stop", job=number)
    assert next(page.hear(number))["stopped"]


def test_a_page_that_leaves_stops_what_it_asked_for(server):
    for _ in range(12):  # more than there are processes
        with server.page() as page:
            page.send("move", line=line("othello"), agent="alphabeta:depth=30", seed=0)
            page.ask("line", line=line("othello"))
    with server.page() as page:
        answer = page.ask("move", line=line("othello"), agent="random", seed=0, timeout=30)
        assert answer["position"]["ply"] == 1


def post(server, path, content):
    return httpx.post(
        f"{server.origin}{path}", content=content, headers={"Origin": server.origin}, timeout=60
    )


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz", ".wtb", ".txt"])
def test_records_are_opened(server, tmp_path, suffix):
    kept = played("othello", pairs=3)
    kept = [record for record in kept if record.goal is not None]
    path = tmp_path / f"games{suffix}"
    records.save(path, kept)
    answer = post(server, f"/records?name={path.name}&game=othello", path.read_bytes())
    assert answer.status_code == 200
    found = answer.json()["games"]
    assert [game["moves"].split() for game in found] == [names(record) for record in kept]
    assert [game["goals"] for game in found] == [list(record.goal) for record in kept]


def test_a_file_that_holds_no_records_is_said(server):
    answer = post(server, "/records?name=games.wtb", b"not a file of this kind")
    assert answer.status_code == 400
    assert "WTHOR" in answer.json()["error"]
    assert "/tmp" not in answer.json()["error"]


@pytest.mark.parametrize("format_name", ["jsonl", "wthor", "moves"])
def test_a_game_is_saved(server, tmp_path, format_name):
    record = played("othello")[0]
    question = {"format": format_name, "line": line("othello", *names(record))}
    answer = post(server, "/save", json.dumps({**question, "players": ["human", "trained"]}))
    assert answer.status_code == 200
    path = tmp_path / f"game{records.FORMATS[format_name].suffixes[0]}"
    path.write_bytes(answer.content)
    (found,) = records.load(path)
    assert found.actions == record.actions
    if format_name == "jsonl":
        assert found.players == ("human", "trained")
        assert found.goal == record.goal


def test_a_resigned_game_is_saved_with_its_result(server, tmp_path):
    question = {"format": "jsonl", "line": line("othello", "e3"), "resigned": 0}
    answer = post(server, "/save", json.dumps(question))
    path = tmp_path / "game.jsonl"
    path.write_bytes(answer.content)
    (found,) = records.load(path)
    assert found.goal == (0, 100)
    assert found.info == {"resigned": "black"}


def test_a_game_that_ended_by_its_rules_keeps_its_result_when_saved(server, tmp_path):
    record = played("othello")[0]
    question = {"format": "jsonl", "line": line("othello", *names(record)), "resigned": 0}
    path = tmp_path / "game.jsonl"
    path.write_bytes(post(server, "/save", json.dumps(question)).content)
    (found,) = records.load(path)
    assert (found.goal, found.info) == (record.goal, {})


def test_what_a_file_tells_of_a_game_is_saved_again(server, tmp_path):
    moves = {"format": "jsonl", "line": line("othello", "e3")}
    told = {"players": ["one", "other"], "info": {"forfeit": "red", "year": 1998}}
    path = tmp_path / "game.jsonl"
    answer = post(server, "/save", json.dumps({**moves, **told, "goals": [100, 0]}))
    path.write_bytes(answer.content)
    (found,) = records.load(path)
    assert (found.goal, found.info) == ((100, 0), told["info"])
    for goals in ([100, 101], [0, -1], [0]):
        answer = post(server, "/save", json.dumps({**moves, "goals": goals}))
        assert answer.status_code == 400
        assert "goals" in answer.json()["error"]


def test_what_cannot_be_saved_is_said(server):
    question = {"format": "wthor", "line": line("othello", "e3")}
    answer = post(server, "/save", json.dumps(question))
    assert answer.status_code == 400
    assert "cut off" in answer.json()["error"]


def test_a_training_that_goes_on(page, folder):
    summary = pytest.importorskip(
        "torch.utils.tensorboard", reason="running trainings write with torch"
    )
    run = folder / "fresh"
    run.mkdir()
    (run / "config.yaml").write_text("game: lines_of_action\nrules: {rules: described}\n")
    with summary.SummaryWriter(str(run / "tensorboard")) as writer:
        writer.add_scalar("evaluation/worst", 0.25, 100)
        writer.flush()
        assert "fresh" in [r["name"] for r in page.ask("runs")["runs"]]
        found = page.ask("run", name="fresh")["run"]
        assert found["curves"] == {"evaluation/worst": [[100, 0.25]]}
        assert found["game"] == "lines_of_action:rules=described"
        assert found["policy"] is None
        writer.add_scalar("evaluation/worst", 0.5, 200)
        writer.flush()
        curves = page.ask("run", name="fresh")["run"]["curves"]
        assert curves == {"evaluation/worst": [[100, 0.25], [200, 0.5]]}


def test_a_training_that_has_ended_and_its_policy(page, folder):
    run = folder / "ended"
    run.mkdir()
    (run / "config.yaml").write_text("game: othello\n")
    (run / "metrics.csv").write_text("steps,evaluation/worst\n10,0.5\n20,\n30,0.75\n")
    (run / "report.md").write_text("# Report\n")
    shutil.copy(TRAINED / "othello.npz", run / "policy.npz")
    found = page.ask("run", name="ended")["run"]
    assert found["curves"] == {"evaluation/worst": [[10, 0.5], [30, 0.75]]}
    assert found["report"] == "# Report\n"
    answer = page.ask("move", line=line("othello"), agent=found["policy"], seed=0)
    assert answer["position"]["ply"] == 1


def test_ctrl_c_ends_at_once():
    with served() as server, server.page() as page:
        page.send("move", line=line("othello"), agent="alphabeta:depth=30", seed=0)
        page.ask("line", line=line("othello"))
        began = time.monotonic()
        assert server.stop(signal.SIGINT) == 130
        assert time.monotonic() - began < 10


def test_a_full_pack_is_refused(server):
    packed = gzip.compress(b"\0" * (64 << 20))
    answer = post(server, "/records?name=games.jsonl.gz", packed)
    assert answer.status_code == 400
    assert "32 MiB" in answer.json()["error"]


def test_a_tournament_and_the_games_of_a_pairing(page, folder):
    out = folder / "arena"
    command = [sys.executable, "-m", "boardenvs", "arena", "random", "greedy", "positional"]
    subprocess.run(
        [*command, "--game", "wolf_and_sheep", "--pairs", "2", "--workers", "1", "--out", str(out)],
        check=True,
        capture_output=True,
    )
    found = page.ask("run", name="arena")["run"]
    assert found["recorded"] == ["wolf_and_sheep"]
    cells = found["tables"]["wolf_and_sheep"]["cells"]
    assert len(cells) == 6
    for one, other, won, drawn, lost in cells:
        pairing = {"game": "wolf_and_sheep", "first": one, "second": other}
        games_of_it = page.ask("cell", name="arena", **pairing)["games"]
        assert len(games_of_it) == won + drawn + lost == 4
        wins = [game["goals"][game["players"].index(one)] == 100 for game in games_of_it]
        assert sum(wins) == won
        assert all(game["error"] is None for game in games_of_it)
    assert (
        "no recorded games"
        in page.ask("cell", name="arena", game="othello", first="random", second="greedy")["error"]
    )


def test_a_report_gets_no_further_than_its_own_page(server, folder):
    run = folder / "reported"
    run.mkdir()
    (run / "config.yaml").write_text("game: othello\n")
    (run / "report.html").write_text("<script>1</script>")
    answer = httpx.get(f"{server.origin}/runs/reported/report.html")
    assert answer.status_code == 200
    assert answer.headers["content-security-policy"].startswith("sandbox allow-scripts;")
    assert httpx.get(f"{server.origin}/runs/reported/config.yaml").status_code == 404
