"""The command line: what commands print and write, and that errors are short and named."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from dataclasses import replace

import pytest
import typer.main
from command_line import rows, run
from typer.testing import CliRunner
from variants import FAMILIAR, HERE, VARIANTS, make, random_record

import boardenvs
from boardenvs.cli import app
from boardenvs.cli.options import game_names, player_names
from boardenvs.kernel import get_backend
from boardenvs.records import Record, load, save
from boardenvs.records.record import parse_names
from boardenvs.utils.cache import cache_folder
from boardenvs.utils.console import make_console, print_report

OTHELLO = make("othello")
COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]
# Black begins in one of these two in every tournament, and never with a1.
GOOD, BAD = "f5d6c3", "f5a1"


# ---- the program -------------------------------------------------------------------------------


def test_the_program_runs_as_a_module_and_as_a_script():
    command = [sys.executable, "-m", "boardenvs", "--version"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    version = f"boardenvs {boardenvs.__version__}"
    assert shown.splitlines() == [version, f"backend {get_backend()}", f"cache {cache_folder()}"]
    project = tomllib.loads((HERE.parent / "pyproject.toml").read_text())["project"]
    assert project["scripts"] == {"boardenvs": "boardenvs.cli:main"}


def test_the_shell_completes_games_and_players():
    assert game_names("othello") == ["othello", "othello_holes"]
    assert player_names("p") == ["positional", "perfect", "policy", "python"]
    words = {"COMP_WORDS": "boardenvs match wolf", "COMP_CWORD": "2"}
    environment = {"_BOARDENVS_COMPLETE": "complete_bash", **words}
    completed = CliRunner().invoke(app, [], prog_name="boardenvs", env=environment)
    assert completed.output.split() == ["wolf_and_sheep"]


def test_no_command_at_all_shows_what_there_is():
    output = run(code=2)
    for name in COMMANDS:
        assert name in output


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(name):
    """A sentence, an example, and a word on each argument and option."""
    command = COMMANDS[name]
    assert re.search(rf"```\nboardenvs {name}\b", command.help), "an example in a code block"
    for parameter in command.params:
        assert parameter.name == "help" or len(parameter.help or "") > 10, parameter.name
    shown = run(name, "--help")
    assert f"boardenvs {name}" in shown
    assert not re.search("<(bool|int|float|str|path|list)", shown)


# ---- games -------------------------------------------------------------------------------------


def test_every_game_and_rule_is_listed():
    found = {spec: cells for spec, *cells in rows(run("games")) if spec}
    others = "lines_of_action:rules=tournament", "checkers:rules=openspiel"
    assert len(found) == len({*VARIANTS, *FAMILIAR, *others})
    assert found["wolf_and_sheep:rules=described"] == ["wolf, sheep", "", "513", "8x8x11"]
    assert found["othello_holes"] == ["black, white", "holes=39582420959232", "65", "8x8x3"]


def test_a_game_s_page():
    output = run("games", "lines_of_action:rules=described")
    assert "agents= ['black', 'white']" in output
    board = [line for line in output.splitlines() if re.match(r"[1-8] .* [1-8]$", line)]
    assert board[1].split() == ["7", "W", *"BBBBBB", "W", "7"]  # where the description has black
    assert board[0].count("*") == 8  # and where its pieces can go


# ---- records -----------------------------------------------------------------------------------


@pytest.fixture
def transcripts(tmp_path):
    path = tmp_path / "games.txt"
    path.write_text(f"{GOOD}\n{BAD}\n")
    return path


def test_records_counts_by_game(tmp_path):
    shortest = parse_names(OTHELLO, ["e6", "f4", "e3", "f6", "g5", "d6", "e7", "f5", "c5"])
    cut_off = [Record(OTHELLO, shortest[:2], None, goal) for goal in (None, (50, 50), (0, 100))]
    save(tmp_path / "games.jsonl", [Record(OTHELLO, shortest), *cut_off])
    assert rows(run("records", tmp_path / "games.jsonl")) == [
        ["othello", "4", "1", "3", "0", "black won 1, draw 1, white won 1", "15"],
    ]


def test_records_names_wrong_games(transcripts):
    message = "game 2: action 56 (a1) is not legal for white at ply 1"
    assert message in run("records", transcripts, "--check", code=1)
    transcripts.write_text(f"{BAD}\n" * 7)
    assert "and 2 more: --check names them all" in run("records", transcripts)


def test_records_shows_a_game(transcripts):
    output = run("records", transcripts, "--number", 1, "--ply", 1)
    assert re.search(r"1\. f5\s+2\. d6\s+3\. c3", output)
    assert "after 1 plies: f5" in output
    assert "5  .  .  .  B  B [B] .  .  5" in output
    broken = run("records", transcripts, "--number", 2)
    assert "after 1 plies: f5" in broken
    assert "here the record breaks the rules: action 56 (a1) is not legal for white" in broken


def test_records_converts(tmp_path):
    record = random_record(OTHELLO, players=("one", "two"))
    save(tmp_path / "games.jsonl", [record])
    output = run("records", tmp_path / "games.jsonl", "--out", tmp_path / "new.txt")
    assert "does not hold all of their players" in output
    assert load(tmp_path / "new.txt") == [replace(record, players=None, goal=None)]
    # No file is lost, not even the one that was read.
    for name in ("games.jsonl", "new.txt"):
        again = ["records", tmp_path / "games.jsonl", "--out", tmp_path / name]
        before = (tmp_path / name).read_bytes()
        assert f"{tmp_path / name} exists: give another file, or --overwrite" in run(*again, code=2)
        assert (tmp_path / name).read_bytes() == before
        run(*again, "--overwrite")


def test_what_a_player_did_not_count_is_not_printed(capsys):
    print_report(make_console(), {"timeouts": 0, "CPU_seconds": 1234.5}, "it")
    print_report(make_console(), {"timeouts": 0})
    assert capsys.readouterr().out == "it counted: CPU seconds 1,234.5\n"
