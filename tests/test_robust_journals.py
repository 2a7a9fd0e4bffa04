"""Damaged journals of tournaments, and files that are no journals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from boardenvs.arena import Entrant, Pairing, make_settings
from boardenvs.arena.tournament import JournalError, open_journal
from boardenvs.games import make

SETTINGS = make_settings(["random", "greedy"], ["reversi"], pairs=2).to_json()
PAIRING = Pairing(
    "reversi", make("reversi"), Entrant("greedy", ""), Entrant("random", ""), 2, (6, 10), 0
)
PLAYED = PAIRING.forfeited(1, "late").to_json()
WRONG: list[Any] = [True, -1, 1.5, 1e300, "x", [], {}, [1], {"a": 1}, ["W", "WD"], [[], []]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.jsonl"


def write(path: Path, *lines: Any) -> None:
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def changed(values: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Each value replaced by values of other types."""
    numbers = {int, float}
    return [
        (key, {**values, key: wrong})
        for key, value in values.items()
        for wrong in WRONG
        if type(wrong) is not type(value) and not {type(wrong), type(value)} <= numbers
    ]


def test_a_whole_journal_is_read(path: Path) -> None:
    write(path, SETTINGS, PLAYED, PAIRING.forfeited(0, "void").to_json())
    assert open_journal(path.parent).played[0].to_json() == PLAYED


def test_wrong_fields_are_named(path: Path) -> None:
    first, second = PLAYED["faults"]
    wrong = [
        *((f"1: .*{key}", one, PLAYED) for key, one in changed(SETTINGS)),
        *((f"2, is not a result: {key} ", SETTINGS, one) for key, one in changed(PLAYED)),
        *((f"2, is not a result: faults.0.{key} ", SETTINGS, {**PLAYED, "faults": [one, second]})
          for key, one in changed(first)),
    ]  # fmt: skip
    for key in ("game", "games", "openings"):
        lacking = {name: value for name, value in PLAYED.items() if name != key}
        wrong.append((f"2, is not a result: {key} ", SETTINGS, lacking))
    for message, *lines in wrong:
        write(path, *lines)
        with pytest.raises(JournalError, match=rf"journal.jsonl, line {message}"):
            open_journal(path.parent)


@pytest.mark.parametrize("content", [b"[" * 100_000, b'{"format": NaN}', b"\xff\xfe", b"1"])
def test_files_that_are_no_journals_are_named(path: Path, content: bytes) -> None:
    path.write_bytes(content + b"\n")
    named = r"journal.jsonl, line 1, is not (JSON|a JSON object)"
    with pytest.raises(JournalError, match=named) as caught:
        open_journal(path.parent)
    assert len(str(caught.value)) < 300 + len(str(path))


def test_results_of_another_number_of_games_are_refused(path: Path) -> None:
    write(path, {**SETTINGS, "pairs": 3}, PLAYED)
    with pytest.raises(JournalError, match=r"it has 2 pairs of games: .* pairings have 3"):
        open_journal(path.parent)
