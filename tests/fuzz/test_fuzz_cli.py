"""Command lines: they end with an exit code and a line, never with a traceback."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from boardenvs import records
from boardenvs.cli import app
from boardenvs.games import make
from boardenvs.records import make_record
from boardenvs.tablebase import Tablebase
from fuzz.inputs import GAMES, TEXTS, fuzzed, mutated, text, whole
from fuzz.oracle import CANARY, attempt

START = make("reversi").start().fen()
LATE = "bbbbbbbb/bbbbbbbb/bbbbbbbb/bbbrbbbb/bbbbbbbb/bbbbbbbb/bbbbbbrr/bbbbbb2 red 58"
# Commands that are quick, and options that make them so.
COMMANDS: list[list[str]] = [
    ["--version"],
    ["games", "othello"],
    ["match", "reversi", "random", "greedy", "--pairs", "1", "--record", "games.jsonl"],
    ["match", "wolf_and_sheep", "random", "random", "--pairs", "1", "--opening-plies", "2", "3"],
    ["analyse", "othello", LATE, "--prove"],
    ["records", "right.jsonl", "--check"],
    ["records", "right.jsonl", "--number", "1", "--out", "x.svg"],
    ["arena", "--resume", "--out", "nothing"],
]
WORDS = ["--pairs", "--record", "--prove", "--boards", "--position", "--number", "--seed", "--help",
         "--opening-plies", "--as", "--out", "--check", "--game", "--ply", "-h", "--", "-1", "0",
         "1", "x.svg", "missing/x.jsonl", "x.jsonl", "a[/b].jsonl", "x.wtb", ".", "right.jsonl",
         "greedy", "random", "reversi", "othello", "python:..x:y", START, LATE]  # fmt: skip
# What is long when it is asked for, rightly.
LONG = ("arena", "analyse", "alphabeta", "mcts", "perfect", "trained", "bench", "web", "mcp")


word = (
    st.sampled_from([*WORDS, *GAMES, *TEXTS])
    | mutated(st.sampled_from(sorted({word for words in COMMANDS for word in words})))
    | whole.map(str)
    | text
)
# Where words come in, how many go out there, and which come.
changes = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 1), st.lists(word, max_size=1)), max_size=3
)


def is_long(words: list[str]) -> bool:
    """Whether the command may rightly take long, or import what it is told to."""
    # As options read them: with "_" between digits, of any script.
    digits = [found for word in words if (found := word.replace("_", "")).isdecimal()]
    long = any(word.startswith(LONG) for word in words)
    return CANARY in " ".join(words) or (
        words not in COMMANDS
        and (
            any(int(n) > 3 and (long or int(n) < 2**40) for n in digits if len(n) < 4000)
            or ("match" in words and "--pairs" not in words)
            or {"analyse", "bench", "web", "mcp"} & {*words}
            or "arena" in words
        )
    )


@fuzzed
@given(command=st.sampled_from(COMMANDS), changed=changes)
def test_command_lines(
    folder: Path, command: list[str], changed: list[tuple[int, int, list[str]]]
) -> None:
    words = list(command)
    for at, count, new in changed:
        words[at : at + count] = new
    if not (folder / "right.jsonl").exists():
        for rules in ("classic", "described"):  # whose openings are judged by the tablebase
            Tablebase.load(make("wolf_and_sheep", rules=rules))
        records.save(folder / "right.jsonl", [make_record(make("reversi"), [20, 19])])
    if is_long(words):
        return
    result: Any
    result, _ = attempt(lambda: CliRunner().invoke(app, words), folder=folder)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code in (0, 1, 2), result.output
    assert "Traceback" not in result.output
    assert result.output.strip() or result.exit_code != 2
