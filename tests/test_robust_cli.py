"""The command line against what people and files may put into it."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from command_line import invoke, run

from boardenvs.games import make
from boardenvs.records import Record, load, save


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))


# ---- texts of others -----------------------------------------------------------------------------

ODD = "\x1b[2J\x1b]0;title\x07\x9b31m\r\u202egpj\u2066\x7f"


@pytest.mark.parametrize(
    "words",
    [
        ["records", "odd.jsonl"],
        ["records", "odd.jsonl", "--number", 1],
        ["records", ODD],
        ["rate", "policy:" + ODD],
    ],
)
def test_no_control_character_of_others_is_printed(words):
    odd = Record(make("reversi"), (20,), players=(ODD, ODD), info={"note": ODD, ODD: 1})
    save("odd.jsonl", [odd])
    shown = invoke(*words).output
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown), shown
    assert "gpj" in shown or words[-1] == "odd.jsonl"


# ---- code of users -------------------------------------------------------------------------------

BOTS = """
from __future__ import annotations
from typing import TYPE_CHECKING
import sys
from boardenvs.games.othello import Othello
if TYPE_CHECKING:
    from boardenvs import Game

class Agent:
    def act(self, game, state, rng): return game.sample(state, rng)
class Raising(Agent):
    def __init__(self):
        {}["missing"]
class Lost(Agent):
    def act(self, game, state, rng): return game.no_such_thing
def lost_game(size: int = 3) -> Game: open("no/file")
def leaving_a_trace(game, state, rng):
    open("trace", "w").close()
    return game.sample(state, rng)
class Ruleless(Othello):
    def moves(self, *words): return 1 / 0
"""


def at(code):
    """The place of this code, as messages name it."""
    lines = BOTS.splitlines()
    return f"(bots.py, line {next(i for i, text in enumerate(lines, start=1) if code in text)})"


RAISING = f"'python:bots:Raising' raised KeyError: 'missing' {at('missing')}"
LOST = (
    "'bots:lost_game' raised FileNotFoundError: [Errno 2] No such file or directory: 'no/file' "
    + at("no/file")
)
# What a command says last: all of it, or how it ends.
SAID: list[tuple[list[str], str]] = [
    # Agents.
    (["analyse", "reversi", "--with", "python:bots:Raising"], RAISING),
    # Games.
    (["records", "games.jsonl", "--game", "bots:lost_game"], LOST),
    # Others.
    (["match", "bots:Ruleless", "random", "random"],
     f"error: ZeroDivisionError: division by zero {at('def moves')}"),
    (["analyse", "reversi", "--with", "python:bots:Lost"],
     "error: AttributeError: 'Othello' object has no attribute 'no_such_thing' " + at("no_such")),
]  # fmt: skip


@pytest.fixture
def bots():
    path = Path("bots.py")
    path.write_text(BOTS)
    yield path
    sys.modules.pop("bots", None)


@pytest.mark.parametrize(("words", "said"), SAID)
def test_errors_of_users_code_say_where(bots, words, said):
    output = run(*words, code=2)
    assert "Traceback" not in output
    assert output.splitlines()[-1].endswith(said)
    assert {path.name for path in Path().iterdir()} <= {"bots.py", "__pycache__"}


# ---- outputs -------------------------------------------------------------------------------------


@pytest.fixture
def games():
    path = Path("games.jsonl")
    save(path, [Record(make("othello"), (20,))])
    return path


MATCH = ["match", "othello", "python:bots:leaving_a_trace", "random", "--record"]


@pytest.mark.parametrize(
    "words",
    [
        [*MATCH, "no/x.jsonl"],
        [*MATCH, "folder.jsonl"],
        [*MATCH, "/proc/x.jsonl"],
        ["arena", "random", MATCH[2], "--out", "bots.py/arena"],
        ["records", "games.jsonl", "--out", "no/x.jsonl"],
        ["records", "games.jsonl", "--number", "1", "--out", "no/x.svg"],
    ],
)
def test_outputs_are_checked_before_the_work(bots, games, words):
    Path("folder.jsonl").mkdir()
    assert words[-1] in run(*words, code=2).replace("\n", "")
    left = {path.name for path in Path().rglob("*") if path.suffix != ".pyc"}
    assert left <= {"bots.py", "games.jsonl", "folder.jsonl", "__pycache__"}


def test_names_of_files_may_look_like_markup(games):
    odd = "[red]x[bold].jsonl"
    assert odd in run("records", games, "--out", odd)
    assert odd in run("records", odd)
    assert load(odd) == load(games)
