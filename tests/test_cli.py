"""The command line: what commands print and write, and that errors are short and named."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
import typer.main
from command_line import run
from typer.testing import CliRunner
from variants import HERE, VARIANTS, make, random_record

import boardenvs
from boardenvs.cli import app
from boardenvs.cli.options import game_names, player_names
from boardenvs.kernel import get_backend, set_backend
from boardenvs.records import Record, load, save
from boardenvs.records.record import parse_names
from boardenvs.utils.cache import cache_folder

OTHELLO = make("othello")
COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]
# Black begins in one of these two in every tournament, and never with a1.
GOOD, BAD = "f5d6c3", "f5a1"


pytestmark = pytest.mark.usefixtures("in_python")


def rows(text: str) -> list[list[str]]:
    """The cells of the tables in a text."""
    lines = [line for line in text.splitlines() if line.startswith("│")]
    return [[cell.strip() for cell in line.strip("│").split("│")] for line in lines]


# ---- the program -------------------------------------------------------------------------------


def test_the_program_runs_as_a_module_and_as_a_script() -> None:
    """It imports what its commands need when they need it."""
    heavy = ["torch", "matplotlib", "numba", "stable_baselines3", "boardenvs.records"]
    code = (
        "import atexit, runpy, sys; sys.argv[1:] = ['--version']; "
        f"atexit.register(lambda: print([m for m in {heavy} if m in sys.modules])); "
        "runpy.run_module('boardenvs', run_name='__main__')"
    )
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    set_backend(None)  # as in a new process
    shown = f"boardenvs {boardenvs.__version__}\nbackend {get_backend()}\ncache {cache_folder()}\n"
    assert (result.returncode, result.stdout) == (0, f"{shown}[]\n")
    project = tomllib.loads((HERE.parent / "pyproject.toml").read_text())["project"]
    assert project["scripts"] == {"boardenvs": "boardenvs.cli:main"}
    assert project["version"] == boardenvs.__version__


def test_the_shell_completes_games_and_players() -> None:
    assert game_names("othello") == ["othello", "othello_holes"]
    assert player_names("p") == ["positional", "perfect", "policy", "python"]
    words = {"COMP_WORDS": "boardenvs match wolf", "COMP_CWORD": "2"}
    environment = {"_BOARDENVS_COMPLETE": "complete_bash", **words}
    completed = CliRunner().invoke(app, [], prog_name="boardenvs", env=environment)
    assert completed.output.split() == ["wolf_and_sheep"]


def test_no_command_at_all_shows_what_there_is() -> None:
    output = run(code=2)
    for name in COMMANDS:
        assert name in output


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(name: str) -> None:
    """A sentence, an example, and a word on each argument and option."""
    command = COMMANDS[name]
    assert re.search(rf"```\nboardenvs {name}\b", command.help), "an example in a code block"
    for parameter in command.params:
        assert parameter.name == "help" or len(parameter.help or "") > 10, parameter.name
    if name != "bench":  # which has the options of a program of its own
        shown = run(name, "--help")
        assert f"boardenvs {name}" in shown
        assert not re.search("<(bool|int|float|str|path|list)", shown)


# ---- games -------------------------------------------------------------------------------------


def test_every_game_and_rule_is_listed() -> None:
    found = {spec: cells for spec, *cells in rows(run("games")) if spec}
    assert len(found) == len(VARIANTS)
    assert found["othello_holes"] == ["black, red", "holes=39582420959232", "65", "8x8x3"]


def test_a_game_s_page() -> None:
    output = run("games", "lines_of_action:rules=described")
    assert "agents= ['black', 'white']" in output
    board = [line for line in output.splitlines() if re.match(r"[1-8] .* [1-8]$", line)]
    assert board[1].split() == ["7", "W", *"BBBBBB", "W", "7"]  # where the description has black
    assert board[0].count("*") == 8  # and where its pieces can go


# ---- records -----------------------------------------------------------------------------------


@pytest.fixture
def transcripts(tmp_path: Path) -> Path:
    path = tmp_path / "games.txt"
    path.write_text(f"{GOOD}\n{BAD}\n")
    return path


def test_records_counts_by_game(tmp_path: Path) -> None:
    shortest = parse_names(OTHELLO, ["e3", "f5", "e6", "f3", "g4", "d3", "e2", "f4", "c4"])
    given: list[tuple[float, float] | None] = [(100, 0), None, (50, 50), (0, 100)]
    described = make("wolf_and_sheep_described")
    records = [Record(OTHELLO, shortest), *(Record(OTHELLO, shortest[:2], None, g) for g in given)]
    save(tmp_path / "games.jsonl", [*records, Record(described, (described.noop,))])
    assert rows(run("records", tmp_path / "games.jsonl")) == [
        ["othello", "5", "1", "4", "0", "black won 2, draw 1, white won 1", "17"],
        ["wolf_and_sheep:rules=described", "1", "0", "0", "1", "-", "1"],
    ]


def test_records_names_wrong_games(transcripts: Path) -> None:
    message = "game 2: action 56 (a8) is not legal for red at ply 1"
    assert message in run("records", transcripts)
    assert message in run("records", transcripts, "--check", code=1)
    transcripts.write_text(f"{BAD}\n" * 7)
    assert "and 2 more: --check names them all" in run("records", transcripts)
    assert "game 7:" in run("records", transcripts, "--check", code=1)


def test_records_shows_a_game(transcripts: Path) -> None:
    output = run("records", transcripts, "--number", 1, "--ply", 1)
    assert re.search(r"1\. f5\s+2\. d6\s+3\. c3", output)
    assert "after 1 plies: f5" in output
    assert "5  .  .  .  B  B [B] .  .  5" in output
    of_sheet = run("records", transcripts, "--number", 1, "--ply", 1, "--rule-sheet")
    assert "4  .  .  .  B  B [B] .  .  4" in of_sheet
    assert "after 1 plies: f4" in of_sheet
    broken = run("records", transcripts, "--number", 2)
    assert "after 1 plies: f5" in broken
    assert "here the record breaks the rules: action 56 (a8) is not legal for red" in broken


def test_records_converts(tmp_path: Path) -> None:
    whole = [random_record(OTHELLO, seed) for seed in range(3)]
    save(tmp_path / "games.jsonl", [replace(whole[0], players=("one", "two")), *whole[1:]])
    output = run("records", tmp_path / "games.jsonl", "--out", tmp_path / "new.txt")
    assert f"3 games are in {tmp_path / 'new.txt'}" in output.replace("\n", "")
    assert "does not hold all of their players" in output
    assert [r.actions for r in load(tmp_path / "new.txt")] == [r.actions for r in whole]


def test_the_benchmark_has_its_own_options() -> None:
    assert "--sizes has 0" in run("bench", "--sizes", 0, code=2)
