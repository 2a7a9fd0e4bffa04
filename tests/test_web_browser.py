"""The page in a browser: whole games by mouse and keys, analysis, records, lost connections."""

import re
import shutil
from dataclasses import replace

import pytest
from web_browser import OVER, Tab, needs_browser
from web_server import served

from boardenvs import games, records
from boardenvs.agents.trained import FOLDER as TRAINED
from boardenvs.arena import play_match
from boardenvs.records.record import Record, parse_names
from boardenvs.web.guard import address_in_file

pytestmark = needs_browser
SLOW = "alphabeta:depth=30"


@pytest.fixture
def tab(browser, server):
    tab = Tab(browser, server)
    yield tab.open()
    tab.close()


def saved(tab, path):
    with tab.page.expect_download() as download:
        tab.button("Save").click()
    download.value.save_as(path)
    (record,) = records.load(path)
    return record


@pytest.mark.parametrize(
    ("game", "keys"),
    [
        ("othello", False),
        ("lines_of_action", False),
        ("wolf_and_sheep", True),
        ("reversi", True),
    ],
)
def test_a_whole_game_with_mouse_or_keys(tab, game, keys):
    tab.new_game(game)
    tab.play_on(tab.with_keys if keys else lambda target: target.click())
    assert OVER.search(tab.caption)
    assert tab.caption.lower() in tab.said.lower()


def test_the_address_in_a_file_leads_to_the_page(browser, server):
    tab = Tab(browser, server)
    address = address_in_file(server.url)
    tab.page.goto(address)
    tab.find(".square.legal").first.wait_for()
    assert tab.page.url == f"{server.origin}/"
    tab.faults.remove(f"a request to {address}")
    tab.close()


def test_squares_are_named_for_those_who_hear_them(tab):
    tab.new_game("othello")
    assert tab.label("e3") == "e3, legal move"
    assert tab.label("d4") == "d4, black"
    tab.move("e3")
    assert "to move" in tab.said
    for name in ("New game", "Undo", "Hint", "Resign"):
        assert tab.button(name).is_visible()


def test_moves_that_are_typed(tab):
    tab.new_game("lines_of_action", "human", "human")
    box = tab.field("Your move")
    box.fill("z9")
    box.press("Enter")
    assert "z9 is no legal move here" in tab.find(".place > .problem").inner_text()
    box.fill("b1-b3")
    box.press("Enter")
    tab.until_ply(1)
    box.fill("A3 C3")
    box.press("Enter")
    tab.until(lambda: "a3" in tab.find(".place > .problem").inner_text() or tab.plies == 2)


def test_dragging_a_piece(tab):
    tab.new_game("lines_of_action", "human", "human")
    tab.square("b1").drag_to(tab.square("b3"))
    tab.until_ply(1)
    assert "ply 1 of at most 50" in tab.find(".counts").inner_text()
    assert tab.label("b3").startswith("b3, black")


def test_undo_redo_hint_and_resign(tab):
    tab.new_game("othello", "human", "greedy")
    start = tab.position
    tab.move("e3")
    assert tab.plies == 2
    after = tab.position
    tab.button("Undo").click()
    tab.until(lambda: tab.position == start)
    tab.button("Redo").click()
    tab.until(lambda: tab.position == after)
    tab.button("Hint").click()
    tab.find(".square.hinted").wait_for()
    assert "would play" in tab.note
    tab.button("Resign").click()
    assert "resigned" in tab.caption
    tab.button("Undo").click()
    tab.until_caption("to move")


def test_an_agent_that_is_none_is_said_as_it_is_typed(tab):
    field = tab.field("Red is played by")
    field.fill("gredy")
    problem = tab.text("Did you mean 'greedy'?")
    problem.wait_for()
    field.fill("python:os:getcwd")
    tab.text("may not name").wait_for()
    field.fill("greedy")
    field.press("Enter")
    tab.until(lambda: not problem.count())


def test_agents_that_play_each_other_pause(tab):
    tab.new_game("othello", "random", "random")
    tab.until(lambda: tab.plies > 5)
    if not OVER.search(tab.caption):
        tab.field("Seconds a move").fill("3")
        tab.button("Pause").click()
        plies = tab.plies
        tab.page.wait_for_timeout(300)
        assert tab.plies == plies
        tab.field("Seconds a move").fill("0")
        tab.button("Go on").click()
    tab.until(lambda: OVER.search(tab.caption), 60)


def test_a_position_as_text_and_by_hand(tab):
    tab.new_game("othello", "human", "human")
    tab.text("Set up a position").click()
    text = tab.field("Position as text")
    text.fill("bbbbbbbbb/8 black")
    tab.button("Use this position").click()
    tab.text("rank").first.wait_for()
    text.fill("8/8/8/2rrr3/3br3/2b5/8/8 red 7")
    tab.button("Use this position").click()
    tab.until(lambda: tab.label("c5").startswith("c5, red"))
    assert "red to move" in tab.caption.lower()
    tab.field("Place pieces by hand").check()
    tab.square("a1").click()
    tab.square("b1").click()
    tab.square("b1").click()
    tab.button("Use this position").click()
    tab.until(lambda: "black" in tab.label("a1"))
    assert "red" in tab.label("b1")


def test_a_reload_in_mid_game(tab):
    tab.new_game("othello", "human", "random")
    tab.move("e3")
    shown = lambda: (tab.caption, tab.plies, tab.position)  # noqa: E731
    before = shown()
    tab.page.reload()
    tab.wait_for_turn()
    assert shown() == before
    tab.play_on(lambda target: target.click())


def test_a_server_that_is_stopped_while_a_game_is_on(browser, folder):
    with served("--folder", str(folder)) as server:
        tab = Tab(browser, server).open()
        tab.new_game("othello", "human", SLOW)
        tab.square("e3").click()
        tab.until_note("thinking")
        tab.away = True
        server.stop()
        tab.text("The server does not answer").wait_for()
        again = server.again()
        try:
            tab.until(lambda: not tab.find(".banner").is_visible())
            # The agent is asked again by the page itself.
            tab.until_note("thinking")
            tab.button("Stop").click()
            tab.button("Undo").click()
            tab.until_note("your turn")
            tab.close()
        finally:
            again.process.kill()
            again.process.wait()
            again.process.stdout.close()


def test_analyse_a_blunder(tab):
    """Wolf and Sheep is solved: a sheep's step that loses a won game is one."""
    tab.new_game("wolf_and_sheep", "human", "human")
    tab.view("Analyse")
    tab.field("By the agent").fill("perfect")
    lost = None
    for _ in range(20):
        tab.button("Analyse", tab.find("section")).click()
        tab.until(lambda: "Exact" in tab.find(".summary").inner_text())
        mover = tab.caption.split()[0].lower()
        rows = tab.find("table.moves tbody tr")
        worst = rows.nth(rows.count() - 1)
        loses = "sheep wins" in tab.find(".summary").inner_text() and mover == "sheep"
        row = worst if loses else rows.first
        name, before = row.locator("button").inner_text(), tab.plies
        row.locator("button").click()
        tab.until(lambda before=before: tab.plies > before)
        if loses:
            lost = name
            break
    assert lost is not None
    tab.button("Analyse the whole game").click()
    blunder = tab.find("button.blunder").first
    blunder.wait_for()
    assert lost in blunder.inner_text()
    better = re.search(r": (\S+) was better", blunder.inner_text())[1]
    blunder.click()
    tab.until(lambda: tab.find("table.moves tbody tr button").first.inner_text() == better)
    tab.find("table.moves tbody tr button").first.click()
    tab.find(".variation").wait_for()


def test_who_asks_for_the_exact_result_gets_no_estimate(tab):
    tab.new_game("lines_of_action", "human", "human")
    tab.view("Analyse")
    tab.field("For at most, seconds").fill("0.5")
    tab.button("Exact result", tab.find("section")).click()
    summary = tab.find(".summary")
    tab.until(lambda: "Not proven" in summary.inner_text())
    assert "heuristic" not in summary.inner_text()
    assert tab.find("table.moves").count() == 0


def test_analysis_shows_on_the_board(tab):
    tab.new_game("othello", "human", "human")
    tab.view("Analyse")
    tab.field("By the agent").fill("trained")
    tab.button("Analyse", tab.find("section")).click()
    tab.until(lambda: tab.find(".badge").count() == 4)
    tab.field("On the board").select_option("probability")
    assert all("%" in text for text in tab.find(".badge").all_inner_texts())
    tab.find("table.moves tbody tr button").first.hover()
    assert tab.find(".over circle").count() > 2
    assert tab.find(".bar").is_visible()
    tab.field("Tournament notation").check()
    legal = tab.find(".square.legal").first.get_attribute("aria-label")
    assert re.match("f5|e6|c4|d3", legal)


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    game = games.make("othello")
    match = play_match(game, "random", "random", pairs=75, opening_plies=(8, 8))
    found = records.record_match(game, match, ("one", "other"))
    kept = [
        replace(record, players=None, info={"tournament": i % 90, "black": i % 70, "white": i % 50})
        for i, record in enumerate(found)
    ]
    path = tmp_path_factory.mktemp("records") / "games.wtb"
    records.save(path, kept)
    assert len(kept) == 150
    return path


def test_many_games(tab, many):
    tab.view("Records")
    tab.field("Open records").set_input_files(str(many))
    tab.text("150 games in games.wtb").first.wait_for()
    tab.find("table.records tbody tr").nth(99).wait_for()
    tab.field("Search").fill("0\N{EN DASH}1")
    tab.until(
        lambda: "of 150" not in tab.find("section [role=status]").inner_text().split("found")[0]
    )
    results = tab.find("table.records tbody tr").all_inner_texts()
    assert results
    assert all("0\N{EN DASH}1" in text for text in results)
    tab.field("Search").fill("")
    tab.button("Plies").click()
    tab.button("Plies").click()
    rows = tab.find("table.records tbody tr")
    plies = [int(re.search(r"(\d+)\ttournament", text)[1]) for text in rows.all_inner_texts()]
    assert plies == sorted(plies, reverse=True)
    rows.first.get_by_role("button").click()
    tab.until_ply(plies[0])
    for _ in range(3):
        tab.page.keyboard.press("ArrowRight")
    current = tab.find(".movelist [aria-current]")
    tab.until(lambda: tab.find(".movelist li.ply").nth(3).locator("[aria-current]").count())
    name = current.inner_text()
    tab.page.keyboard.press("ArrowLeft")
    tab.until(lambda: current.inner_text() != name)


def test_a_file_is_saved_and_a_link_restores_game_and_ply(tab, browser, server, tmp_path):
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab.new_game("othello", "human", "human")
    current = tab.find(".movelist [aria-current]")
    for name in ("e3", "f3", "c5"):
        tab.square(name).click()
        tab.until(lambda name=name: name in tab.find(".movelist [aria-current]").inner_text())
    record = saved(tab, tmp_path / "game.jsonl")
    assert [record.game.action_name(action) for action in record.actions] == ["e3", "f3", "c5"]
    tab.field("Previous move").click()
    tab.until(lambda: current.inner_text() == "f3")
    tab.button("Copy link").click()
    tab.text("Copied.").first.wait_for()
    link = tab.page.evaluate("navigator.clipboard.readText()")
    assert link.startswith(server.origin + "/#")
    other = Tab(browser, server).open(link.removeprefix(server.origin + "/"))
    other.find(".movelist .ply").nth(3).wait_for()
    assert other.find(".movelist [aria-current]").inner_text() == "f3"
    assert other.plies == 3
    other.close()


def test_what_was_undone_before_a_resignation_is_not_saved(tab, tmp_path):
    tab.new_game("othello", "human", "human")
    for plies, name in enumerate(("e3", "f3"), start=1):
        tab.square(name).click()
        tab.until_ply(plies)
    tab.button("Undo").click()
    tab.until_caption("Red to move")
    tab.button("Resign").click()
    tab.until_caption("resigned")
    record = saved(tab, tmp_path / "game.jsonl")
    assert [record.game.action_name(action) for action in record.actions] == ["e3"]
    assert record.info == {"resigned": "red"}


def test_what_a_file_tells_of_a_game_is_in_what_is_saved(tab, tmp_path):
    game = games.make("othello")
    moves = parse_names(game, ("e3", "f3"))
    info = {"year": 1998, "resigned": "black"}
    resigned = Record(game, moves, None, (0, 100), ("one", "other"), info)
    forfeited = Record(game, moves, None, (100, 0), None, {"forfeit": "red"})
    records.save(tmp_path / "kept.jsonl", [resigned, forfeited])
    path = tmp_path / "game.jsonl"
    tab.view("Records")
    tab.field("Open records").set_input_files(str(tmp_path / "kept.jsonl"))
    tab.page.get_by_role("button", name="Open game 2").click()
    tab.until_ply(2)
    assert saved(tab, path) == forfeited
    first = tab.page.get_by_role("button", name="Open game 1")
    first.click()
    tab.find("tr.current").filter(has=first).wait_for()
    tab.field("Last position").click()
    tab.until_caption("Black resigned: red won")
    assert saved(tab, path) == resigned
    tab.page.reload()
    tab.until_caption("resigned")
    # What else is tried is another game, and the way back is to the same.
    tab.field("Previous move").click()
    tab.until_caption("Red to move")
    tab.square("d3").click()
    tab.until_ply(3)
    tried = saved(tab, path)
    assert (tried.actions, tried.goal, tried.info) == (parse_names(game, ("e3", "d3")), None, {})
    tab.find(".movelist").get_by_role("button", name="f3").click()
    tab.until_caption("resigned")
    assert saved(tab, path) == resigned


def test_a_run_has_its_report_and_its_policy_plays(tab, folder):
    run = folder / "first_try"
    run.mkdir()
    (run / "config.yaml").write_text("game: othello\nsteps: 1000\n")
    tab.view("Training and arena")
    tab.text("There is no policy yet.").wait_for()
    assert tab.text("There is no report yet.").is_visible()
    (run / "report.html").write_text("<h1>How it went</h1>")
    shutil.copy(TRAINED / "othello.npz", run / "policy.npz")
    with tab.context.expect_page() as opened:
        tab.page.get_by_role("link", name="The report as a page").click()
    opened.value.get_by_role("heading", name="How it went").wait_for()
    tab.button("Play against its latest policy").click()
    tab.until_note("your turn")
    tab.move("e3")


def test_dragging_a_piece_with_a_finger(browser, server):
    tab = Tab(browser, server, has_touch=True).open()
    tab.new_game("lines_of_action", "human", "human")
    touch = tab.context.new_cdp_session(tab.page)

    def middle(name):
        box = tab.square(name).bounding_box()
        return {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}

    def drag(start, end):
        (a, b) = middle(start), middle(end)
        touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [a]})
        for part in (0.25, 0.5, 0.75, 1):
            point = {axis: a[axis] + part * (b[axis] - a[axis]) for axis in "xy"}
            touch.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [point]})
        touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    scrolled = tab.page.evaluate("scrollY")
    drag("b1", "b3")
    tab.until_ply(1)
    assert tab.label("b3").startswith("b3, black")
    assert tab.page.evaluate("scrollY") == scrolled
    drag("e4", "e6")  # no piece: nothing is played
    drag("a4", "c4")
    tab.until_ply(2)
    tab.close()
