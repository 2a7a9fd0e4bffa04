"""`boardenvs solve`: what it prints is what table or search say, and its line is a game."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import invoke, run
from placings import CLASSIC, game_of

from boardenvs.game.contract import Position
from boardenvs.game.fen import parse_position
from boardenvs.games import parse

# The wolf passes the last sheep with d4-c3 or d4-e3.
NEARLY_WON = "8/8/5s1s/6s1/3w4/s7/8/8 wolf 20"


solve = partial(run, "solve")


def solved(*words: str) -> Any:
    return json.loads(solve(*words, "--json"))


def follow(spec: str, position: str, line: list[str]) -> Position:
    """The position after a line, every action of which must be legal."""
    game = parse(spec)
    here = parse_position(game, position)
    for name in line:
        action = game.parse_action(name)
        assert here.is_legal(action), name
        here = here.step(action)
    return here


# ---- by the table --------------------------------------------------------------------------------


def test_the_classic_start() -> None:
    answer = solved("wolf_and_sheep")
    assert (answer["outcome"], answer["plies"]) == ("loss", 44)
    assert {m["move"] for m in answer["moves"]} == {"d8-c7", "d8-e7"}
    assert all((m["outcome"], m["plies"]) == ("loss", 44) for m in answer["moves"])
    assert len(answer["line"]) == 44
    end = follow("wolf_and_sheep", answer["position"], answer["line"])
    assert end.terminated
    text = solve("wolf_and_sheep")
    for words in ("Sheep wins in 44 plies with best play.", "49,625", "d8-c7", "14%"):
        assert words in text


def test_the_described_start() -> None:
    spec = "wolf_and_sheep:rules=described"
    answer = solved(spec)
    assert (answer["game"], answer["outcome"], answer["plies"]) == (spec, "win", 13)
    plies = {m["move"]: m["plies"] for m in answer["moves"]}
    assert plies == {"d8-c7": 13, "d8-d7": 13, "d8-e7": 13, "d8-c8": 15, "d8-e8": 15}
    assert [m["plies"] for m in answer["moves"]] == sorted(plies.values())  # best first
    end = follow(spec, answer["position"], answer["line"])
    assert (end.terminated, end.ply) == (True, 13)


def test_a_line_depends_on_the_seed_alone() -> None:
    lines = [solved("wolf_and_sheep", "--seed", str(seed))["line"] for seed in (3, 3, 4, 5)]
    assert lines[0] == lines[1]
    assert len({tuple(line) for line in lines}) > 1


def test_a_cap_that_comes_first() -> None:
    answer = solved("wolf_and_sheep:max_plies=25")
    assert (answer["plies"], len(answer["line"])) == (25, 25)
    text = solve("wolf_and_sheep:max_plies=25")
    assert "Wolf wins in 25 plies, by the cap on plies with best play." in text


def test_a_position_and_one_that_is_over() -> None:
    answer = solved("wolf_and_sheep", "--position", NEARLY_WON)
    assert (answer["position"], answer["outcome"], answer["plies"]) == (NEARLY_WON, "win", 1)
    assert {m["move"] for m in answer["moves"] if m["plies"] == 1} == {"d4-c3", "d4-e3"}
    game = game_of(CLASSIC)
    over = parse_position(game, NEARLY_WON).step(game.parse_action("d4-c3"))
    text = solve("wolf_and_sheep", "--position", over.fen())
    assert "The game is over: wolf wins." in text
    assert "Best play" not in text


def test_progress_is_not_on_standard_output(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """JSON stays JSON while the table is made."""
    from boardenvs.tablebase import build, table

    def solve_all(game: object, report: Any) -> Any:
        report("moves found", 1, 2)
        return np.ones(2 * 64 * 35960, np.int16)

    monkeypatch.setattr(build, "solve_all", solve_all)
    monkeypatch.setattr(table, "_loaded", {})
    monkeypatch.setenv("BOARDENVS_CACHE", str(tmp_path))
    assert json.loads(invoke("solve", "wolf_and_sheep", "--json").stdout)["proven"]


# ---- by search -----------------------------------------------------------------------------------

# The examples of the command's help.
ONE_MOVE_WINS = "1r2rrr1/2rbbr1b/rrbrbbbb/rrbrrbbb/rrbrrrrb/rrbrbrrb/r1bbrr2/2bbrb2 black 46"
WON_IN_FIVE = "2bbb3/1b3w2/w2ww3/w1w1wb2/w4wb1/w2b4/w3b3/5bbb white 17"


def test_the_end_of_othello() -> None:
    answer = solved("othello", "--position", ONE_MOVE_WINS, "--moves")
    assert (answer["game"], answer["position"]) == ("othello", ONE_MOVE_WINS)
    assert (answer["outcome"], answer["margin"], answer["unit"]) == ("win", 2, "margin")
    assert (answer["plies"], answer["depth"]) == (None, 14)
    assert answer["moves"][0]["move"] == answer["line"][0] == "c8"
    assert [m["value"] for m in answer["moves"][:2]] == [2, -4]
    end = follow("othello", ONE_MOVE_WINS, answer["line"])
    assert end.terminated
    assert end.pieces(0).bit_count() - end.pieces(1).bit_count() == 2
    text = solve("othello", "--position", ONE_MOVE_WINS)
    assert "Black wins by 2 with best play." in text
    assert f"Best play: {' '.join(answer['line'])}" in text
    assert "Moves" not in text
    assert ONE_MOVE_WINS.split()[0] in solve("--help")


def test_a_win_of_lines_of_action() -> None:
    answer = solved("lines_of_action", "--position", WON_IN_FIVE, "--moves")
    assert (answer["outcome"], answer["plies"], answer["margin"]) == ("win", 5, None)
    first, second = answer["moves"][:2]
    assert (first["move"], first["outcome"], first["plies"]) == ("f7-c4", "win", 5)
    assert (second["outcome"], second["plies"]) == (None, None)  # the only move, so far ahead
    end = follow("lines_of_action", WON_IN_FIVE, answer["line"])
    assert end.terminated
    assert end.result() == (0, 100)
    assert WON_IN_FIVE.split()[0] in solve("--help")


def test_what_is_not_solved() -> None:
    answer = solved("othello", "--depth", "3")
    assert (answer["proven"], answer["margin"], answer["depth"]) == (False, None, 3)
    assert len(answer["line"]) == 3
    text = " ".join(solve("othello", "--depth", "3").split())
    assert f"{answer['value']:+.0f} 3 plies ahead" in text
    assert "Not proven." in text
    assert f"The best line found: {' '.join(answer['line'])}" in text
    assert not solved("othello", "--time", "0.05")["proven"]


def test_what_is_over_or_a_draw() -> None:
    over = "8/8/8/8/8/8/8/bbb5 red 41"
    answer = solved("othello", "--position", over, "--moves")
    assert (answer["outcome"], answer["margin"]) == ("loss", -3)
    assert (answer["moves"], answer["line"], answer["nodes"]) == ([], [], 0)
    assert "The game is over: black wins by 3." in solve("othello", "--position", over)
    last_step = "1w6/8/8/3b1b2/1w6/8/8/1w1b4 black 50"
    text = solve("lines_of_action", "--position", last_step)
    assert "The game is over: a draw." in text
    text = solve("lines_of_action", "--position", last_step.replace("50", "49"))
    assert "A draw with best play." in text


def test_squares_in_full() -> None:
    """From a1 to h8, as collections of endgames have them."""
    game = parse("othello")
    root = parse_position(game, ONE_MOVE_WINS)
    squares = "".join(
        "X" if root.own >> s & 1 else "O" if root.opp >> s & 1 else "-" for s in range(64)
    )
    for side in ("X", "Black", "black"):
        assert parse_position(game, f"{squares} {side}") == root._replace(ply=0)
    for side in ("O", "White", "red"):
        other = parse_position(game, f"{squares} {side}")
        assert (other.own, other.opp, other.to_move) == (root.opp, root.own, 1)
    assert solved("othello", "--position", f"{squares} X")["margin"] == 2


def test_a_file_of_positions(tmp_path: Path) -> None:
    file = tmp_path / "ends.txt"
    ends = "---XXXXX-OOOOOOX" + "OX" * 24
    file.write_text(f"# two ends\n\n{ONE_MOVE_WINS} c8 +2\n{ends} White 3 -7\n")
    answers = solved("othello", "--file", str(file))
    assert [a["position"].split()[1:] for a in answers] == [["black", "46"], ["red", "0"]]
    assert answers[0]["margin"] == 2
    alone = solved("othello", "--position", f"{ends} O")
    for key in ("outcome", "margin", "line"):
        assert answers[1][key] == alone[key]
    text = solve("othello", "--file", str(file))
    assert "black wins by 2" in text
    assert "c8" in text
    file.write_text(f"{NEARLY_WON}\n8/8/8/8/8/8/3w4/s1s1s1s1 sheep\n")
    text = solve("wolf_and_sheep", "--file", str(file))
    assert "wolf wins in 1 ply" in text
    file.write_text(f"{ONE_MOVE_WINS}\n8/8 black\n")
    text = " ".join(solve("othello", "--file", str(file), code=2).split())
    assert f"{file.name}, line 2: position '8/8 black': the board has 2 ranks" in text
    file.write_text("# nothing\n")
    assert "has no positions" in solve("othello", "--file", str(file), code=2)
