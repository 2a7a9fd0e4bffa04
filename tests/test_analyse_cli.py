"""`boardenvs analyse`: it prints what `boardenvs.analyse` returns, and proofs are right."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import partial

import pytest
from command_line import rows, run
from variants import random_record

from boardenvs import play
from boardenvs.agents.analyse import analyse
from boardenvs.game.fen import parse_position
from boardenvs.games import make, parse
from boardenvs.records import replay, save

# The wolf passes the last sheep with d4-c3 or d4-e3.
NEARLY_WON = "8/8/5s1s/6s1/3w4/s7/8/8 wolf 20"
ONE_MOVE_WINS = "1w2www1/2wbbw1b/wwbwbbbb/wwbwwbbb/wwbwwwwb/wwbwbwwb/w1bbww2/2bbwb2 black 46"
WON_IN_FIVE = "2bbb3/1b3w2/w2ww3/w1w1wb2/w4wb1/w2b4/w3b3/5bbb white 17"
LAST_STEP = "1w6/8/8/3b1b2/1w6/8/8/1w1b4 black 49"

command = partial(run, "analyse")


def proof(*words):
    return json.loads(command(*words, "--prove", "--json"))


@pytest.mark.parametrize(
    ("spec", "position", "outcome", "plies", "margin", "best", "said"),
    [
        ("wolf_and_sheep", None, "loss", 44, None, "d8-c7 d8-e7", "Sheep wins in 44 plies"),
        ("wolf_and_sheep:max_plies=25", None, "win", 25, None, "d8-c7 d8-e7", "Wolf wins in 25"),
        ("wolf_and_sheep", NEARLY_WON, "win", 1, None, "d4-c3 d4-e3", "Wolf wins in 1"),
        ("othello", ONE_MOVE_WINS, "win", None, 2, "c1", "Black wins by 2 with best play."),
        ("lines_of_action", WON_IN_FIVE, "win", 5, None, "f7-c4", "White wins in 5 plies"),
    ],
)
def test_what_is_proven(spec, position, outcome, plies, margin, best, said):
    at = [position] if position else []
    answer = proof(spec, *at)
    found = [answer[key] for key in ("proven", "outcome", "plies", "margin")]
    assert found == [True, outcome, plies, margin]
    game, line = parse(spec), answer["line"]
    assert line[0] in best.split()
    start = here = parse_position(game, answer["position"])
    for name in line:
        action = game.parse_action(name)
        assert here.is_legal(action), name
        here = here.step(action)
    assert here.result()[start.to_move] == {"win": 100, "loss": 0}[outcome]
    assert plies is None or len(line) == plies
    assert said in " ".join(command(spec, *at, "--prove").split())


def test_what_is_not_proven_is_not_claimed():
    assert not proof("othello", "--time", "0.05")["proven"]
    assert "Not proven." in command("othello", "--time", "0.05", "--prove")


def test_solved_games_and_those_without_a_heuristic_are_proven_where_that_is_possible():
    assert proof("connect_four")["outcome"] == "win"
    assert proof("tictactoe")["outcome"] == "draw"
    nearly = "7/7/7/7/yyy4/rrr4 red"
    assert proof("connect_four", nearly)["plies"] == 1
    assert not proof("go", "--time", "0.05")["proven"]


def test_a_board_may_begin_with_an_empty_square():
    """As those of the FFO tests do; a wrong option is still one."""
    board = "--XXXXX--OOOXX-O-OOXXOXX-OXOXXOXXOOOXOXXXOOOOOXX--OOOO-X-OOOOO--"
    said = json.loads(command("othello", f"{board} X", "--with", "random", "--json"))
    assert said["position"] == parse_position(make("othello"), f"{board} X").fen()
    assert parse_position(make("othello"), board).fen() == said["position"], "by default X"
    assert "--wiht" in command("othello", f"{board} X", "--wiht", "greedy", code=2)


@pytest.mark.parametrize(
    ("game_id", "best"),
    [
        ("othello", "alphabeta:depth=4,endgame=12,evaluation=trained"),
        ("wolf_and_sheep", "perfect"),
    ],
)
def test_the_command_says_what_python_says(game_id, best):
    """The default analyst is the player that knows the game best."""
    said = json.loads(command(game_id, "--json"))
    found = analyse(make(game_id), best).to_json()
    assert {**said, "seconds": 0} == {**found, "seconds": 0}
    shown = {cells[0]: cells for cells in rows(command(game_id))}
    for move in said["moves"]:
        assert move["outcome"] or f"{move['value']:+.2f}" in shown[move["move"]]
        assert move["mistakes"] is None or f"{move['mistakes']:.0%}" in shown[move["move"]]


def test_options():
    answer = json.loads(command("othello", "--with", "mcts:rollouts=1", "--time", 0.3, "--json"))
    first = ["c4", "d3", "e6", "f5"]
    assert sorted(move["move"] for move in answer["moves"]) == first
    text = command("othello", "--with", "greedy")
    assert sorted(re.findall(r"^\W ([a-h][1-8]) ", text, re.MULTILINE)) == first
    assert "2 more moves" in command("othello", "--with", "greedy", "--moves", 2)


def test_proven_values_are_words():
    text = command("lines_of_action", "8/4w3/2bb2b1/wwb1b1bw/w1b1b1b1/8/w4w2/w2bw3 black 36",
                   "--with", "alphabeta:depth=3", "--moves", 0)  # fmt: skip
    assert "Black wins in 3 plies with best play." in text
    assert re.search(r"c6-f6 │ +wins │", text)
    assert "100000" not in text.replace(",", "")


def test_a_recorded_game_is_reviewed(tmp_path):
    file, record = tmp_path / "games.jsonl", random_record(make("othello"), 1)
    save(file, [random_record(make("othello"), 5), record])
    review = partial(command, "othello", file, "--number", 2, "--with", "greedy")
    found = json.loads(review("--json"))
    plies, cells = found["plies"], rows(review())
    assert [ply["move"] for ply in plies] == [record.game.action_name(a) for a in record.actions]
    assert len(cells) == len(plies) + 2
    for ply, shown in zip(plies, cells, strict=False):
        lost, value = f"{ply['lost']:,.0f}" * (ply["lost"] > 0), f"{ply['value_before']:+.0f}"
        assert shown[:4] == [str(ply["ply"]), ply["side"], ply["move"], value]
        assert shown[4:6] == [lost, ply["better"] or ""]
    for side, shown in zip(found["summaries"], cells[-2:], strict=True):
        lost = f"{side['lost']['heuristic']:,.0f} heuristic"
        assert shown == [side["role"], str(side["choices"]), str(side["agreed"]), lost]
    assert json.loads(review("--ply", 3, "--json"))["position"] == replay(record)[3].fen()
    words = ["othello", file, "--number", 2, "--with", "random", "--seed", 5]
    choices = [ply["analysis"]["choice"] for ply in json.loads(command(*words, "--json"))["plies"]]
    drawn = [ply.analysis for ply in play.review(record, "random", seed=5).plies]
    assert choices == [analysis.to_json()["choice"] for analysis in drawn]
    assert "there is no position after ply 99" in review("--ply", 99, code=2)
    wrong = replace(record, actions=(*record.actions[:4], record.actions[0]))
    save(file, [random_record(make("othello_holes")), wrong])
    words = ["othello", file, "--with", "greedy", "--number"]
    assert "is othello_holes, not othello" in " ".join(command(*words, 1, code=2).split())
    assert "is not legal for black at ply 4" in command(*words, 2, code=2)
    assert "is not legal for black at ply 4" in command(*words, 2, "--ply", 2, code=2)
    save(file, [random_record(make("reversi"))])
    assert f"game 1 of {file} is reversi, which has the rules of othello" in command(
        "othello", file, "--ply", 3, "--with", "greedy"
    )


def test_an_analysis_that_takes_long_shows_that_it_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("FORCE_COLOR", "1"), ("TERM", "xterm")):
        monkeypatch.setenv(name, value)
    assert "analysing" in command("tictactoe")
