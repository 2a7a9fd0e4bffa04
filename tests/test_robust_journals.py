"""Journals of tournaments that are damaged, or were never ours."""

from __future__ import annotations

import json
from collections.abc import Iterator
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

WRONG: list[Any] = [None, True, -1, 1.5, 1e300, "x", [], {}, [1], {"a": 1}, ["W", "WD"], [[], []]]


def wrongs(values: dict[str, Any], may_be_none: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each key without a value, and with values of each other kind."""
    for key, value in values.items():
        yield key, {other: values[other] for other in values if other != key}
        for wrong in WRONG:
            alike = type(wrong) is type(value) or {type(wrong), type(value)} <= {int, float}
            if not alike and not (key == may_be_none and wrong is None):
                yield key, {**values, key: wrong}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.jsonl"


def write(path: Path, *lines: Any) -> None:
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def test_a_whole_journal_is_read(path: Path) -> None:
    write(path, SETTINGS, PLAYED, PAIRING.forfeited(0, "void").to_json())
    assert open_journal(path.parent).played[0].to_json() == PLAYED


def test_wrong_fields_are_named(path: Path) -> None:
    fault, result = PLAYED["faults"][0], "2, is not a result: "
    played = {key: PLAYED[key] for key in PLAYED if key != "void"}
    wrong = [
        *((f"1: .*{key}", one, PLAYED) for key, one in wrongs(SETTINGS, "anchor")),
        *((f"{result}{key} ", SETTINGS, one) for key, one in wrongs(played, "")),
        *((f"{result}faults.0.{key} ", SETTINGS, {**PLAYED, "faults": [one, fault]})
          for key, one in wrongs(fault, "message")),
    ]  # fmt: skip
    assert len(wrong) > 200
    for said, *lines in wrong:
        write(path, *lines)
        with pytest.raises(JournalError, match=rf"journal.jsonl, line {said}"):
            open_journal(path.parent)


@pytest.mark.parametrize(
    "content",
    [b"[" * 100_000, b'{"format": NaN}', b'{"format": 1e999}', b"\xff\xfe", b'"\\ud800"', b"1"],
)
def test_what_is_no_journal_is_named(path: Path, content: bytes) -> None:
    path.write_bytes(content + b"\n")
    named = r"journal.jsonl, line 1, is not (JSON|a JSON object)"
    with pytest.raises(JournalError, match=named) as caught:
        open_journal(path.parent)
    assert len(str(caught.value)) < 300 + len(str(path))
    assert path.read_bytes() == content + b"\n"


def test_results_of_another_number_of_games_are_refused(path: Path) -> None:
    write(path, {**SETTINGS, "pairs": 3}, PLAYED)
    with pytest.raises(JournalError, match=r"it has 2 pairs of games: .* pairings have 3"):
        open_journal(path.parent)
