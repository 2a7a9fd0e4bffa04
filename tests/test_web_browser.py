"""The page in a browser: games, analysis, records, lost connections; pages of games."""

import contextlib
import re
import subprocess
import threading
from urllib.parse import urlsplit

import pytest
from test_policy import random_policy
from variants import HERE, make, random_record
from web_browser import CHROMIUM, Tab, needs_browser
from web_server import PATIENCE, served
from websockets.sync.server import serve

from boardenvs.agents.policy_file import save_policy
from boardenvs.play import review
from boardenvs.records import load, replay, save
from boardenvs.records.page import write_page
from boardenvs.records.record import names

pytestmark = needs_browser
OTHELLO = make("othello")
SLOW = "alphabeta:depth=30"


@pytest.fixture
def tab(browser, server):
    tab = Tab(browser, server)
    yield tab.open()
    tab.close()


@pytest.mark.parametrize(("game", "keys"), [("lines_of_action", False), ("reversi", True)])
def test_a_whole_game_with_mouse_or_keys(tab, game, keys):
    tab.new_game(game, second="random")
    tab.play_on(tab.with_keys if keys else lambda target: target.click())
    assert tab.caption.lower() in tab.said.lower()


def test_moves_that_are_typed_or_dragged(tab):
    tab.new_game("lines_of_action")
    box = tab.field("Your move")
    for typed in ("z9", "B1 b3"):
        box.fill(typed)
        box.press("Enter")
        tab.until(lambda typed=typed: tab.plies or f"{typed} is not a legal" in tab.problem)
    tab.until_ply(1)
    tab.square("a3").drag_to(tab.square("c1"))
    tab.until_ply(2)


def test_undo_redo_hint_and_resign(tab):
    tab.new_game("othello", second="greedy")
    assert [tab.label(name) for name in ("f5", "e4")] == ["f5, legal move, turns 1", "e4, black"]
    start = tab.position
    tab.move("f5")
    after = tab.position
    for name, position in (("Undo", start), ("Redo", after)):
        tab.button(name).click()
        tab.until(lambda position=position: tab.position == position)
    tab.button("Hint").click()
    tab.find(".square.hinted").wait_for()
    tab.button("Resign").click()
    tab.until(lambda: "resigned" in tab.caption)


def test_an_opponent_is_chosen_from_those_that_can_play(tab):
    tab.button("New game").click()
    tab.opened("More agents")
    assert tab.field(re.compile("^Perfect")).is_disabled()
    tab.field("Level 2").check()
    tab.field("White", exact=True).check()
    tab.button("Begin").click()
    tab.until(lambda: tab.plies == 1 and "your turn" in tab.note)
    assert "black: Level 2" in tab.players


def test_a_position_as_text_and_by_hand(tab):
    tab.new_game("othello")
    tab.text("Set up a position").click()
    text, use = tab.field("Position as text"), tab.button("Use this position")
    text.fill("8/8/8/2www3/3bw3/2b5/8/8 white 7")
    use.click()
    tab.until(lambda: tab.label("c4").startswith("c4, white"))
    tab.field("Place pieces by hand").check()
    tab.square("a1").click()
    use.click()
    tab.until(lambda: tab.position.startswith("b7/8/8/2www3"))


def test_chess_asks_for_the_piece_and_a_jump_goes_on_by_itself(tab, server):
    def opened(game, moves):
        tab.page.evaluate("hash => { location.hash = hash }", f"play/{game}?moves={moves}")
        tab.until(lambda: tab.plies == len(moves.split("+")))

    opened("chess", "a2a4+b7b5+a4b5+a7a6+b5a6+c8b7+a6b7+h7h6")
    assert " ".join(tab.find(".movelist .number").all_inner_texts()).split() == [
        "1.",
        "2.",
        "3.",
        "4.",
    ]
    tab.text("Set up a position").click()
    assert tab.field("Place pieces by hand").is_hidden()
    tab.square("b7").click()
    tab.square("a8").click()
    assert tab.find("dialog.ask .figure").all_inner_texts() == ["queen", "rook", "bishop", "knight"]
    tab.button("queen").click()
    tab.until(lambda: (tab.current, tab.label("a8").split(",")[1]) == ("bxa8=Q", " white queen"))
    opened("checkers", "e3-d4+f6-g5+c3-b4+d6-c5+b4-d6+c7-e5")
    assert (tab.caption, "selected" in tab.label("e5")) == ("Black to capture again", True)
    tab.find(".square.legal").first.click()
    tab.until_ply(7)


def test_a_position_is_an_address_with_a_way_back(tab):
    tab.new_game("othello", second="greedy")
    tab.move("f5")
    after, title = tab.position, tab.page.title()
    assert title.startswith(f"{tab.caption} \N{MIDDLE DOT} Othello")
    tab.find(".square.legal").first.click()
    tab.until_ply(4)
    tab.page.go_back()
    tab.until(lambda: (tab.position, tab.page.title()) == (after, title))


def test_a_lost_connection_is_made_again(tab):
    sockets = []

    def through(socket):
        socket.connect_to_server()
        sockets.append(socket)

    tab.page.route_web_socket(re.compile("connect"), through)
    tab.page.reload()
    tab.find(".square.legal").first.wait_for()
    tab.new_game("othello", second=SLOW)
    tab.square("f5").click()
    tab.until_note("thinking")
    sockets[0].close()
    tab.until(lambda: len(sockets) == 2 and not tab.find(".banner").is_visible())
    tab.until_note("thinking")  # the agent is asked again by the page itself
    tab.button("Stop").click()
    tab.button("Undo").click()
    tab.until_note("your turn")


# ---- analysis ------------------------------------------------------------------------------------


def test_what_gave_a_solved_game_away_is_listed(tab, tmp_path):
    record = random_record(make("wolf_and_sheep"), 1)
    save(tmp_path / "game.jsonl", [record])
    tab.open_records(tmp_path / "game.jsonl", 1)
    tab.view("Analyse")
    tab.opened("Analysis settings")
    tab.field("Agent", exact=True).fill("perfect")
    tab.button("Analyse game").click()
    lost = [ply for ply in review(record, "perfect").plies if ply.lost]
    blunders = tab.find("button.blunder")
    tab.until(lambda: blunders.count() == len(lost))
    tab.text(f"Mistakes and blunders: {len(lost)}").first.wait_for()
    cells = tab.find("table.marks td:last-child").all_inner_texts()
    assert sum(map(int, cells)) == len(lost)
    worst = lost[0]
    assert f"{worst.name} (" in blunders.first.inner_text()
    assert "better" not in blunders.first.inner_text()  # "Try again" stands beside it
    blunders.first.focus()
    for _ in range(2):  # the second Enter plays nothing
        tab.page.keyboard.press("Enter")
        tab.until(lambda: tab.current.startswith(names(record)[worst.number - 2]))
    assert f"{worst.name} (" in tab.page.evaluate("document.activeElement.textContent")
    assert tab.plies == len(record.actions)
    tab.button(f"Try again: {worst.number}. {worst.name}").click()
    assert tab.find(".bar").is_hidden()  # it would give the answer away
    for action, answer in ((worst.action, "is not it"), (worst.best.action, "Right:")):
        game, position = record.game, worst.analysis.position
        tab.field("Your move").fill(game.action_name(action, position))
        tab.field("Your move").press("Enter")
        tab.until(lambda answer=answer: answer in tab.find(".answer").inner_text())
    best = record.game.action_name(worst.best.action, worst.analysis.position)
    tab.until(lambda: tab.current.startswith(best))  # the right answer is on the board
    tab.button("Back to the list").click()
    assert "0 of 1 found at once" in tab.text("Mistakes and blunders").first.inner_text()
    assert f"{best} was better" in blunders.first.inner_text()
    tab.opened("Save as a file")
    tab.field("Format").select_option("page")
    with tab.page.expect_download() as download:
        tab.button("Save").click()
    download.value.save_as(tmp_path / "game.html")
    tab.page.goto((tmp_path / "game.html").as_uri())
    assert tab.find("#moves .sign.blunder").count() == tab.find("#curve .mark").count() == len(lost)
    assert tab.text("wolf ahead").is_visible()


def test_what_is_tried_in_a_finished_game_is_a_variation(tab, tmp_path, browser, server):
    """From an engine's line or by hand: saving, copying, stepping and links keep the game."""
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    record = random_record(make("tictactoe"), 4)
    plies = len(record.actions)
    save(tmp_path / "game.jsonl", [record])
    tab.open_records(tmp_path / "game.jsonl", 1)
    tab.view("Analyse")
    for _ in range(2):
        tab.field("Next move").click()
    tab.until(lambda: tab.current == names(record)[1])
    tab.button("Analyse position").click()
    other = tab.find("table.moves tbody th").get_by_text(re.compile(f"^(?!{names(record)[2]})"))
    other.first.click()
    tab.button("Back to the game").wait_for()
    tab.view("Play")
    shown = tab.current
    tab.find(".square.legal").first.click()
    tab.until(lambda: tab.current != shown)
    tried = tab.current
    tab.button("Copy moves").click()
    tab.text("Copied.").first.wait_for()
    assert tab.page.evaluate("navigator.clipboard.readText()").split() == names(record)
    tab.opened("Save as a file")
    with tab.page.expect_download() as download:
        tab.button("Save").click()
    download.value.save_as(tmp_path / "again.jsonl")
    assert load(tmp_path / "again.jsonl")[0].actions == record.actions
    tab.page.reload()
    tab.until(lambda: tab.current == tried)
    tab.button("Copy link").click()
    tab.text("Copied.").first.wait_for()
    linked = Tab(browser, server).open(tab.page.evaluate("navigator.clipboard.readText()"))
    linked.until(
        lambda: linked.find(".movelist [aria-current]").count() and linked.current == tried
    )
    linked.button("Back to the game").click()
    linked.until(lambda: linked.current == names(record)[1])
    linked.field("Last position").click()
    linked.until(lambda: linked.current == names(record)[-1])
    assert linked.find(".movelist > ol > .ply").count() == plies + 1
    linked.close()


def test_a_lesson_is_an_address(tab, server):
    """Its rules come first, and the pupil moves first."""
    tab.page.goto(f"{server.url}&play/connect_four?level=3&position=7/7/7/7/3r3/3yr2 yellow 0")
    rules = tab.page.get_by_role("dialog", name="Rules of Connect Four")
    rules.get_by_text("Red and yellow take turns").wait_for()
    rules.get_by_role("button", name="Begin").click()
    assert "red: Level 3, learner \N{MIDDLE DOT} yellow: you" in tab.players
    assert tab.label("d2").startswith("d2, red")
    tab.until_note("your turn")
    tab.page.goto(f"{server.url}&play/chess?level=33")
    tab.until(lambda: "must be 1 to 10" in tab.problem)
    tab.field("Previous move").click()


def test_nothing_moves_beside_the_board_at_a_reply(tab):
    tab.page.set_viewport_size({"width": 1280, "height": 800})
    for game in ("chess", "go"):
        places = set()
        tab.new_game(game, second="random")
        for _ in range(3):
            if tab.find(".square.movable").count():
                tab.find(".square.movable").last.click()
            tab.page.evaluate(
                "() => { window.tops = new Set(); const look = () => { for (const e of document"
                ".querySelectorAll('.movelist, form.typed')) tops.add(e.getBoundingClientRect().y);"
                " requestAnimationFrame(look); }; look(); }"
            )
            before = tab.plies
            tab.find(".square.legal").first.click()
            tab.until(lambda before=before: tab.plies == before + 2)
            places |= set(tab.page.evaluate("[...tops]"))
        assert len(places) == 2, game


# ---- records -------------------------------------------------------------------------------------


def test_a_file_is_saved_and_a_link_restores_game_and_ply(tab, browser, server, tmp_path):
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab.new_game("othello")
    tab.move("e6", "f6", "c4")
    tab.opened("Save as a file")
    with tab.page.expect_download() as download:
        tab.button("Save").click()
    download.value.save_as(tmp_path / "game.jsonl")
    assert [names(record) for record in load(tmp_path / "game.jsonl")] == [["e6", "f6", "c4"]]
    tab.field("Previous move").click()
    tab.until(lambda: tab.current == "f6")
    tab.button("Copy link").click()
    tab.text("Copied.").first.wait_for()
    other = Tab(browser, server).open(tab.page.evaluate("navigator.clipboard.readText()"))
    other.until_ply(3)
    assert other.current == "f6"
    other.close()


def test_records_show_how_games_went_on_and_the_names_of_openings(tab, tmp_path):
    lines = ["f5d6c3d3c4", "c4e3f6e6f5", "f5d6c4", "f5f6"]  # the second is the first, turned round
    (tmp_path / "games.txt").write_text("\n".join(lines))
    tab.open_records(tmp_path / "games.txt", 2)
    rows = tab.page.get_by_role("region", name="What was played from here").locator("tbody tr")
    for move, counts in (("c4", ["4"]), ("e3", ["3", "1"]), ("f6", ["2", "1"])):
        tab.until(lambda counts=counts: rows.locator("td:nth-child(2)").all_inner_texts() == counts)
        rows.get_by_role("button", name=move, exact=True).click()
    tab.until(lambda: tab.plies == 5)
    tab.field("Last position").click()
    tab.until(lambda: "Tiger opening" in tab.find(".counts").inner_text())


def test_a_run_has_its_report_and_its_policy_plays(tab, folder):
    run = folder / "first_try"
    run.mkdir()
    (run / "config.yaml").write_text("game: tictactoe\nsteps: 400\n")
    (run / "report.html").write_text("<h1>How it went</h1>")
    names = "steps,minutes,evaluation/random,low/random,high/random,train/value_loss"
    (run / "evaluations.csv").write_text(f"{names}\n100,1,.5,.4,.6,.3\n200,2,.75,.7,.8,.2\n")
    network = random_policy(make("tictactoe"))
    (run / "policies").mkdir()
    for file in ("policy.npz", "policies/000000000100.npz", "policies/000000000200.npz"):
        save_policy(network, run / file)
    tab.view("Training and arena")
    with tab.context.expect_page() as report:
        tab.button("Report, with games to step through").click()
    report.value.get_by_role("heading", name="How it went").wait_for()
    shown = tab.find("ul.runs").inner_text()
    for text in ("200 of 400 steps", "about 2 min left", "value loss 0.200", "random, now 75 %"):
        assert text in shown
    tab.field("All trainings in one chart").select_option("train/value_loss")
    tab.text("first_try, now 0.2").wait_for()
    tab.button("Watch the latest policy against the one before").click()
    tab.until_note("of 2 games")
    tab.button("Play against the best policy").click()
    tab.until_note("your turn")


# ---- another program -----------------------------------------------------------------------------


@contextlib.contextmanager
def squatter(port):
    """A program that listens on a port: yields all that it is sent there."""
    requests, messages = [], []

    def answer(connection, request):
        requests.append(f"{request.path} {request.headers}")
        return None if "Upgrade" in request.headers else connection.respond(200, "Hello")

    def hear(connection):
        messages.append(connection.recv(timeout=PATIENCE))
        connection.send(f"{'0' * 32} {'0' * 64}")
        messages.extend(connection)

    with serve(hear, "127.0.0.1", port, process_request=answer) as listening:
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        yield requests, messages
        listening.shutdown()


def test_a_program_on_this_port_learns_no_secret(browser):
    with served() as server:
        tab = Tab(browser, server).open()
        assert server.token not in tab.page.url
        tab.away = True
        server.stop()
        with squatter(server.port) as (requests, messages):
            tab.text("Another program answers on this port").wait_for()
            tab.page.wait_for_timeout(1000)
            assert len(requests) == 1
            assert server.token not in requests[0]
            assert re.fullmatch("[0-9a-f]{32}", *messages)  # the nonce, and no proof
    with served(port=server.port) as later:
        # What was cached for the first name is not used for this one.
        assert urlsplit(later.url).hostname != urlsplit(server.url).hostname
        assert later.token != server.token
        tab.page.goto(later.url)
        tab.find(".square.legal").first.wait_for()
        tab.close()


# ---- pages of games, and marks -------------------------------------------------------------------


def assert_shows(shown, position):
    pieces = re.search(r'<g class="pieces">(.*?)</g>', shown, re.DOTALL)[1]
    assert pieces.count("<use") == (position.own | position.opp).bit_count()
    black, white = position.pieces(0).bit_count(), position.pieces(1).bit_count()
    assert f'<p id="counts">black {black}, white {white}</p>' in shown


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


def test_a_browser_steps_through_games(tmp_path):
    """From an address, by keys, by buttons, and to a game that is searched for."""
    games = [random_record(OTHELLO, s, players=(f"p{s}", "q")) for s in range(3)]
    file = tmp_path / "game.html"
    page = write_page(games).replace("</body>", f"<script>{SCRIPT}</script></body>")
    file.write_text(page, encoding="utf-8")
    document = subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
         "--disable-background-networking", f"--user-data-dir={tmp_path / 'profile'}",
         "--dump-dom", file.as_uri() + "#game=2&ply=7"],
        capture_output=True, text=True, check=True, timeout=120,
    ).stdout  # fmt: skip
    shown, *seen = re.split("<hr>(?=<g)", document)
    positions = replay(games[1])
    for part, ply in zip(seen, (7, 8, 9, 8, 0, -1), strict=True):
        assert_shows(part, positions[ply])
    assert "1 of 3 games" in shown
    assert '<h1 id="name">p2 against q</h1>' in shown
    assert_shows(shown, replay(games[2])[13])
    assert 'id="flip" type="button" aria-pressed="true"' in shown
    assert re.findall(">([a-h])</text>", shown) == [*"hgfedcba"]


def test_a_click_asks_which_of_the_moves_of_a_square(browser, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", f"{HERE.parent}:{HERE}")
    with (
        served("--game", "fences:Fences") as server,
        contextlib.closing(Tab(browser, server)) as tab,
    ):
        tab.open(f"{server.url}&play/fences:Fences")
        tab.button("Begin").click()
        tab.square("b2").click()
        assert tab.find("dialog.ask button").all_inner_texts() == ["b2f", "b2p", "Cancel"]
        tab.button("Cancel").click()
        assert tab.plies == 0
        tab.square("b2").click()
        tab.button("b2f").click()
        tab.until_ply(1)
        assert tab.label("b2") == "b2, ann fence, last move"
        assert tab.label("a1") == "a1, ann 1"
        assert tab.find(".square .count").inner_text() == "1"
        assert re.match("ann 1 .* bob 0", tab.find(".counts").inner_text())
