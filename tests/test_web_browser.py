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


@pytest.mark.parametrize("game", ["othello", "lines_of_action"])
def test_a_whole_game_with_the_mouse(tab, game):
    tab.new_game(game)
    tab.play_on(lambda target: target.click())
    assert OVER.search(tab.caption)
    assert tab.caption.lower() in tab.said.lower()


@pytest.mark.parametrize("game", ["wolf_and_sheep", "reversi"])
def test_a_whole_game_with_the_keys(tab, game):
    tab.new_game(game)
    tab.play_on(tab.with_keys)
    assert OVER.search(tab.caption)


def test_the_address_in_a_file_leads_to_the_page(browser, server):
    tab = Tab(browser, server)
    address = address_in_file(server.url)
    tab.page.goto(address)
    tab.page.locator(".square.legal").first.wait_for()
    assert tab.page.url == f"{server.origin}/"
    tab.faults.remove(f"a request to {address}")
    tab.close()


def test_squares_are_named_for_those_who_hear_them(tab):
    tab.new_game("othello")
    assert tab.square("e3").get_attribute("aria-label") == "e3, legal move"
    assert tab.square("d4").get_attribute("aria-label") == "d4, black"
    tab.move("e3")
    assert "to move" in tab.said
    for name in ("New game", "Undo", "Hint", "Resign"):
        assert tab.button(name).is_visible()


def test_moves_that_are_typed(tab):
    tab.new_game("lines_of_action", "human", "human")
    box = tab.page.get_by_label("Your move")
    box.fill("z9")
    box.press("Enter")
    assert "z9 is no legal move here" in tab.page.locator(".place > .problem").inner_text()
    box.fill("b1-b3")
    box.press("Enter")
    tab.until(lambda: tab.plies == 1)
    box.fill("A3 C3")
    box.press("Enter")
    tab.until(lambda: "a3" in tab.page.locator(".place > .problem").inner_text() or tab.plies == 2)


def test_dragging_a_piece(tab):
    tab.new_game("lines_of_action", "human", "human")
    tab.square("b1").drag_to(tab.square("b3"))
    tab.until(lambda: tab.plies == 1)
    assert "ply 1 of at most 50" in tab.page.locator(".counts").inner_text()
    assert tab.square("b3").get_attribute("aria-label").startswith("b3, black")


def test_undo_redo_hint_and_resign(tab):
    tab.new_game("othello", "human", "greedy")
    start = tab.page.get_by_label("Position as text").input_value()
    tab.move("e3")
    assert tab.plies == 2
    after = tab.page.get_by_label("Position as text").input_value()
    tab.button("Undo").click()
    tab.until(lambda: tab.page.get_by_label("Position as text").input_value() == start)
    tab.button("Redo").click()
    tab.until(lambda: tab.page.get_by_label("Position as text").input_value() == after)
    tab.button("Hint").click()
    tab.page.locator(".square.hinted").wait_for()
    assert "would play" in tab.note
    tab.button("Resign").click()
    assert "resigned" in tab.caption
    tab.button("Undo").click()
    tab.until(lambda: "to move" in tab.caption)


def test_an_agent_that_is_none_is_said_as_it_is_typed(tab):
    field = tab.page.get_by_label("Red is played by")
    field.fill("gredy")
    problem = tab.page.get_by_text("Did you mean 'greedy'?")
    problem.wait_for()
    field.fill("python:os:getcwd")
    tab.page.get_by_text("may not name").wait_for()
    field.fill("greedy")
    field.press("Enter")
    tab.until(lambda: not problem.count())


def test_agents_that_play_each_other_pause(tab):
    tab.new_game("othello", "random", "random")
    tab.until(lambda: tab.plies > 5)
    if not OVER.search(tab.caption):
        tab.page.get_by_label("Seconds a move").fill("3")
        tab.button("Pause").click()
        plies = tab.plies
        tab.page.wait_for_timeout(300)
        assert tab.plies == plies
        tab.page.get_by_label("Seconds a move").fill("0")
        tab.button("Go on").click()
    tab.until(lambda: OVER.search(tab.caption), 60)


def test_a_position_as_text_and_by_hand(tab):
    tab.new_game("othello", "human", "human")
    tab.page.get_by_text("Set up a position").click()
    text = tab.page.get_by_label("Position as text")
    text.fill("bbbbbbbbb/8 black")
    tab.button("Use this position").click()
    tab.page.get_by_text("rank").first.wait_for()
    text.fill("8/8/8/2rrr3/3br3/2b5/8/8 red 7")
    tab.button("Use this position").click()
    tab.until(lambda: tab.square("c5").get_attribute("aria-label").startswith("c5, red"))
    assert "red to move" in tab.caption.lower()
    tab.page.get_by_label("Place pieces by hand").check()
    tab.square("a1").click()
    tab.square("b1").click()
    tab.square("b1").click()
    tab.button("Use this position").click()
    tab.until(lambda: "black" in tab.square("a1").get_attribute("aria-label"))
    assert "red" in tab.square("b1").get_attribute("aria-label")


def test_a_reload_in_mid_game(tab):
    tab.new_game("othello", "human", "random")
    tab.move("e3")
    before = [tab.caption, tab.plies, tab.page.get_by_label("Position as text").input_value()]
    tab.page.reload()
    tab.wait_for_turn()
    assert [
        tab.caption,
        tab.plies,
        tab.page.get_by_label("Position as text").input_value(),
    ] == before
    tab.play_on(lambda target: target.click())


def test_a_server_that_is_stopped_while_a_game_is_on(browser, folder):
    with served("--folder", str(folder)) as server:
        tab = Tab(browser, server).open()
        tab.new_game("othello", "human", SLOW)
        tab.square("e3").click()
        tab.until(lambda: "thinking" in tab.note)
        tab.away = True
        server.stop()
        tab.page.get_by_text("The server does not answer").wait_for()
        again = server.again()
        try:
            tab.until(lambda: not tab.page.locator(".banner").is_visible())
            # The agent is asked again by the page itself.
            tab.until(lambda: "thinking" in tab.note)
            tab.button("Stop").click()
            tab.button("Undo").click()
            tab.until(lambda: "your turn" in tab.note)
            tab.close()
        finally:
            again.process.kill()
            again.process.wait()
            again.process.stdout.close()


def test_analyse_a_blunder(tab):
    """Wolf and Sheep is solved: a sheep's step that loses a won game is one."""
    tab.new_game("wolf_and_sheep", "human", "human")
    tab.view("Analyse")
    tab.page.get_by_label("By the agent").fill("perfect")
    lost = None
    for _ in range(20):
        tab.button("Analyse", tab.page.locator("section")).click()
        tab.until(lambda: "Exact" in tab.page.locator(".summary").inner_text())
        mover = tab.caption.split()[0].lower()
        rows = tab.page.locator("table.moves tbody tr")
        worst = rows.nth(rows.count() - 1)
        loses = "sheep wins" in tab.page.locator(".summary").inner_text() and mover == "sheep"
        row = worst if loses else rows.first
        name, before = row.locator("button").inner_text(), tab.plies
        row.locator("button").click()
        tab.until(lambda before=before: tab.plies > before)
        if loses:
            lost = name
            break
    assert lost is not None
    tab.button("Analyse the whole game").click()
    blunder = tab.page.locator("button.blunder").first
    blunder.wait_for()
    assert lost in blunder.inner_text()
    better = re.search(r": (\S+) was better", blunder.inner_text())[1]
    blunder.click()
    tab.until(lambda: tab.page.locator("table.moves tbody tr button").first.inner_text() == better)
    tab.page.locator("table.moves tbody tr button").first.click()
    tab.page.locator(".variation").wait_for()


def test_who_asks_for_the_exact_result_gets_no_estimate(tab):
    tab.new_game("lines_of_action", "human", "human")
    tab.view("Analyse")
    tab.page.get_by_label("For at most, seconds").fill("0.5")
    tab.button("Exact result", tab.page.locator("section")).click()
    summary = tab.page.locator(".summary")
    tab.until(lambda: "Not proven" in summary.inner_text())
    assert "heuristic" not in summary.inner_text()
    assert tab.page.locator("table.moves").count() == 0


def test_analysis_shows_on_the_board(tab):
    tab.new_game("othello", "human", "human")
    tab.view("Analyse")
    tab.page.get_by_label("By the agent").fill("trained")
    tab.button("Analyse", tab.page.locator("section")).click()
    tab.until(lambda: tab.page.locator(".badge").count() == 4)
    tab.page.get_by_label("On the board").select_option("probability")
    assert all("%" in text for text in tab.page.locator(".badge").all_inner_texts())
    tab.page.locator("table.moves tbody tr button").first.hover()
    assert tab.page.locator(".over circle").count() > 2
    assert tab.page.locator(".bar").is_visible()
    tab.page.get_by_label("Tournament notation").check()
    legal = tab.page.locator(".square.legal").first.get_attribute("aria-label")
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
    tab.page.get_by_label("Open records").set_input_files(str(many))
    tab.page.get_by_text("150 games in games.wtb").first.wait_for()
    tab.page.locator("table.records tbody tr").nth(99).wait_for()
    tab.page.get_by_label("Search").fill("0\N{EN DASH}1")
    tab.until(
        lambda: (
            "of 150" not in tab.page.locator("section [role=status]").inner_text().split("found")[0]
        )
    )
    results = tab.page.locator("table.records tbody tr").all_inner_texts()
    assert results
    assert all("0\N{EN DASH}1" in text for text in results)
    tab.page.get_by_label("Search").fill("")
    tab.button("Plies").click()
    tab.button("Plies").click()
    rows = tab.page.locator("table.records tbody tr")
    plies = [int(re.search(r"(\d+)\ttournament", text)[1]) for text in rows.all_inner_texts()]
    assert plies == sorted(plies, reverse=True)
    rows.first.get_by_role("button").click()
    tab.until(lambda: tab.plies == plies[0])
    for _ in range(3):
        tab.page.keyboard.press("ArrowRight")
    current = tab.page.locator(".movelist [aria-current]")
    tab.until(lambda: tab.page.locator(".movelist li.ply").nth(3).locator("[aria-current]").count())
    name = current.inner_text()
    tab.page.keyboard.press("ArrowLeft")
    tab.until(lambda: current.inner_text() != name)


def test_a_file_is_saved_and_a_link_restores_game_and_ply(tab, browser, server, tmp_path):
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab.new_game("othello", "human", "human")
    current = tab.page.locator(".movelist [aria-current]")
    for name in ("e3", "f3", "c5"):
        tab.square(name).click()
        tab.until(
            lambda name=name: name in tab.page.locator(".movelist [aria-current]").inner_text()
        )
    record = saved(tab, tmp_path / "game.jsonl")
    assert [record.game.action_name(action) for action in record.actions] == ["e3", "f3", "c5"]
    tab.page.get_by_label("Previous move").click()
    tab.until(lambda: current.inner_text() == "f3")
    tab.button("Copy link").click()
    tab.page.get_by_text("Copied.").first.wait_for()
    link = tab.page.evaluate("navigator.clipboard.readText()")
    assert link.startswith(server.origin + "/#")
    other = Tab(browser, server).open(link.removeprefix(server.origin + "/"))
    other.page.locator(".movelist .ply").nth(3).wait_for()
    assert other.page.locator(".movelist [aria-current]").inner_text() == "f3"
    assert other.plies == 3
    other.close()


def test_what_was_undone_before_a_resignation_is_not_saved(tab, tmp_path):
    tab.new_game("othello", "human", "human")
    for plies, name in enumerate(("e3", "f3"), start=1):
        tab.square(name).click()
        tab.until(lambda plies=plies: tab.plies == plies)
    tab.button("Undo").click()
    tab.until(lambda: "Red to move" in tab.caption)
    tab.button("Resign").click()
    tab.until(lambda: "resigned" in tab.caption)
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
    tab.page.get_by_label("Open records").set_input_files(str(tmp_path / "kept.jsonl"))
    tab.page.get_by_role("button", name="Open game 2").click()
    tab.until(lambda: tab.plies == 2)
    assert saved(tab, path) == forfeited
    first = tab.page.get_by_role("button", name="Open game 1")
    first.click()
    tab.page.locator("tr.current").filter(has=first).wait_for()
    tab.page.get_by_label("Last position").click()
    tab.until(lambda: "Black resigned: red won" in tab.caption)
    assert saved(tab, path) == resigned
    tab.page.reload()
    tab.until(lambda: "resigned" in tab.caption)
    # What else is tried is another game, and the way back is to the same.
    tab.page.get_by_label("Previous move").click()
    tab.until(lambda: "Red to move" in tab.caption)
    tab.square("d3").click()
    tab.until(lambda: tab.plies == 3)
    tried = saved(tab, path)
    assert (tried.actions, tried.goal, tried.info) == (parse_names(game, ("e3", "d3")), None, {})
    tab.page.locator(".movelist").get_by_role("button", name="f3").click()
    tab.until(lambda: "resigned" in tab.caption)
    assert saved(tab, path) == resigned


def test_a_run_has_its_report_and_its_policy_plays(tab, folder):
    run = folder / "first_try"
    run.mkdir()
    (run / "config.yaml").write_text("game: othello\nsteps: 1000\n")
    tab.view("Training and arena")
    tab.page.get_by_text("There is no policy yet.").wait_for()
    assert tab.page.get_by_text("There is no report yet.").is_visible()
    (run / "report.html").write_text("<h1>How it went</h1>")
    shutil.copy(TRAINED / "othello.npz", run / "policy.npz")
    with tab.context.expect_page() as opened:
        tab.page.get_by_role("link", name="The report as a page").click()
    opened.value.get_by_role("heading", name="How it went").wait_for()
    tab.button("Play against its latest policy").click()
    tab.until(lambda: "your turn" in tab.note)
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
    tab.until(lambda: tab.plies == 1)
    assert tab.square("b3").get_attribute("aria-label").startswith("b3, black")
    assert tab.page.evaluate("scrollY") == scrolled
    drag("e4", "e6")  # no piece: nothing is played
    drag("a4", "c4")
    tab.until(lambda: tab.plies == 2)
    tab.close()
