"""The page in a browser: whole games by mouse and keys, analysis, records, lost connections."""

import re
import shutil

import pytest
from variants import MORE_GAMES, make, random_record
from web_browser import OVER, Tab, needs_browser
from web_server import served

from boardenvs.agents.trained import FOLDER as TRAINED
from boardenvs.play import MoveNotation, review
from boardenvs.records import Record, save
from boardenvs.records.record import names, parse_names
from boardenvs.web.guard import address_in_file

pytestmark = needs_browser
OTHELLO = make("othello")
SLOW = "alphabeta:depth=30"


@pytest.fixture
def tab(browser, server):
    tab = Tab(browser, server, has_touch=True)
    yield tab.open()
    tab.close()


@pytest.mark.parametrize(
    ("game", "keys"), [("lines_of_action", False), ("wolf_and_sheep", True), ("reversi", True)]
)
def test_a_whole_game_with_mouse_or_keys(tab, game, keys):
    tab.new_game(game, second="random")
    tab.play_on(tab.with_keys if keys else lambda target: target.click())
    assert OVER.search(tab.caption)
    assert tab.caption.lower() in tab.said.lower()


def test_a_piece_drops_from_anywhere_in_its_column(browser, folder, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(MORE_GAMES))
    with served("--folder", str(folder), "--game", "boardenvs_connect_four:ConnectFour") as server:
        tab = Tab(browser, server).open()
        tab.new_game("boardenvs_connect_four:ConnectFour")
        assert tab.find(".square.legal").count() == 7
        for ply, (clicked, landed) in enumerate([("d6", "d1"), ("d1", "d2"), ("d4", "d3")], 1):
            assert f"drops to {landed}" in tab.label(clicked)
            tab.square(clicked).hover()
            assert tab.find(".square.aimed").get_attribute("aria-label").startswith(landed)
            tab.square(clicked).click()
            tab.until_ply(ply)
            assert "last move" in tab.label(landed)
        for ply in range(4, 7):
            tab.square("d5").focus()
            tab.page.keyboard.press("Enter")
            tab.until_ply(ply)
        assert tab.square("d6").is_disabled()  # it is full
        assert tab.find(".square.legal").count() == 6
        tab.close()


def test_hexagons_are_played_on_where_they_are_seen(browser, folder, monkeypatch):
    """The upper left corner of a hexagon's box is its neighbour's."""
    monkeypatch.setenv("PYTHONPATH", str(MORE_GAMES))
    with served("--folder", str(folder), "--game", "boardenvs_hex:Hex") as server:
        tab = Tab(browser, server).open()
        tab.new_game("boardenvs_hex:Hex")
        played = [(0.5, 0.06, "e5"), (0.1, 0.05, "d6"), (0.9, 0.95, "f4"), (0.9, 0.05, "e6")]
        for ply, (right, down, name) in enumerate(played, 1):
            box = tab.square("e5").bounding_box()
            tab.page.mouse.click(box["x"] + right * box["width"], box["y"] + down * box["height"])
            tab.until_ply(ply)
            assert "last move" in tab.label(name)
        tab.button("Flip board").click()
        box = tab.square("g7").bounding_box()
        tab.page.mouse.click(box["x"] + 0.1 * box["width"], box["y"] + 0.05 * box["height"])
        tab.until_ply(len(played) + 1)
        assert "last move" in tab.label("h6")
        tab.close()


def test_the_address_in_a_file_leads_to_the_page(browser, server):
    tab = Tab(browser, server)
    address = address_in_file(server.url)
    tab.page.goto(address)
    tab.find(".square.legal").first.wait_for()
    assert tab.page.url.partition("#")[0] == f"{server.origin}/"
    tab.faults.remove(f"a request to {address}")
    tab.close()


def test_moves_that_are_typed_or_dragged_with_the_mouse_or_a_finger(tab):
    tab.new_game("lines_of_action")
    box = tab.field("Your move")
    for text in ("z9", "b1-b3"):
        box.fill(text)
        box.press("Enter")
        tab.until(lambda text=text: f"{text} is no legal" in tab.problem or tab.plies == 1)
    box.fill("A3 C1")
    box.press("Enter")
    tab.until_ply(2)
    tab.square("c8").drag_to(tab.square("c6"))
    tab.until_ply(3)
    assert "ply 3 of at most 50" in tab.find(".counts").inner_text()
    touch = tab.context.new_cdp_session(tab.page)

    def drag(start, end):
        for kind, name in (("touchStart", start), ("touchMove", end), ("touchEnd", None)):
            box = name and tab.square(name).bounding_box()
            points = [{"x": box["x"] + 9, "y": box["y"] + 9}] if box else []
            touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    scrolled = tab.page.evaluate("scrollY")
    drag("e4", "e6")  # no piece: nothing is played
    drag("h2", "f2")
    tab.until_ply(4)
    assert tab.label("f2").startswith("f2, white")
    assert tab.page.evaluate("scrollY") == scrolled


def test_undo_redo_hint_and_resign(tab):
    tab.new_game("othello", second="greedy")
    assert [tab.label(name) for name in ("f5", "e4")] == ["f5, legal move, turns 1", "e4, black"]
    start = tab.position
    tab.move("f5")
    assert "to move" in tab.said
    assert tab.plies == 2
    after = tab.position
    tab.button("Undo").click()
    tab.until(lambda: tab.position == start)
    tab.button("Redo").click()
    tab.until(lambda: tab.position == after)
    tab.button("Hint").click()
    tab.find(".square.hinted").wait_for()
    assert tab.note.startswith("Hint: ")
    tab.button("Resign").click()
    tab.until_caption("resigned")
    tab.button("Undo").click()
    tab.until_caption("to move")


def test_an_agent_that_is_none_is_said_as_it_is_typed(tab):
    tab.button("New game").click()
    tab.opened("More agents")
    field = tab.field("Text of the agent")
    field.fill("gredy")
    problem = tab.text("Did you mean 'greedy'?")
    problem.wait_for()
    field.fill("python:os:getcwd")
    tab.text("may not name").wait_for()
    tab.button("Begin").click()
    assert tab.page.get_by_role("dialog").is_visible()
    field.fill("greedy")
    tab.button("Begin").click()
    tab.until(lambda: "white: Greedy" in tab.find(".players").inner_text())
    assert not problem.count()


def test_an_opponent_is_chosen_from_those_that_can_play(tab):
    tab.button("New game").click()
    dialog = tab.page.get_by_role("dialog")
    tab.opened("More agents")
    perfect = dialog.get_by_label(re.compile("^Perfect"))
    assert perfect.is_disabled()
    assert dialog.get_by_text("only 'wolf_and_sheep' is solved exactly").is_visible()
    dialog.get_by_label("Level 2").check()
    dialog.get_by_label("White").check()
    tab.button("Begin").click()
    tab.until(lambda: tab.plies == 1 and "your turn" in tab.note)
    assert "black: Level 2" in tab.find(".players").inner_text()
    tab.find(".square.legal").first.click()
    tab.until_ply(3)
    tab.button("New game").click()
    dialog.get_by_text("A game is running").wait_for()
    dialog.get_by_label("Game", exact=True).select_option("wolf_and_sheep")
    perfect.check()
    assert perfect.is_enabled()
    tab.button("Cancel").click()
    assert tab.plies == 3
    tab.button("New game").click()
    dialog.get_by_label("Level 3").check()
    tab.button("Go on with these players").click()
    tab.until(lambda: "black: Level 3" in tab.find(".players").inner_text())
    assert tab.plies == 3


def test_agents_that_play_each_other_pause(tab):
    tab.new_game("othello", SLOW, SLOW)  # so that no game is over before it is paused
    tab.field("Seconds a move").fill("3")
    tab.new_game("othello", "random", "random")
    tab.until(lambda: "black: Random" in tab.find(".players").inner_text())
    tab.button("Pause").click()
    plies = tab.plies
    tab.page.wait_for_timeout(3300)
    assert tab.plies == plies
    tab.field("Seconds a move").fill("0")
    tab.button("Go on").click()
    tab.until(lambda: OVER.search(tab.caption))


def test_a_position_as_text_and_by_hand(tab):
    tab.new_game("othello")
    tab.text("Set up a position").click()
    text, use = tab.field("Position as text"), tab.button("Use this position")
    text.fill("bbbbbbbbb/8 black")
    use.click()
    tab.text("rank").first.wait_for()
    text.fill("8/8/8/2rrr3/3br3/2b5/8/8 red 7")
    use.click()
    tab.until(lambda: tab.label("c4").startswith("c4, white"))
    assert "white to move" in tab.caption.lower()
    tab.field("Place pieces by hand").check()
    for name in ("a1", "b1", "b1"):
        tab.square(name).click()
    use.click()
    tab.until(lambda: "black" in tab.label("a1"))
    assert "white" in tab.label("b1")
    assert tab.position.startswith("br6/8/8/2rrr3")


def test_the_rule_sheets_look_is_a_switch_that_is_remembered(tab):
    tab.new_game("othello")
    switch = tab.field("Rule sheet's look")
    assert "white" in tab.label("d4")
    switch.check()
    assert [tab.label("d4"), tab.label("d5")] == ["d4, black", "d5, red"]
    tab.move("f4")
    assert "Red to move" in tab.caption
    tab.page.reload()
    tab.until(lambda: tab.label("f4").startswith("f4, black"))
    switch.uncheck()
    assert tab.current == "f5"
    assert "White to move" in tab.caption


def test_a_position_is_an_address_with_a_way_back(tab):
    tab.new_game("othello", second="greedy")
    tab.move("f5")
    after, title = tab.position, tab.title
    assert title.startswith(f"{tab.caption} \N{MIDDLE DOT} Othello")
    tab.find(".square.legal").first.click()
    tab.until_ply(4)
    tab.page.go_back()
    tab.until(lambda: tab.position == after)
    assert tab.title == title
    assert "white: Greedy" in tab.find(".players").inner_text()
    tab.view("Analyse")
    tab.page.go_back()
    tab.find(".players").wait_for()
    tab.page.go_forward()
    tab.button("Analyse position").wait_for()
    tab.page.go_back()
    tab.page.go_back()
    tab.until(lambda: tab.current == "Start")
    assert tab.plies == 4
    tab.page.goto(f"{tab.server.origin}/#game=othello&view=play")  # a link is no way back
    tab.until(lambda: tab.plies == 0)


def test_captures_are_shown_before_a_move(tab):
    tab.new_game("othello")
    lost = tab.find(".square.lost")
    tab.square("f5").hover()
    assert lost.get_attribute("aria-label").startswith("e5, white")
    tab.square("a1").hover()
    assert not lost.count()
    tab.square("c4").focus()
    assert lost.get_attribute("aria-label").startswith("d4, white")


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_moves_are_seen_as_motion_where_that_is_wanted(browser, server, motion):
    tab = Tab(browser, server, reduced_motion=motion).open()
    # What moves goes on moving until it has been seen.
    tab.context.new_cdp_session(tab.page).send("Animation.setPlaybackRate", {"playbackRate": 0})
    count = "document.getAnimations().filter((one) => one.effect.target.tagName === 'IMG').length"
    for game, squares in (("othello", ["f5"]), ("lines_of_action", ["b1", "b3"])):
        tab.new_game(game)
        for square in squares:
            tab.square(square).click()
        tab.until_ply(1)
        tab.until(lambda: tab.page.evaluate(count) > 0) if motion != "reduce" else None
        assert motion != "reduce" or tab.page.evaluate(count) == 0
    tab.close()


def test_a_reload_in_mid_game(tab):
    tab.new_game("othello", second="random")
    tab.move("f5")
    before = tab.caption, tab.plies, tab.position
    tab.page.reload()
    tab.wait_for_turn()
    assert (tab.caption, tab.plies, tab.position) == before
    tab.play_on(lambda target: target.click())


def test_a_server_that_is_stopped_while_a_game_is_on(browser, folder):
    with served("--folder", str(folder)) as server:
        tab = Tab(browser, server).open()
        tab.new_game("othello", second=SLOW)
        tab.square("f5").click()
        tab.until_note("thinking")
        tab.away = True
        server.stop()
        tab.text("The server does not answer").wait_for()
    with served("--folder", str(folder), port=server.parts.port):
        tab.until(lambda: not tab.find(".banner").is_visible())
        # The agent is asked again by the page itself.
        tab.until_note("thinking")
        tab.button("Stop").click()
        tab.button("Undo").click()
        tab.until_note("your turn")
        tab.close()


# ---- analysis ------------------------------------------------------------------------------------


def test_what_gave_a_solved_game_away_is_listed(tab, tmp_path):
    game = make("wolf_and_sheep")
    record = random_record(game, 1)
    save(tmp_path / "game.jsonl", [record])
    tab.open_records(tmp_path / "game.jsonl", 1)
    tab.view("Analyse")
    tab.opened("Who analyses")
    tab.field("By the agent").fill("perfect")
    tab.button("Analyse game").click()
    lost = [ply for ply in review(record, "perfect").plies if ply.lost]
    better = [game.action_name(ply.best.action, ply.analysis.position) for ply in lost]
    tab.until(
        lambda: (
            tab.find("button.blunder").all_inner_texts()
            == [
                f"{ply.number}. {game.roles[ply.role]} {ply.name}: {name} was better, 100 % lost"
                for ply, name in zip(lost, better, strict=True)
            ]
        )
    )
    tab.find("button.blunder").first.click()
    best = tab.find("table.moves tbody tr button").first
    tab.until(lambda: best.inner_text() == better[0])
    assert f"Exact: {game.roles[lost[0].role]} wins" in tab.find(".summary").inner_text()
    best.click()
    tab.find(".variation").wait_for()
    # What was not in the game is looked at as it is stepped to.
    tab.until(lambda: "Exact" in tab.find(".summary").inner_text() and not best.is_disabled())
    assert tab.current.startswith(better[0])


def test_who_asks_for_the_exact_result_gets_no_estimate(tab):
    tab.new_game("lines_of_action")
    tab.view("Analyse")
    tab.opened("Who analyses")
    tab.field("For at most, seconds").fill("0.5")
    tab.button("Exact result").click()
    summary = tab.find(".summary")
    tab.until(lambda: "Not proven" in summary.inner_text())
    assert "heuristic" not in summary.inner_text()
    assert tab.find("table.moves").count() == 0


def test_analysis_shows_on_the_board_and_its_lines_are_stepped_through(tab):
    tab.new_game("othello")
    tab.view("Analyse")
    tab.opened("Who analyses")
    tab.field("By the agent").fill("alphabeta:depth=3")
    tab.button("Analyse position").click()
    tab.until(lambda: tab.find(".value").count() == 4 and not tab.button("Stop").is_visible())
    values = tab.find(".value").all_inner_texts()
    tab.field("On the board").select_option("value")
    assert tab.find(".bar").is_visible()
    row = tab.find("table.moves tbody tr").first
    row.get_by_role("button").first.hover()
    assert tab.find(".over circle").count() == 1
    line = row.get_by_role("button").all_inner_texts()
    assert len(line) >= 3
    row.get_by_role("button").nth(2).click()
    tab.until(lambda: tab.current == line[2])
    tab.field("Previous move").click()
    tab.until(lambda: tab.current == line[1])
    tab.field("First position").click()
    tab.until(lambda: tab.find(".value").all_inner_texts() == values)


def test_values_never_cover_pieces(tab):
    tab.new_game("lines_of_action")
    tab.view("Analyse")
    tab.opened("Who analyses")
    tab.field("By the agent").fill("positional")
    tab.button("Analyse position").click()
    tab.until(lambda: tab.find(".square.valued").count() == 12)
    assert not tab.find(".value").count()
    tab.square("b1").click()
    tab.until(lambda: tab.find(".value").count() == 3)
    assert not tab.find(".square:has(img) .value").count()


@pytest.mark.parametrize("size", [(1280, 800), (1920, 1080), (390, 844), (360, 640), (844, 390)])
def test_the_board_is_the_page(browser, server, size):
    """All of it is seen at once, as large as it can be, under a menu of one row."""
    width, height = size
    tab = Tab(browser, server)
    tab.page.set_viewport_size({"width": width, "height": height})
    tab.open()
    board = tab.find(".board").bounding_box()
    assert board["x"] >= 0
    assert board["y"] >= 0
    assert board["x"] + board["width"] <= width
    assert board["y"] + board["height"] <= height
    assert board["width"] > 0.9 * width or board["height"] > 0.9 * height
    views = [view.bounding_box() for view in tab.find("nav button").all()]
    assert len({view["y"] for view in views}) == 1
    assert max(view["x"] + view["width"] for view in views) <= width
    if width > height:
        for name in ("New game", "Undo", "Hint", "Resign", "Analyse"):
            box = tab.button(name, tab.find("section")).bounding_box()
            assert box["y"] + box["height"] <= height
    tab.close()


def test_a_game_is_reviewed_with_a_mark_for_each_move(tab, tmp_path):
    """As Python reviews it; a move that was the only one has none."""
    record = random_record(OTHELLO, 4)
    save(tmp_path / "game.jsonl", [record])
    tab.open_records(tmp_path / "game.jsonl", 1)
    tab.view("Analyse")
    tab.opened("Who analyses")
    tab.field("By the agent").fill("alphabeta:depth=1")
    tab.button("Analyse game").click()
    tab.until(lambda: tab.find(".marks").is_visible() and not tab.button("Stop").is_visible())
    heads = [text.split()[-1] for text in tab.find(".marks thead th").all_inner_texts()]
    assert heads == ["Best", "Good", "Inaccuracy", "Mistake", "Blunder"]
    plies = [ply for ply in review(record, "alphabeta:depth=1").plies if ply.is_choice]
    for role, row in enumerate(tab.find(".marks tbody tr").all_inner_texts()):
        counts = [int(text) for text in row.split()[1:]]
        assert sum(counts) == sum(ply.role == role for ply in plies)
        best = sum(ply.role == role and ply.action == ply.best.action for ply in plies)
        assert counts[0] >= best > 0
    tab.button("Last position").click()
    tab.until(lambda: "won" in tab.caption)
    lead = record.goal[0] > record.goal[1]
    assert tab.find(".bar").get_attribute("data-text").startswith("+" if lead else "\N{MINUS SIGN}")


# ---- records -------------------------------------------------------------------------------------


def test_many_games(tab, tmp_path):
    line = random_record(OTHELLO).actions
    goals = (0, 100), (100, 0), (50, 50)
    kept = [Record(OTHELLO, line[: i % 60], None, goals[i % 3], None, {"x": i}) for i in range(150)]
    save(tmp_path / "games.jsonl", kept)
    tab.open_records(tmp_path / "games.jsonl")
    tab.text("150 games in games.jsonl").first.wait_for()
    rows = tab.find("table.records tbody tr")
    rows.nth(99).wait_for()
    tab.field("Search").fill("0\N{EN DASH}1")
    tab.until(lambda: rows.count() == 50)
    assert all("0\N{EN DASH}1" in text for text in rows.all_inner_texts())
    tab.field("Search").fill("")
    tab.button("Plies").click()
    tab.button("Plies").click()
    plies = [int(re.search(r"(\d+)\tx ", text)[1]) for text in rows.all_inner_texts()]
    assert plies == sorted((len(record.actions) for record in kept), reverse=True)[:100]
    rows.first.get_by_role("button").click()
    tab.until_ply(59)
    for key in ["ArrowRight"] * 3 + ["ArrowLeft"]:
        tab.page.keyboard.press(key)
    second = MoveNotation(OTHELLO).write(kept[59].actions[1])
    tab.until(lambda: tab.current == second)


def test_moves_are_pasted_as_players_write_them(tab):
    tab.view("Records")
    tab.field("Moves as text").fill("F5D6c3 d3c4")
    tab.page.keyboard.press("Enter")
    tab.until_ply(5)
    tab.button("Last position").click()
    tab.until(lambda: tab.current == "c4")
    tab.field("Moves as text").fill("f5a1")
    tab.page.keyboard.press("Enter")
    tab.until(lambda: "breaks the rules" in tab.problem)


def test_an_address_that_is_wrong_is_said(browser, server):
    tab = Tab(browser, server).open("#game=othello&moves=a1+b2")
    assert "breaks the rules" in tab.problem
    tab.page.goto(f"{server.origin}/#game=chess")
    tab.until(lambda: "chess" in tab.problem)
    tab.page.reload()
    tab.until(lambda: "chess" in tab.problem or "to move" in tab.caption)
    tab.new_game("othello")
    tab.move("f5")
    tab.close()


def test_a_file_is_saved_and_a_link_restores_game_and_ply(tab, browser, server, tmp_path):
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab.new_game("othello")
    tab.move("e6", "f6", "c4")
    assert names(tab.saved(tmp_path / "game.jsonl")) == ["e3", "f3", "c5"]
    tab.field("Previous move").click()
    tab.until(lambda: tab.current == "f6")
    tab.button("Copy link").click()
    tab.text("Copied.").first.wait_for()
    link = tab.page.evaluate("navigator.clipboard.readText()")
    assert link.startswith(server.origin + "/#")
    assert link == tab.page.url
    other = Tab(browser, server).open(link.removeprefix(server.origin + "/"))
    other.until_ply(3)
    assert other.current == "f6"
    other.close()


def test_what_was_undone_before_a_resignation_is_not_saved(tab, tmp_path):
    tab.new_game("othello")
    tab.move("e6", "f6")
    tab.button("Undo").click()
    tab.until_caption("White to move")
    tab.button("Resign").click()
    tab.until_caption("resigned")
    record = tab.saved(tmp_path / "game.jsonl")
    assert (names(record), record.info) == (["e3"], {"resigned": "red"})


def test_what_a_file_tells_of_a_game_is_in_what_is_saved(tab, tmp_path):
    moves = parse_names(OTHELLO, ("e3", "f3"))
    info = {"year": 1998, "resigned": "black"}
    resigned = Record(OTHELLO, moves, None, (0, 100), ("one", "other"), info)
    forfeited = Record(OTHELLO, moves, None, (100, 0), None, {"forfeit": "red"})
    path = tmp_path / "game.jsonl"
    save(path, [resigned, forfeited])
    tab.open_records(path, 2)
    tab.until_ply(2)
    assert tab.saved(path) == forfeited
    first = tab.button("Open game 1")
    first.click()
    tab.find("tr.current").filter(has=first).wait_for()
    tab.field("Last position").click()
    tab.until_caption("Black resigned: white won")
    assert tab.saved(path) == resigned
    tab.page.reload()
    tab.until_caption("resigned")
    # What else is tried is another game, and the way back is to the same.
    tab.field("Previous move").click()
    tab.until_caption("White to move")
    tab.square("d6").click()
    tab.until_ply(3)
    assert tab.saved(path) == Record(
        OTHELLO, parse_names(OTHELLO, ("e3", "d3")), players=resigned.players
    )
    tab.button("f6", tab.find(".movelist")).click()
    tab.until_caption("resigned")
    assert tab.saved(path) == resigned


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
    tab.move("f5")
