"""The page in a browser: games, analysis, records, lost connections."""

import re

import pytest
from test_policy import random_policy
from variants import make, random_record
from web_browser import Tab, needs_browser

from boardenvs.agents.policy_file import save_policy
from boardenvs.play import review
from boardenvs.records import load, save
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
        tab.page.evaluate(
            "hash => { location.hash = hash }", f"game={game}&view=play&moves={moves}"
        )
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
    lost = [f" {ply.name}:" for ply in review(record, "perfect").plies if ply.lost]
    blunders = tab.find("button.blunder")
    tab.until(lambda: blunders.count() == len(lost))
    assert lost[0] in blunders.first.inner_text()
    worst = next(ply for ply in review(record, "perfect").plies if ply.lost)
    tab.button(f"Try again: ply {worst.number}").click()
    assert tab.find(".bar").is_hidden()  # it would give the answer away
    for action, answer in ((worst.action, "is not it"), (worst.best.action, "Right:")):
        game, position = record.game, worst.analysis.position
        tab.field("Your move").fill(game.action_name(action, position))
        tab.field("Your move").press("Enter")
        tab.until(lambda answer=answer: answer in tab.find(".answer").inner_text())
    tab.button("Back to the list").click()
    assert "0 of 1 found at once" in tab.text("Mistakes and blunders").first.inner_text()


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
