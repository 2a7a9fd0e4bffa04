"""`boardenvs solve`: what it prints is what the table says, and its line is a game."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from placings import CLASSIC, DESCRIBED, game_of
from typer.testing import CliRunner

from boardenvs.cli import app
from boardenvs.fen import parse_position, write_position
from boardenvs.games import parse
from boardenvs.state import Position, stack
from boardenvs.tablebase import Tablebase

# The wolf passes the last sheep with d4-c3 or d4-e3.
NEARLY_WON = "8/8/5s1s/6s1/3w4/s7/8/8 wolf 20"


def run(*words: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, ["solve", *words])
    assert result.exit_code == code, result.output
    return result.output


def solved(*words: str) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(run(*words, "--json"))
    return answer


def follow(spec: str, position: str, line: list[str]) -> Position:
    """The position after a line, every action of which must be legal."""
    game = parse(spec)
    here = parse_position(game, position)
    for name in line:
        action = game.parse_action(name)
        assert here.is_legal(action), name
        here = game.next(here, action)
    return here


def test_the_classic_start() -> None:
    answer = solved("wolf_and_sheep")
    assert (answer["winner"], answer["plies"]) == ("sheep", 44)
    assert {m["action"] for m in answer["moves"]} == {"d8-c7", "d8-e7"}
    assert all((m["winner"], m["plies"]) == ("sheep", 44) for m in answer["moves"])
    assert len(answer["line"]) == 44
    end = follow("wolf_and_sheep", answer["position"], answer["line"])
    assert end.terminated
    assert game_of(CLASSIC).result(end) == (0, 100)
    counts = Tablebase.load(game_of(CLASSIC)).counts()
    assert answer["positions"] == [c._asdict() for c in counts]


def test_the_described_start() -> None:
    spec = "wolf_and_sheep:rules=described"
    answer = solved(spec)
    assert (answer["game"], answer["winner"], answer["plies"]) == (spec, "wolf", 13)
    plies = {m["action"]: m["plies"] for m in answer["moves"]}
    assert plies == {"d8-c7": 13, "d8-d7": 13, "d8-e7": 13, "d8-c8": 15, "d8-e8": 15}
    assert [m["plies"] for m in answer["moves"]] == sorted(plies.values())  # best first
    end = follow(spec, answer["position"], answer["line"])
    assert end.terminated
    assert end.ply == 13
    assert game_of(DESCRIBED).result(end) == (100, 0)


def test_a_position() -> None:
    answer = solved("wolf_and_sheep", "--position", NEARLY_WON)
    assert (answer["position"], answer["winner"], answer["plies"]) == (NEARLY_WON, "wolf", 1)
    assert {m["action"] for m in answer["moves"] if m["plies"] == 1} == {"d4-c3", "d4-e3"}
    game = game_of(CLASSIC)
    root = parse_position(game, NEARLY_WON)
    table = Tablebase.load(game)
    for move in answer["moves"]:
        after = game.next(root, game.parse_action(move["action"]))
        value, distance = table.lookup(stack([after]))
        assert move["winner"] == ("wolf" if value[0] == -1 else "sheep")
        assert move["plies"] == distance[0] + 1
        assert move["mistakes"] == table.mistakes(stack([after]))[0]


def test_a_line_depends_on_the_seed_alone() -> None:
    lines = [solved("wolf_and_sheep", "--seed", str(seed))["line"] for seed in (3, 3, 4, 5)]
    assert lines[0] == lines[1]
    assert len({tuple(line) for line in lines}) > 1


def test_a_cap_that_comes_first() -> None:
    answer = solved("wolf_and_sheep:max_plies=25")
    assert (answer["winner"], answer["plies"], len(answer["line"])) == (None, 25, 25)
    text = run("wolf_and_sheep:max_plies=25")
    assert "within the 25 plies that max_plies leaves; the cap then pays the wolf" in text


def test_what_people_read() -> None:
    text = run("wolf_and_sheep")
    assert "Winner with perfect play: sheep; plies to the end: 44." in text
    assert "49,625" in text
    assert "d8-c7" in text
    over = write_position(game_of(CLASSIC), over_position())
    text = run("wolf_and_sheep", "--position", over)
    assert "The game is over; winner: wolf." in text
    assert "A perfect line" not in text
    assert solved("wolf_and_sheep", "--position", over)["moves"] == []


def over_position() -> Position:
    game = game_of(CLASSIC)
    root = parse_position(game, NEARLY_WON)
    return game.next(root, game.parse_action("d4-c3"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["othello"], "no tablebase of othello: only 'wolf_and_sheep' is solved exactly"),
        (["wolf_and_shep"], "Did you mean 'wolf_and_sheep'"),
        (["wolf_and_sheep:rules=x"], "one of 'classic', 'described'"),
        (["wolf_and_sheep", "--position", "8/8 wolf"], "the board has 2 ranks"),
        (
            ["wolf_and_sheep", "--position", "3w4/8/8/8/8/8/8/ss2s1s1 wolf"],
            "four sheep on squares of one colour",
        ),
    ],
)
def test_errors_are_short_and_named(words: list[str], message: str) -> None:
    text = run(*words, code=2)
    assert message in " ".join(text.split())
    assert "Traceback" not in text


def test_progress_is_not_on_standard_output(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """JSON stays JSON while the table is made."""
    from boardenvs.tablebase import build, table

    def solve_all(game: object, report: Any) -> Any:
        report("moves found", 1, 2)
        return np.ones(2 * 64 * 35960, np.int16)

    monkeypatch.setattr(build, "solve_all", solve_all)
    monkeypatch.setattr(table, "_loaded", {})
    monkeypatch.setenv("BOARDENVS_CACHE", str(tmp_path))
    result = CliRunner().invoke(app, ["solve", "wolf_and_sheep", "--json"])
    assert json.loads(result.stdout)["winner"] == "wolf"
