"""What commands and reports print, whole, as `printed/` has it: numbers, sides, units and words.

`python tests/test_printed.py` writes the files again, in an empty folder; read what then differs.
"""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from command_line import invoke
from variants import HERE

from boardenvs.arena import make_settings
from boardenvs.arena.executor import FIRST, SECOND
from boardenvs.arena.match_result import MatchResult, forfeited
from boardenvs.arena.pairing import Pairing, Played
from boardenvs.arena.player import PlayerStats
from boardenvs.arena.report import compose, document
from boardenvs.arena.results import summarise
from boardenvs.arena.tournament_settings import make_plan
from boardenvs.games import parse
from boardenvs.kernel import set_backend
from boardenvs.records import Record, make_record, save

PRINTED = HERE / "printed"
COMMANDS = PRINTED / "commands.txt"
LINES = re.compile(r"[┏┡└┓┩┘━┳╇┴─┛┗╋┻├┤]+")
SPEED = re.compile(r"\d+\.\d\d s, [\d,]+ a second")


def game(spec: str, moves: str, event: str = "") -> Record:
    rules = parse(spec)
    actions = [rules.parse_action(name) for name in moves.split()]
    info = {"event": event} if event else {}
    return make_record(rules, actions, players=("Ann", "Bob"), info=info)


def commands(expected: str) -> str:
    """What the commands of this text print in an empty folder, tables without their lines."""
    won = game("tictactoe", "a1 a2 b1 b2 c1", "a cup")
    games = [
        game("tictactoe", "a1 b2 c3 b3 b1 c1 a3 a2"),
        won,
        game("tictactoe", "a1 a2 b1"),
        replace(won, goal=(0, 100)),
        *[replace(won, actions=(0, 0))] * 5,
        game("wolf_and_sheep:max_plies=2", "d8-e7 a1-b2"),
    ]
    save("games.jsonl", games)
    save("five.jsonl", games[:2] + games[4:])
    printed = []
    for words in re.findall(r"^\$ boardenvs (.*)$", expected, re.MULTILINE):
        text = invoke(*shlex.split(words)).output.replace("│", "|").replace("┃", "|")
        lines = [" ".join(line.split()) for line in LINES.sub("", text).splitlines()]
        shown = "\n".join(line for line in lines if line)
        printed.append(f"$ boardenvs {words}\n{SPEED.sub('N s, N a second', shown)}\n")
    return "\n".join(printed)


def test_commands_print_what_they_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    expected = COMMANDS.read_text(encoding="utf-8")
    assert commands(expected) == expected


def match(pairing: Pairing, number: int) -> MatchResult | None:
    """A match of some pairing of a tournament: one is void, one forfeited, and no two are alike."""
    if number in (4, 7):
        return None if number == 4 else forfeited(pairing.pairs, SECOND, "it is ill")
    scores = ((np.arange(2 * pairing.pairs) * (number + 3) + number) % 7 % 3 / 2).reshape(2, -1)
    if number == 9:
        scores[:] = 0
        scores[1, 2] = 0.5
    stats = [PlayerStats(), PlayerStats()]
    for side, its in enumerate(stats, FIRST):
        its.moves, its.timed_moves, its.cpu_seconds = 400 * side, 100, number * side / 7
    if number == 2:
        stats[1].add(3, "it cannot count")
    return MatchResult(
        scores=scores,
        forfeits=np.zeros((2, pairing.pairs), np.int8),
        mean_plies=20 + number / 3,
        openings=pairing.pairs - (pairing.game == "tictactoe"),
        stats=(stats[0], stats[1]),
        actions=np.empty((2, pairing.pairs, 0), np.int32),
    )


def tournament() -> dict[str, str]:
    """The reports of a tournament whose results are made up, by the names of files."""
    entrants = ["random", "greedy", "positional", "perfect", "mcts:rollouts=9"]
    names = ["othello", "tictactoe", "wolf_and_sheep:rules=described"]
    settings = make_settings(entrants, names, pairs=5, seed=3)
    plan = make_plan(settings)
    played = [Played(pairing, match(pairing, i)) for i, pairing in enumerate(plan.pairings)]
    results = summarise(settings, plan, played)
    values = document(results)
    tables = [{"table": name, **table} for name, table in values["tables"].items()]
    ratings = [rating for table in tables for rating in table.pop("ratings")]
    times = values["timings"]["cpu_ms_per_move"], values["timings"]["players_cpu_seconds"]
    lines = map(json.dumps, [*tables, *ratings, *values["pairings"], values["ratings"], *times])
    report = compose(results).markdown()
    return {"arena.md": report, "arena.jsonl": "".join(f"{line}\n" for line in lines)}


@pytest.mark.usefixtures("undrawn")
def test_a_tournament_is_reported_as_it_was() -> None:
    for name, text in tournament().items():
        assert text == (PRINTED / name).read_text(encoding="utf-8"), name


if __name__ == "__main__":
    set_backend("numpy")
    again = {"commands.txt": commands(COMMANDS.read_text(encoding="utf-8")), **tournament()}
    for name, text in again.items():
        (PRINTED / name).write_text(text, encoding="utf-8", newline="\n")
