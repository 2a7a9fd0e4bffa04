"""Games to step through on a page, in notebooks and as GIFs."""

import html
import io
import json
import re
import shutil
import subprocess
import sys
from functools import partial

import command_line
import gymnasium
import numpy as np
import pytest

import boardenvs
from boardenvs import render
from boardenvs.board.bitboard import squares_of
from boardenvs.games import GAMES, make
from boardenvs.play import GameSession
from boardenvs.records import Record, replay, save
from boardenvs.records.page import write_page

CHROMIUM = shutil.which("chromium")


def random_record(game_id, seed=0, plies=1000, players=None):
    session = GameSession(make(game_id), players=players)
    rng = np.random.default_rng(seed)
    while not session.is_over and len(session.actions) < plies:
        session.play(int(rng.choice(session.legal_actions())))
    return session.record()


def data_of(page):
    return json.loads(re.search(r'<script id="data"[^>]*>(.*?)</script>', page, re.DOTALL)[1])


def boards_of(game):
    """The positions as the page's script makes them."""
    board = [int(digit) for digit in game["start"]]
    yield board
    for _, changes, _, _ in game["steps"]:
        board = board.copy()
        for change in changes:
            board[change // 3] = change % 3
        yield board


@pytest.mark.parametrize("game_id", GAMES)
def test_the_page_has_every_position(game_id):
    record = random_record(game_id, players=("ada", "bob"))
    content = data_of(write_page([record], legal=True))
    (shown,) = content["games"]
    positions = replay(record)
    assert shown["title"] == "ada against bob"
    boards = list(boards_of(shown))
    assert len(boards) == len(positions)
    for board, position, targets in zip(boards, positions, shown["targets"], strict=True):
        for role in (0, 1):
            assert [s for s in range(64) if board[s] == role + 1] == list(
                squares_of(position.pieces(role))
            )
        squares = {record.game.action_squares(a, position)[-1:] for a in position.legal_actions()}
        assert {(square,) for square in targets} == {s for s in squares if s}
    names = [step[0] for step in shown["steps"]]
    assert names == [
        record.game.action_name(action, position)
        for action, position in zip(record.actions, positions, strict=False)
    ]
    assert "won" in content["captions"][shown["steps"][-1][3]] or record.goal[0] == 50


def test_a_page_of_all_games_asks_for_nothing_from_elsewhere():
    page = write_page([random_record(game_id, plies=5) for game_id in GAMES])
    assert re.findall(r'<[^>]*\b(?:src|href)="[^#]', page) == []
    assert "://" not in page.replace("http://www.w3.org/2000/svg", "")
    looks = data_of(page)["looks"]
    assert len(looks) == 4  # Reversi looks like Othello
    assert page.count("<template") == 2 * len(looks)


def test_nothing_in_a_record_is_markup():
    evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
    record = random_record("othello", plies=3, players=(evil, "{{data}} {{title}}"))
    record = Record(record.game, record.actions, None, None, record.players, {evil: evil})
    page = write_page([record], title=evil)
    assert "<img" not in page
    assert page.count("<script") == 2
    assert data_of(page)["games"][0]["title"] == f"{evil} against {{{{data}}}} {{{{title}}}}"


def test_a_game_that_breaks_the_rules_ends_there_and_says_so():
    record = random_record("othello", plies=4)
    wrong = Record(record.game, (*record.actions, 0, 1))
    (shown,) = data_of(write_page([wrong]))["games"]
    assert len(shown["steps"]) == 4
    assert any("illegal" in value or "legal" in value for _, value in shown["details"])
    with pytest.raises(ValueError, match="no games"):
        write_page([])


def test_replay_writes_pages_and_gifs(tmp_path):
    file, page = tmp_path / "games.jsonl", tmp_path / "games.html"
    save(file, [random_record("othello", 1), random_record("lines_of_action", 2, plies=10)])

    run = partial(command_line.run, "replay", file)
    run("--html", page)
    assert len(data_of(page.read_text(encoding="utf-8"))["games"]) == 2
    run("--html", page, "--number", 2, "--legal")
    (shown,) = data_of(page.read_text(encoding="utf-8"))["games"]
    assert len(shown["targets"]) == 11
    run("--svg", tmp_path / "game.svg", "--counts", "--legal", "--sheet", tmp_path / "sheet.svg")
    text = (tmp_path / "game.svg").read_text(encoding="utf-8")
    assert "black to move: black 2, red 2" in text
    assert 'class="target"' in text
    assert 'class="target"' in (tmp_path / "sheet.svg").read_text(encoding="utf-8")
    pytest.importorskip("pygame")
    image = pytest.importorskip("PIL.Image")
    run("--number", 2, "--gif", tmp_path / "game.gif")
    with image.open(tmp_path / "game.gif") as gif:
        assert gif.n_frames == 11
    assert "nowhere" in run("--html", tmp_path / "nowhere" / "x.html", code=2)


def test_the_gif_shows_what_is_drawn():
    pytest.importorskip("pygame")
    image = pytest.importorskip("PIL.Image")
    record = random_record("othello", plies=3)
    positions = replay(record)
    content = render.to_gif(record.game, positions, record.actions, unit=16, seconds=0.5)
    with image.open(io.BytesIO(content)) as gif:
        for frame, position in enumerate(positions):
            gif.seek(frame)
            before = positions[frame - 1] if frame else None
            action = record.actions[frame - 1] if frame else None
            drawn = render.to_rgb(record.game, position, action, before=before, unit=16)
            seen = np.asarray(gif.convert("RGB")).astype(int)
            assert np.abs(seen - drawn).mean() < 3
            assert gif.info["duration"] == (1500 if frame == 3 else 500)


# ---- notebooks ---------------------------------------------------------------------------------


@pytest.mark.parametrize("game_id", ["othello", "lines_of_action"])
def test_notebooks_show_games_and_environments(game_id):
    game = make(game_id)
    assert game._repr_svg_().startswith("<svg")
    env = boardenvs.env(game_id)
    assert env._repr_svg_() is None
    env.reset()
    before = env._repr_svg_()
    env.step(env.position.legal_actions()[0])
    assert before.startswith("<svg")
    assert env._repr_svg_() != before
    picture = render.Picture(game, game.start(), legal=True)
    assert "\x1b" not in str(picture)
    assert str(picture).endswith("to move")
    assert picture._repr_svg_().count('class="target"') == len(
        {game.action_squares(a, game.start())[-1] for a in game.start().legal_actions()}
    )


def test_notebooks_show_records_in_a_frame():
    record = random_record("othello", plies=10, players=('"ada"', "bob"))
    found = re.fullmatch(r'<iframe srcdoc="([^"]*)"[^>]*></iframe>', record._repr_html_())
    assert data_of(html.unescape(found[1]))["games"][0]["title"] == '"ada" against bob'
    assert GameSession.of_record(record)._repr_html_() == record._repr_html_()


# ---- environments ------------------------------------------------------------------------------


def test_environments_draw_svg_and_text(monkeypatch):
    env = boardenvs.othello_v0.env(render_mode="svg")
    env.reset()
    assert env.render() == render.to_svg(env.game, env.position)
    env = boardenvs.othello_v0.env(render_mode="ansi")
    env.reset()
    monkeypatch.delenv("NO_COLOR", raising=False)
    coloured = env.render()
    assert "\x1b" in coloured
    monkeypatch.setenv("NO_COLOR", "")
    assert env.render() == coloured
    monkeypatch.setenv("NO_COLOR", "1")
    assert env.render() == re.sub(r"\x1b\[[\d;]*m", "", coloured)
    assert env.render() == render.to_ansi(env.game, env.position, colour=False)
    assert render.to_ansi(env.game, env.position, colour=True) == coloured


def test_vector_environments_draw_every_board():
    pytest.importorskip("pygame")
    envs = boardenvs.vec_env("othello", 3, render_mode="rgb_array", opening_plies=(2, 6))
    with pytest.raises(gymnasium.error.ResetNeeded):
        envs.render()
    envs.reset(seed=1)
    frames = envs.render()
    assert len(frames) == 3
    for frame, position in zip(frames, envs.game.positions(envs.batch.state), strict=True):
        np.testing.assert_array_equal(frame, render.to_rgb(envs.game, position, unit=32))
    before = envs.game.positions(envs.batch.state)
    actions = [position.legal_actions()[-1] for position in before]
    envs.step(np.array(actions))
    for frame, position, action in zip(envs.render(), before, actions, strict=True):
        after = position.step(action)
        marked = render.to_rgb(envs.game, after, action, before=position, unit=32)
        np.testing.assert_array_equal(frame, marked)
    assert boardenvs.vec_env("othello", 3).render() is None
    with pytest.raises(ValueError, match="render_mode"):
        boardenvs.vec_env("othello", 3, render_mode="human")


def test_vector_environments_mark_what_the_opponent_played(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    envs = boardenvs.vec_env(
        "lines_of_action", 2, opponent="greedy", seat="black", render_mode="ansi"
    )
    envs.reset(seed=0)
    assert not any("[" in text for text in envs.render())
    envs.step(np.array([envs.game.start().legal_actions()[0]] * 2))
    for text, position in zip(envs.render(), envs.game.positions(envs.batch.state), strict=True):
        assert envs.game.roles[position.to_move] == "black"
        assert "[W]" in text
        assert "[B]" not in text, "that is the learner's own move"
    envs.reset(seed=0)
    assert not any("[" in text for text in envs.render())


def test_gymnasium_puts_the_boards_in_a_grid(monkeypatch, tmp_path):
    """Its recorder, with the writing of the film left out."""
    pytest.importorskip("pygame")
    recorder = gymnasium.wrappers.vector.RecordVideo
    monkeypatch.setitem(sys.modules, "moviepy", object())
    monkeypatch.setattr(recorder, "stop_recording", lambda self: None)
    envs = boardenvs.vec_env("othello", 4, render_mode="rgb_array", autoreset_mode="NextStep")
    one = render.to_rgb(envs.game, envs.game.start(), unit=32)
    envs = recorder(envs, str(tmp_path / "films"), episode_trigger=lambda episode: True)
    envs.reset(seed=0)
    (frame,) = envs.recorded_frames
    np.testing.assert_array_equal(frame, np.tile(one, (2, 2, 1)))
    envs.recorded_frames.clear()


# ---- in a browser ------------------------------------------------------------------------------


def assert_shows(shown, position):
    pieces = re.search(r'<g class="pieces">(.*?)</g>', shown, re.DOTALL)[1]
    assert pieces.count("<use") == (position.own | position.opp).bit_count()
    black, red = position.pieces(0).bit_count(), position.pieces(1).bit_count()
    assert f'<p id="counts">black {black}, red {red}</p>' in shown


SCRIPT = """
    const $ = id => document.getElementById(id);
    const seen = [];
    const look = () =>
        seen.push(document.querySelector("g.pieces").outerHTML + $("counts").outerHTML);
    look();
    for (const key of ["ArrowRight", "ArrowRight", "ArrowLeft", "Home", "End"]) {
        document.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
        look();
    }
    $("search").value = "P2";
    $("search").dispatchEvent(new Event("input"));
    $("games").selectedIndex = 0;
    $("games").dispatchEvent(new Event("change"));
    $("moves").children[12].firstChild.click();
    $("forward").click();
    $("flip").click();
    document.body.insertAdjacentHTML("beforeend", "<hr>" + seen.join("<hr>"));
"""


@pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium")
def test_a_browser_steps_through_games(tmp_path):
    """From an address, by keys, by buttons, and to a game that is searched for."""
    records = [random_record("othello", s, players=(f"p{s}", "q")) for s in range(3)]
    file = tmp_path / "game.html"
    page = write_page(records).replace("</body>", f"<script>{SCRIPT}</script></body>")
    file.write_text(page, encoding="utf-8")
    document = subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
         "--disable-background-networking", f"--user-data-dir={tmp_path / 'profile'}",
         "--dump-dom", file.as_uri() + "#game=2&ply=7"],
        capture_output=True, text=True, check=True, timeout=120,
    ).stdout  # fmt: skip
    shown, *seen = re.split("<hr>(?=<g)", document)
    positions = replay(records[1])
    for part, ply in zip(seen, (7, 8, 9, 8, 0, -1), strict=True):
        assert_shows(part, positions[ply])
    assert "1 of 3 games" in shown
    assert '<h1 id="name">p2 against q</h1>' in shown
    assert_shows(shown, replay(records[2])[13])
    assert 'id="flip" type="button" aria-pressed="true"' in shown
