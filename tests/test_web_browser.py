"""The page in a browser: games, analysis, records, lost connections."""

import re
import shutil

import pytest
from variants import make, random_record
from web_browser import Tab, needs_browser
from web_server import served

from boardenvs.agents.trained import FOLDER as TRAINED
from boardenvs.play import MoveNotation, review
from boardenvs.records import Record, save
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
    for text in ("z9", "b1-b3"):
        box.fill(text)
        box.press("Enter")
        tab.until(lambda text=text: f"{text} is not a legal" in tab.problem or tab.plies == 1)
    box.fill("A3 C1")
    box.press("Enter")
    tab.until_ply(2)
    tab.square("c8").drag_to(tab.square("c6"))
    tab.until_ply(3)
    assert "ply 3 of at most 50" in tab.find(".counts").inner_text()


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


def test_a_position_as_text_and_by_hand(tab):
    tab.new_game("othello")
    tab.text("Set up a position").click()
    text, use = tab.field("Position as text"), tab.button("Use this position")
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
    switch = tab.field("Original colours")
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
    tab.page.goto(f"{tab.server.origin}/#game=othello&view=play")  # a link is no way back
    tab.until(lambda: tab.plies == 0)


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
    tab.opened("Analysis settings")
    tab.field("Agent", exact=True).fill("perfect")
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


# ---- records -------------------------------------------------------------------------------------


def test_many_games(tab, tmp_path):
    line = random_record(OTHELLO).actions
    kept = [Record(OTHELLO, line[: i % 60], None, None, None, {"x": i}) for i in range(150)]
    save(tmp_path / "games.jsonl", kept)
    tab.open_records(tmp_path / "games.jsonl")
    rows = tab.find("table.records tbody tr")
    rows.nth(99).wait_for()
    tab.field("Search").fill("149")  # a game's number, and another one's x
    tab.until(lambda: rows.count() == 2)
    tab.field("Search").fill("")
    tab.button("Plies").click()
    tab.button("Plies").click()
    rows.first.get_by_role("button").click()
    tab.until_ply(59)
    tab.page.keyboard.press("ArrowRight")
    first = MoveNotation(OTHELLO).write(line[0])
    tab.until(lambda: tab.current == first)


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


def test_a_run_has_its_report_and_its_policy_plays(tab, folder):
    run = folder / "first_try"
    run.mkdir()
    (run / "config.yaml").write_text("game: othello\nsteps: 1000\n")
    tab.view("Training and arena")
    tab.text("No policy yet.").wait_for()
    assert tab.text("No report yet.").is_visible()
    (run / "report.html").write_text("<h1>How it went</h1>")
    shutil.copy(TRAINED / "othello.npz", run / "policy.npz")
    with tab.context.expect_page() as opened:
        tab.page.get_by_role("link", name="Report, with games").click()
    opened.value.get_by_role("heading", name="How it went").wait_for()
    tab.button("Play against the latest policy").click()
    tab.until_note("your turn")
    tab.move("f5")
