"""Games to step through on a page, in notebooks and as GIFs."""

import html
import json
import re
from functools import partial

import command_line
import pytest
from variants import random_record

import boardenvs
from boardenvs.board.bitboard import squares_of
from boardenvs.games import GAMES, make
from boardenvs.records import Record, replay, save
from boardenvs.records.page import write_page
from boardenvs.render import ShownGame, to_page, to_svg
from boardenvs.render.geometry import NOTEBOOK_UNIT

OTHELLO, LINES = make("othello"), make("lines_of_action")


def data_of(page):
    return json.loads(re.search(r'<script id="data"[^>]*>(.*?)</script>', page, re.DOTALL)[1])


def boards_of(game, size, kinds):
    """The sides on the squares, in all positions as the page's script makes them."""
    board = [0] * size
    for _, changes, *_ in game["steps"]:
        board = board.copy()
        for change in changes:
            board[change // kinds] = change % kinds
        yield board


@pytest.mark.parametrize("game_id", GAMES)
def test_the_page_has_every_position(game_id):
    record = random_record(make(game_id), plies=60, players=("ada", "bob"))
    content = data_of(write_page([record], legal=True))
    (shown,) = content["games"]
    assert shown["title"] == "ada against bob"
    kinds = len(content["looks"][0]["pieces"])  # half of them for each side
    boards = boards_of(shown, record.game.board.size, kinds + 1)
    for board, position, step in zip(boards, replay(record), shown["steps"], strict=True):
        for role in (0, 1):
            squares = [
                square
                for square in range(len(board))
                if board[square] and 2 * (board[square] - 1) // kinds == role
            ]
            assert squares == list(squares_of(position.pieces(role)))
        ends = [record.game.action_squares(a, position)[-1:] for a in position.legal_actions()]
        assert set(step[-1]) == {square for end in ends for square in end}
    written = [
        f"{position.game.move_number(position)} {position.game.usual_name(action, position)}"
        for action, position in zip(record.actions, replay(record), strict=False)
    ]
    assert [step[0] for step in shown["steps"]] == ["start", *written]
    plies = zip(record.actions, replay(record), strict=False)
    marks = [set(record.game.action_squares(*ply)) for ply in plies]
    assert [set(step[2]) for step in shown["steps"]] == [set(), *marks]
    if record.goal is not None:
        first, second = record.game.sides
        results = {100: f"{first} won", 50: "draw", 0: f"{second} won"}
        assert dict(shown["details"])["result"] == results[record.goal[0]]


def test_a_page_has_what_is_said_of_each_position():
    start = OTHELLO.start()
    extras = {"notes": ["a", "b"], "curve": [0.5, None], "marks": [None, "best"]}
    game = ShownGame(OTHELLO, [start, start.step(20)], [20], "it", [("by", "me")], **extras)
    content = data_of(to_page([game, game], title="both"))
    for shown in content["games"]:
        assert {key: shown[key] for key in extras} == extras
        assert (shown["title"], shown["details"], shown["look"]) == ("it", [["by", "me"]], 0)
        captions = [content["captions"][step[3]] for step in shown["steps"]]
        assert captions == ["black to move", "white to move"]


def test_a_page_of_all_games_asks_for_nothing_from_elsewhere():
    page = write_page([random_record(make(game_id), plies=5) for game_id in GAMES])
    assert re.findall(r'<[^>]*\b(?:src|href)="[^#]', page) == []
    assert "://" not in page.replace("http://www.w3.org/2000/svg", "")


def test_nothing_in_a_record_is_markup():
    evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
    players = evil, "{{data}} {{title}}"
    info = {evil: evil, "values": [1, 2]}
    page = write_page([Record(OTHELLO, (20,), players=players, info=info)], title=evil)
    assert "<img" not in page
    assert page.count("<script") == 2
    (shown,) = data_of(page)["games"]
    assert shown["title"] == " against ".join(players)
    assert {evil, "values"} & dict(shown["details"]).keys() == {evil}  # lists are left out


def test_a_game_that_breaks_the_rules_ends_there_and_says_so():
    (shown,) = data_of(write_page([Record(OTHELLO, (20, 0, 1))]))["games"]
    assert len(shown["steps"]) == 2
    assert any("is not legal" in value for _, value in shown["details"])
    with pytest.raises(ValueError, match="no games"):
        write_page([])


def test_the_command_writes_pages_and_pictures(tmp_path):
    file, page = tmp_path / "games.jsonl", tmp_path / "games.html"
    save(file, [random_record(OTHELLO, 1, 60), random_record(LINES, 2, plies=10)])
    run = partial(command_line.run, "records", file, "--out")
    run(page)
    assert len(data_of(page.read_text(encoding="utf-8"))["games"]) == 2
    run(page, "--number", 2, "--overwrite")
    (one,) = data_of(page.read_text(encoding="utf-8"))["games"]
    assert len(one["steps"]) == 11
    run(tmp_path / "game.svg", "--number", 2)
    assert (tmp_path / "game.svg").read_text(encoding="utf-8").count('class="board"') == 13
    pytest.importorskip("pygame")
    image = pytest.importorskip("PIL.Image")
    run(tmp_path / "game.gif", "--number", 2)
    with image.open(tmp_path / "game.gif") as gif:
        assert gif.n_frames == 11
        times = [gif.seek(frame) or gif.info["duration"] for frame in range(11)]
        assert times[-1] == 3 * times[0]
        assert set(times[:-1]) == {times[0]}


# ---- notebooks ---------------------------------------------------------------------------------


def test_a_notebook_has_the_page_of_a_record_in_a_frame():
    """With the squares that can be played to."""
    record = random_record(OTHELLO, plies=9)
    page = html.unescape(re.search(r'srcdoc="([^"]*)"', record._repr_html_())[1])
    assert page == write_page([record], legal=True)
    (shown,) = data_of(page)["games"]
    assert [bool(step[-1]) for step in shown["steps"]] == [True] * 10


def test_notebooks_show_positions_with_their_legal_moves_or_with_labels():
    position, unit = OTHELLO.start(), NOTEBOOK_UNIT
    assert position._repr_svg_() == to_svg(OTHELLO, position, legal=True, unit=unit)
    shown = position._repr_svg_({0: "7"})
    assert shown == to_svg(OTHELLO, position, labels={0: "7"}, unit=unit)
    line = replay(random_record(make("chess"), plies=3))
    assert [make("chess").move_number(p) for p in line] == ["1.", "1...", "2.", "2..."]
    assert [OTHELLO.move_number(p) for p in replay(random_record(OTHELLO, plies=1))] == ["1.", "2."]
    with pytest.raises(AttributeError, match="module 'boardenvs' has no attribute 'nothing'"):
        _ = boardenvs.nothing
    assert {"play_match", "records", "chess_v0"} <= {*dir(boardenvs)}


def test_notebooks_show_analyses_and_matches_as_tables():
    found = boardenvs.analyse(OTHELLO, "alphabeta:depth=2")
    shown = found._repr_html_()
    written = re.findall(r">([-+]\d+)</text>", shown.partition("</svg>")[0])
    assert written == [f"{move.value:+.0f}" for move in found.moves[:1]]  # all four are equal
    assert shown.count('class="label"') == 4
    # Of several moves from a square the best one's value is written.
    lines = boardenvs.analyse(LINES, "alphabeta:depth=1")
    best = {
        LINES.action_squares(move.action, lines.position)[0]: move.value
        for move in reversed(lines.moves)
    }
    board = lines._repr_html_().partition("</svg>")[0]
    numbers = {int(number) for number in re.findall(r">([-+]\d+)</text>", board)}
    assert numbers == set(best.values()) != {move.value for move in lines.moves}
    assert board.count('class="label"') == len(best)
    match = boardenvs.play_match(OTHELLO, "greedy", "random", pairs=4)
    for page, numbers in (
        (shown, [f"{move.value:+.0f}" for move in found.moves]),
        (match._repr_html_(), [match.wins, match.draws, match.losses, f"{match.score:.3f}"]),
    ):
        assert all(re.search(rf">{re.escape(str(number))}\b", page) for number in numbers)
