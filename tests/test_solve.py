"""`boardenvs solve`: what it prints is what table or search say, and its line is a game."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import invoke, run

from boardenvs.game.fen import parse_position
from boardenvs.games import parse
from boardenvs.games.othello import Othello
from boardenvs.tablebase import build, table

# The wolf passes the last sheep with d4-c3 or d4-e3.
NEARLY_WON = "8/8/5s1s/6s1/3w4/s7/8/8 wolf 20"
# The examples of the command's help.
ONE_MOVE_WINS = "1r2rrr1/2rbbr1b/rrbrbbbb/rrbrrbbb/rrbrrrrb/rrbrbrrb/r1bbrr2/2bbrb2 black 46"
WON_IN_FIVE = "2bbb3/1b3w2/w2ww3/w1w1wb2/w4wb1/w2b4/w3b3/5bbb white 17"
LAST_STEP = "1w6/8/8/3b1b2/1w6/8/8/1w1b4 black 49"

solve = partial(run, "solve")


def solved(*words: str) -> Any:
    return json.loads(solve(*words, "--json"))


def at(position: str | None) -> list[str]:
    return [] if position is None else ["--position", position]


MEANS = ("outcome", "plies", "value")


@pytest.mark.parametrize(
    ("spec", "position", "outcome", "plies", "margin", "best", "said"),
    [
        ("wolf_and_sheep", None, "loss", 44, None, "d8-c7 d8-e7",
         ["Sheep wins in 44 plies with best play.", "49,625", "d8-c7", "14%"]),
        ("wolf_and_sheep:rules=described", None, "win", 13, None, "d8-c7 d8-d7 d8-e7", []),
        ("wolf_and_sheep:max_plies=25", None, "win", 25, None, None,
         ["Wolf wins in 25 plies, by the cap on plies with best play."]),
        ("wolf_and_sheep", NEARLY_WON, "win", 1, None, "d4-c3 d4-e3", []),
        ("othello", ONE_MOVE_WINS, "win", None, 2, "c8", ["Black wins by 2 with best play."]),
        ("lines_of_action", WON_IN_FIVE, "win", 5, None, "f7-c4", []),
        ("lines_of_action", LAST_STEP, "draw", None, None, None, ["A draw with best play."]),
    ],
)  # fmt: skip
def test_what_is_proven(
    spec: str,
    position: str | None,
    outcome: str,
    plies: int | None,
    margin: int | None,
    best: str | None,
    said: list[str],
) -> None:
    answer = solved(spec, *at(position), "--moves")
    assert (answer["game"], answer["proven"], answer["outcome"]) == (spec, True, outcome)
    assert (answer["plies"], answer["margin"]) == (plies, margin)
    game, moves, line = parse(spec), answer["moves"], answer["line"]
    lasting = [move["plies"] for move in moves if move["outcome"] == outcome]
    assert plies is None or lasting == sorted(lasting)  # best first
    as_good = [move["move"] for move in moves if all(move[x] == moves[0][x] for x in MEANS)]
    assert line[0] == as_good[0]
    assert best is None or set(as_good) == set(best.split())
    start = here = parse_position(game, answer["position"])
    for name in line:
        action = game.parse_action(name)
        assert here.is_legal(action), name
        here = here.step(action)
    assert here.is_over()
    assert here.result()[start.to_move] == {"win": 100, "draw": 50, "loss": 0}[outcome]
    assert plies is None or len(line) == plies
    assert margin is None or here.pieces(0).bit_count() - here.pieces(1).bit_count() == margin
    text = " ".join(solve(spec, *at(position)).split())
    for words in (*said, f"Best play: {game.look.write(' '.join(line), 8)}"):
        assert words in text
    assert ("Moves" in text) == spec.startswith("wolf")  # those of others need a search each


def test_the_help_has_two_of_them() -> None:
    text = solve("--help")
    assert ONE_MOVE_WINS.split()[0] in text
    assert WON_IN_FIVE.split()[0] in text


def test_a_line_depends_on_the_seed_alone() -> None:
    lines = [solved("wolf_and_sheep", "--seed", str(seed))["line"] for seed in (3, 3, 4, 5)]
    assert lines[0] == lines[1]
    assert len(set(map(tuple, lines))) > 1


def test_progress_is_not_on_standard_output(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """JSON stays JSON while the table is made."""

    def solve_all(game: object, report: Any) -> Any:
        report("moves found", 1, 2)
        return np.ones(2 * 64 * 35960, np.int16)

    monkeypatch.setattr(build, "solve_all", solve_all)
    monkeypatch.setattr(table, "_loaded", {})
    monkeypatch.setenv("BOARDENVS_CACHE", str(tmp_path))
    assert json.loads(invoke("solve", "wolf_and_sheep", "--json").stdout)["proven"]


def test_what_is_not_solved() -> None:
    answer = solved("othello", "--depth", "3")
    assert (answer["proven"], answer["margin"], answer["depth"]) == (False, None, 3)
    assert len(answer["line"]) == 3
    text = " ".join(solve("othello", "--depth", "3").split())
    assert f"{answer['value']:+.0f} 3 plies ahead" in text
    assert "Not proven." in text
    assert f"The best line found: {Othello.look.write(' '.join(answer['line']), 8)}" in text
    assert not solved("othello", "--time", "0.05")["proven"]


def test_what_is_over() -> None:
    over = "8/8/8/8/8/8/8/bbb5 red 41"
    answer = solved("othello", *at(over), "--moves")
    assert (answer["outcome"], answer["margin"]) == ("loss", -3)
    assert (answer["moves"], answer["line"], answer["nodes"]) == ([], [], 0)
    for spec, position, said in (
        ("othello", over, "black wins by 3."),
        ("lines_of_action", LAST_STEP.replace("49", "50"), "a draw."),
        ("wolf_and_sheep", "8/8/5s1s/6s1/8/s1w5/8/8 sheep 21", "wolf wins."),
    ):
        text = solve(spec, *at(position))
        assert f"The game is over: {said}" in text
        assert "Best play" not in text


def test_squares_in_full() -> None:
    """From a1 to h8, as collections of endgames have them."""
    game = parse("othello")
    root = parse_position(game, ONE_MOVE_WINS)
    letters = {(1, 0): "X", (0, 1): "O", (0, 0): "-"}
    squares = "".join(letters[root.own >> s & 1, root.opp >> s & 1] for s in range(64))
    for sides, to_move in ((("X", "Black", "black"), 0), (("O", "White", "red"), 1)):
        for side in sides:
            position = parse_position(game, f"{squares} {side}")
            assert position == game.position((root.own, root.opp), to_move)


def test_a_file_of_positions(tmp_path: Path) -> None:
    file, ends = tmp_path / "ends.txt", "---XXXXX-OOOOOOX" + "OX" * 24

    def answer(spec: str, content: str, *words: str, code: int = 0) -> str:
        file.write_text(content)
        return " ".join(solve(spec, "--file", str(file), *words, code=code).split())

    content = f"# two ends\n\n{ONE_MOVE_WINS} c8 +2\n{ends} White 3 -7\n"
    first, second = json.loads(answer("othello", content, "--json"))
    alone = solved("othello", *at(f"{ends} O"))
    assert first["position"] == ONE_MOVE_WINS
    for key in ("position", "outcome", "margin", "line"):
        assert second[key] == alone[key]
    text = answer("othello", content)
    assert "black wins by 2" in text
    assert "c1" in text  # with rows from the top
    content = f"{NEARLY_WON}\n8/8/8/8/8/8/3w4/s1s1s1s1 sheep\n"
    assert "wolf wins in 1 ply" in answer("wolf_and_sheep", content)
    text = answer("othello", f"{ONE_MOVE_WINS}\n8/8 black\n", code=2)
    assert f"{file.name}, line 2: position '8/8 black': the board has 2 ranks" in text
    assert "has no positions" in answer("othello", "# nothing\n", code=2)
