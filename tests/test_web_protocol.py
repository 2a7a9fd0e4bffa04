"""The answers of the page's server: games, lines, agents, records, trainings."""

import gzip
import json
import os
import shutil
from contextlib import nullcontext
from types import SimpleNamespace

import pytest
from variants import make, random_record
from web_server import line

from boardenvs import games, records
from boardenvs.agents.analyse import analyse
from boardenvs.agents.trained import FOLDER as TRAINED
from boardenvs.board.bitboard import from_squares
from boardenvs.play import choose_action, legal_names
from boardenvs.records.jsonl import parse_record
from boardenvs.records.record import Record, names, played, replay
from boardenvs.web import worker
from boardenvs.web.boards import describe_game, describe_line, read_line, write_game
from boardenvs.web.messages import (
    MAX_PLIES,
    ExplainRequest,
    Line,
    LoadJob,
    MoveRequest,
    ReviewRequest,
    SaveRequest,
    id_of,
    parse_request,
)
from boardenvs.web.runs import list_runs
from boardenvs.web.worker import _answer, _load

OTHELLO = make("othello")


@pytest.mark.parametrize("game_id", games.BUILT_IN)
def test_positions_are_those_of_the_rules(page, game_id):
    record = random_record(make(game_id), plies=16)
    told = line(game_id, *names(record))
    answer = page.ask("line", line=told)
    for shown, position in zip(answer["positions"], replay(record), strict=True):
        assert shown["fen"] == position.fen()
        assert (shown["to_move"], shown["ply"]) == (position.to_move, position.ply)
        assert shown["over"] == position.is_over()
        for sign, role in (("0", 0), ("1", 1)):
            at = [square for square, x in enumerate(shown["board"]) if x == sign]
            assert from_squares(at) == position.pieces(role)
        for figure, at in zip(record.game.look.figures, shown["figures"], strict=True):
            assert from_squares(at) == position.word(figure.word)
        legal = legal_names(position)
        assert [name for name, *_ in shown["legal"]] == list(legal)
        other = 1 - position.to_move
        for (_, squares, lost, name, _), action in zip(shown["legal"], legal.values(), strict=True):
            assert name == record.game.usual_name(action, position)
            assert squares == list(record.game.action_squares(action, position))
            after = position.step(action).pieces(other)
            assert from_squares(lost) == position.pieces(other) & ~after
    assert answer["positions"][-1]["goals"] == (list(record.goal) if record.goal else None)


@pytest.mark.parametrize(
    ("game_id", "moves", "expected", "wrong"),
    [
        ("othello", "f5 f6", {"opening": "Diagonal", "caption": "black to move"}, None),
        ("othello", "f5 d6 c3", {"counts": (5, 2), "standing": ("5", "2"), "number": "4."}, None),
        ("othello", "f5 a1", {"move": "f5"}, "action 56 (a1) is not legal for white at ply 1"),
        (
            "chess", "f2f3 e7e5 g2g4 d8h4",
            {"marks": [31, 59], "badges": [[4]], "number": "3.", "over": True, "goals": (0, 100),
             "opening": None, "caption": "Black wins by checkmate"},
            None,
        ),
        ("connect_four", "4 1 4 1 4 1 4", {"marks": [24], "badges": [[3, 10, 17, 24]]}, None),
    ],
)  # fmt: skip
def test_what_stands_beside_the_board_after_some_moves(game_id, moves, expected, wrong):
    record = read_line(make(game_id), Line(game=game_id, moves=moves.split()))
    positions, error = describe_line(record)
    assert {key: positions[-1][key] for key in expected} == expected
    assert error is None if wrong is None else wrong in error
    assert describe_line(record, len(positions) - 1)[0] == positions[-1:]


def test_jobs_are_answered_by_the_game_so_far(monkeypatch):
    told, over = (Line(game="tictactoe", moves=m.split()) for m in ("a1 a2 b1", "a1 a2 b1 b2 c1"))
    session, chances = played(read_line(make("tictactoe"), told)), range(5)

    def move(**more):
        (part, end) = _answer(MoveRequest(id=1, do="move", line=told, **more))
        assert end == {"end": True}
        return part["position"]["move"]

    found = [move(agent="random", seed=seed) for seed in chances]
    expected = [choose_action(session, "random", seed) for seed in chances]
    assert found == [session.game.action_name(action) for action in expected]
    assert len({*found}) > 1
    times = []
    monkeypatch.setattr(worker, "analyse", lambda *_, time, **more: times.append(time) or analysed)
    analysed = SimpleNamespace(choice=expected[0])
    assert [move(agent=agent, seed=0, seconds=9) for agent in ("mcts", "random")] == found[:1] * 2
    assert times == [9]  # those that search think for so long
    ended = _answer(MoveRequest(id=1, do="move", line=over, agent="random", seed=0))
    assert [*ended] == [{"end": True, "error": "the game is over in this position"}]
    *parts, _ = _answer(ReviewRequest(id=1, do="review", line=over))
    assert [(p["ply"], p["explanation"]["value"], p["rough"]) for p in parts] == [
        (ply, value, False) for ply, value in enumerate([0, 0, 1, -1, 1, -1])
    ]


@pytest.mark.parametrize(
    ("text", "number"),
    [('{"id": 12, "do": 5}', 12), ('{"id":7', 7), ("[]", None), ('{"id": -1}', None)],
)
def test_a_wrong_message_is_answered_by_its_number(text, number):
    assert id_of(text) == number


def test_the_page_is_told_how_games_look():
    told = {
        text: describe_game(make(text))
        for text in ("othello", "go", "chess", "connect_four", "hex")
    }
    looks = {text: game["look"] for text, game in told.items()}
    told_of = {"turns": {"othello"}, "points": {"othello"}, "drops": {"connect_four"}}
    for key, those in told_of.items():
        assert {text for text in told if told[text][key]} == those
    assert {text for text in looks if looks[text]["from_top"]} == {"othello"}
    assert {text for text in looks if looks[text]["cells"]["outline"]} == {"hex"}
    labels = {text: "".join(look["labels"]) for text, look in looks.items()}
    assert labels == {
        "othello": "abcdefgh", "go": "abcdefghj", "chess": "abcdefgh", "connect_four": "1234567",
        "hex": "abcdefghijk",
    }  # fmt: skip
    first = {text: look["shades"][0] for text, look in looks.items()}
    assert (first["othello"], first["go"], first["chess"]) == ("#000000", "#000000", "#ffffff")


def test_explanations_get_better_and_can_be_stopped(page):
    number = page.send("explain", line=line("othello"), agent="mcts:rollouts=8", seconds=60)
    answers = page.hear(number)
    first, later = next(answers)["explanation"], next(answers)["explanation"]
    assert later["nodes"] > first["nodes"]
    assert {move["move"] for move in later["moves"]} == {"e6", "f5", "c4", "d3"}
    page.send("stop", job=number)
    *_, last = answers
    assert last["stopped"]  # a job that ends with its time is not marked
    number = page.send("explain", line=line("othello"), agent="greedy", seconds=9)
    assert sum("explanation" in part for part in page.hear(number)) == 1


LIMITS = {"othello": None, "lines_of_action": 50, "wolf_and_sheep": 200}  # plies


def test_the_last_explanation_is_told_however_soon_it_comes(monkeypatch):
    told = Line(game="tictactoe", moves=["a1"])
    position = played(read_line(make("tictactoe"), told)).position
    found = [
        analyse(position, agent) for agent in ("mcts:rollouts=2", "mcts:rollouts=4", "perfect")
    ]
    monkeypatch.setattr(worker, "analyse_until", lambda *_: iter(found))
    asked = ExplainRequest(id=1, do="explain", line=told, agent="perfect", seconds=9)
    *_, last, end = _answer(asked)
    assert (last["explanation"]["outcome"], end) == ("draw", {"end": True})


def test_promotion_names_pieces_and_kinds_that_can_be_placed_are_told(page):
    told = line("chess", "a2a4", "b7b5", "a4b5", "a7a6", "b5a6", "c8b7", "a6b7", "h7h6")
    figures = [name for name, _ in page.ask("game", game="chess")["game"]["look"]["figures"]]
    legal = page.ask("line", line=told, since=8)["positions"][0]["legal"]
    assert [(move[3], figures[move[4]]) for move in legal if move[1] == [49, 56]] == [
        ("bxa8=Q", "queens"), ("bxa8=R", "rooks"), ("bxa8=B", "bishops"), ("bxa8=N", "knights"),
    ]  # fmt: skip
    placed = {text: page.ask("game", game=text)["game"]["placed"] for text in games.BUILT_IN}
    assert {text for text in placed if placed[text] is None} == {
        "chess", "connect_four", "nine_mens_morris",
    }  # fmt: skip
    limits = {text: page.ask("game", game=text)["game"]["limit"] for text in LIMITS}
    assert limits == LIMITS
    assert (placed["checkers"], placed["hex"], placed["go"]) == (["kings"], [], [])


def test_levels_name_the_game_in_which_they_were_measured(page):
    for game, measured in (("reversi", "othello"), ("hex", "hex")):
        opponents = page.ask("opponents", game=game)["opponents"]
        first, second, *_ = opponents
        assert {one["level"]["measured_in"] for one in (first, second)} == {measured}
        assert first["level"]["rating"] < second["level"]["rating"] < second["level"]["high"]


def test_games_are_called_by_their_titles(page):
    assert page.hello["titles"].keys() == page.hello["games"].keys()
    assert {t: page.hello["titles"][t] for t in ("nine_mens_morris", "tictactoe")} == {
        "nine_mens_morris": "Nine Men's Morris", "tictactoe": "Tic-tac-toe",
    }  # fmt: skip
    assert page.hello["host"] is None  # nobody else can open links
    offered = {*page.hello["agents"]}
    assert {"random", "mcts", "perfect", "level:1", "level:10"} <= offered
    assert not {"policy", "python", "level", "engine", "llm"} & offered  # alone they are nobody
    rules = ["wolf_and_sheep", "wolf_and_sheep:rules=described"]
    assert page.hello["games"]["wolf_and_sheep"] == rules


def test_the_exact_result_is_that_of_the_solution(page):
    told = page.ask("game", game="connect_four")["game"]
    assert (told["advisor"], told["solver"]) == ("perfect", "perfect")
    number = page.send("explain", line=line("connect_four"), agent=told["solver"], seconds=1)
    *_, found, _ = page.hear(number)
    assert (found["explanation"]["outcome"], found["explanation"]["choice"]) == ("win", "4")


# ---- files ---------------------------------------------------------------------------------------


def opened(server, name, content):
    """The answer to a file that the page sends."""
    return server.client.post(server.proven("records", name), content=content).json()


def test_records_are_opened(server, tmp_path):
    kept, path = [random_record(OTHELLO, seed) for seed in range(3)], tmp_path / "games.jsonl.gz"
    records.save(path, kept)
    found = opened(server, path.name, path.read_bytes())["games"]
    assert [game["moves"].split() for game in found] == [names(record) for record in kept]
    plain = server.proven("records", "moves.txt") + "?game=tictactoe"
    (game,) = server.client.post(plain, content="b2 a1").json()["games"]
    assert (game["game"], game["moves"]) == ("tictactoe", "b2 a1")


def test_a_file_that_cannot_be_shown_is_reported(server):
    large = gzip.compress(b"\0" * (1 << 20), mtime=0) * 64
    error = opened(server, "games.jsonl.gz", large)["error"]
    assert "line 1, has more than" in error
    assert "/tmp" not in error


# ---- trainings and tournaments -------------------------------------------------------------------


def make_run(folder, name, **files):
    (folder / name).mkdir()
    for file, text in files.items():
        (folder / name / file.replace("_", ".")).write_text(text)
    return folder / name


def test_a_game_of_all_plies_has_a_note_for_each_position():
    moves, notes = ["pass"] * MAX_PLIES, [""] * (MAX_PLIES + 1)
    saved = {"id": 1, "do": "save", "format": "page", "line": {"game": "go", "moves": moves}}
    assert parse_request(json.dumps({**saved, "notes": notes})).notes == notes
    with pytest.raises(ValueError, match="notes"):
        parse_request(json.dumps({**saved, "notes": [*notes, ""]}))
    asked = {"id": 1, "do": "line", "line": {"game": "go", "moves": moves}, "since": MAX_PLIES}
    assert parse_request(json.dumps(asked)).since == MAX_PLIES


def test_files_with_games_of_all_plies_are_read(tmp_path):
    for plies, error in ((MAX_PLIES, None), (MAX_PLIES + 1, "has 2,001 plies: at most 2,000 are")):
        records.save(tmp_path / "games.jsonl", [Record(OTHELLO, (0,) * plies, goal=(0, 100))])
        with nullcontext() if error is None else pytest.raises(ValueError, match=error):
            (loaded,) = _load(LoadJob(tmp_path / "games.jsonl", "othello"))
            assert (len(loaded["moves"].split()), loaded["goals"]) == (plies, (0, 100))


def test_the_result_of_a_saved_game_is_that_of_the_rules():
    """Where the game is over; else what the page says, as of one whose time was up."""
    moves = names(random_record(OTHELLO))
    for plies, goal in ((len(moves), random_record(OTHELLO).goal), (9, (50, 50))):
        told = Line(game="othello", moves=moves[:plies])
        request = SaveRequest(id=1, do="save", format="jsonl", line=told, goals=(50, 50))
        _, content = write_game(OTHELLO, request)
        assert parse_record(content.decode()).goal == goal


def test_a_saved_game_is_read_back_and_shown_with_its_notes(tmp_path):
    start, info = "8/8/8/3wb3/3bb3/4b3/8/8 white 1", {"event": "a cup", "resigned": "black"}
    told = {"line": Line(game="othello", start=start, moves=["f6"]), "players": ("Ann", "Bob")}
    notes = {"notes": ["none", "a good one"], "curve": [0.5, 0.25], "marks": [None, "best"]}

    def saved(kind):
        request = SaveRequest(id=1, do="save", format=kind, info=info, **told, **notes)
        name, content = write_game(OTHELLO, request)
        (tmp_path / name).write_bytes(content)
        return tmp_path / name

    (loaded,) = _load(LoadJob(saved("jsonl"), "othello"))
    assert loaded == {
        "game": "othello", "start": start, "moves": "f6", "players": ("Ann", "Bob"), "info": info,
        "goals": (0, 100), "error": None,
    }  # fmt: skip
    shown = saved("page").read_text()
    assert '"notes":["none","a good one"],"curve":[0.5,0.25],"marks":[null,"best"]' in shown
    assert ["Ann against Bob" in shown, saved("svg").read_text()[:4]] == [True, "<svg"]
    wrong = tmp_path / "games.txt"
    wrong.write_text("f5a1c3\n")
    (loaded,) = _load(LoadJob(wrong, "othello"))
    assert loaded["moves"] == "f5 a1 c3"  # as they are written
    assert loaded["error"].startswith("action 56 (a1) is not legal for white at ply 1")


def test_runs_are_listed_with_reports_and_policies(server, page, folder):
    run = make_run(folder, "training", config_yaml="game: othello\nsteps: 50\n")
    make_run(folder, "arena", tournament_json="{}\n", report_html="<script>1</script>")
    (run / "policies").mkdir()
    for name in ("policy", "policies/000000000400", "policies/000000000800"):
        shutil.copy(TRAINED / "othello.npz", run / f"{name}.npz")
    (run / "evaluations.csv").write_text("steps,evaluation/random\n0,.5\n9,nan\n")
    for path in (run, *run.iterdir()):
        os.utime(path, (9, 9), follow_symlinks=False)
    os.utime(folder / "arena", (0, 0))  # whose files are new
    found = page.ask("runs")["runs"]
    assert [run["name"] for run in found] == ["arena", "training"], "the latest first"
    runs = {run["name"]: run for run in found}
    training, arena = runs["training"], runs["arena"]
    assert training["table"] == {"steps": [0, 9], "evaluation/random": [0.5, None]}
    assert [training[key] for key in ("kind", "game", "steps", "report")] == [
        "training", "othello", 50, False,
    ]  # fmt: skip
    files = {"best": "policy", "latest": "policies/000000000800", "before": "policies/000000000400"}
    assert {name: training[name] for name in files} == {
        name: f"policy:{run / file}.npz" for name, file in files.items()
    }
    assert [arena[key] for key in ("kind", "report")] == ["tournament", True]
    answer = page.ask("move", line=line("othello"), agent=training["best"], seed=0)
    assert answer["position"]["ply"] == 1
    report = server.client.get(server.proven("report", "arena"))
    assert report.text == "<script>1</script>"
    # It gets no further than its own page.
    assert report.headers["content-security-policy"].startswith("sandbox allow-scripts;")


def test_the_latest_runs_have_their_evaluations(tmp_path):
    for age in range(41):
        run = make_run(tmp_path, f"{age}", config_yaml="", evaluations_csv="steps\n9\n")
        for path in (run, *run.iterdir()):
            os.utime(path, (9**9 - age,) * 2)
    listed = list_runs(tmp_path)
    assert [int(run["name"]) for run in listed] == [*range(41)]
    assert [run.get("table") for run in listed] == [{"steps": [9]}] * 40 + [None]


def test_of_a_run_no_file_is_read_that_is_too_large(tmp_path):
    most, rows = 256 << 10, (256 << 10) // 2 - 3
    for end in ("", "9"):
        scores = "steps\n" + "9\n" * rows + end
        make_run(tmp_path, f"{len(scores)}", config_yaml="", evaluations_csv=scores)
    small, large = sorted(list_runs(tmp_path), key=lambda run: run["name"])
    assert (small["name"], small["table"], large["table"]) == (f"{most}", {"steps": [9] * rows}, {})


# The second line of evaluations, and columns without those that charts need.
COLUMNS = ["steps,evaluation/random\n0,x\n", "a\n1\n", "steps,low/a,high/b\n1,1,1\n"]
BROKEN = ["game: !!int ''", "1:1:1", "steps: " + "9" * 9999, "game: {}", "game: [1]", "[" * 9999]


def test_broken_folders_hide_no_other(server, page, folder):
    for number, text in enumerate(BROKEN):
        scores = COLUMNS[number % len(COLUMNS)]
        make_run(folder, f"broken_{number}", config_yaml=text, evaluations_csv=scores)
    make_run(folder, "whole", config_yaml="game: othello\n", report_html="fine")
    runs = {run["name"]: run for run in page.ask("runs")["runs"]}
    for number in range(len(BROKEN)):
        assert [runs[f"broken_{number}"][key] for key in ("game", "table")] == [None, {}]
    assert runs["whole"]["game"] == "othello"
    assert server.client.get(server.proven("report", "whole")).text == "fine"


def test_no_link_in_a_run_is_followed(server, page, folder, tmp_path):
    inside = make_run(folder, "inside", config_yaml="game: othello\n")
    private = make_run(tmp_path, "private", config_yaml="game: secret\n")
    for file in ("report.html", "policy.npz", "evaluations.csv"):
        (private / file).write_text("steps,evaluation/secret\n0,1\n")
        (inside / file).symlink_to(private / file)
    for number in "12":
        (private / f"{number}.npz").touch()
    (inside / "policies").symlink_to(private)
    (folder / "linked").symlink_to(private)
    runs = {run["name"]: run for run in page.ask("runs")["runs"]}
    assert "linked" not in runs
    seen = [runs["inside"][key] for key in ("report", "table", "best", "latest", "before")]
    assert seen == [False, {}, None, None, None]
    for name in ("linked", "inside"):
        assert "no report" in server.client.get(server.proven("report", name)).json()["error"]
