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
    ["--help"],
    ["games"],
    ["games", "othello"],
    ["perft", "reversi", "2"],
    ["perft", "othello", "1", "--divide", "--position", START],
    ["match", "reversi", "random", "greedy", "--pairs", "1", "--record", "games.jsonl"],
    ["match", "reversi", "random", "random", "--pairs", "1", "--opening-plies", "2", "3"],
    ["match", "wolf_and_sheep", "random", "random", "--pairs", "1", "--seed", "5"],
    ["solve", "othello", "--position", LATE],
    ["replay", "right.jsonl"],
    ["replay", "right.jsonl", "--check"],
    ["replay", "right.jsonl", "--game", "1", "--svg", "x.svg"],
    ["arena", "--resume", "--out", "nothing"],
]
WORDS = ["--pairs", "--record", "--svg", "--save", "--position", "--divide", "--seed", "--help",
         "--opening-plies", "--as", "--out", "--check", "--game", "--ply", "-h", "--", "-1", "0",
         "1", "x.svg", "missing/x.jsonl", "x.jsonl", "a[/b].jsonl", "x.wtb", ".", "right.jsonl",
         "greedy", "random", "reversi", "othello", "python:..x:y", START, LATE]  # fmt: skip
# What is long when it is asked for, rightly.
LONG = ("arena", "solve", "alphabeta", "mcts", "perfect", "trained", "perft")


@st.composite
def command_lines(draw: st.DrawFn) -> list[str]:
    words = list(draw(st.sampled_from(COMMANDS)))
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(words)))
        new = draw(st.sampled_from([*WORDS, *GAMES, *TEXTS]) | whole.map(str) | text)
        match draw(st.integers(0, 3)):
            case 0 if words:
                del words[min(at, len(words) - 1)]
            case 1:
                words.insert(at, new)
            case 2:
                words[at : at + 1] = [new]
            case 3 if at < len(words):
                words[at] = draw(mutated(st.just(words[at])))
    return words


def as_number(word: str) -> int | None:
    """As an option reads it: "1_000" and digits of any script are numbers too."""
    try:
        return int(word)
    except ValueError:
        return None


def is_long(words: list[str]) -> bool:
    """Whether the command may rightly take long, or import what it is told to."""
    asked = " ".join(words)
    if CANARY in asked:
        return True
    numbers = [number for word in words if (number := as_number(word)) is not None]
    changed = words not in COMMANDS
    return changed and (
        (any(word.startswith(LONG) for word in words) and any(n > 3 for n in numbers))
        or any(3 < n < 2**40 for n in numbers)
        or ("--pairs" not in words and "match" in words)
        or any(word in words for word in ("solve", "arena"))
    )  # fmt: skip


@fuzzed
@given(words=command_lines())
def test_command_lines(folder: Path, words: list[str]) -> None:
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
    if result.exit_code == 2:
        assert result.output.strip()
