"""Damaged journals of tournaments, and files that are no journals."""

from __future__ import annotations

import json
import os

import pytest

from boardenvs.arena import Entrant, Pairing, make_settings
from boardenvs.arena.tournament import JournalError, open_journal
from boardenvs.games import make

SETTINGS = make_settings(["random", "greedy"], ["reversi"], pairs=2).to_json()
PAIRING = Pairing(
    "reversi", make("reversi"), Entrant("greedy", ""), Entrant("random", ""), 2, (6, 10), 0
)
PLAYED = PAIRING.forfeited(1, "late").to_json()
VOID = PAIRING.forfeited(0, "void").to_json()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "journal.jsonl"


def write(path, *lines):
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))


@pytest.mark.parametrize("line", [PLAYED, VOID])
def test_a_whole_journal_is_read(path, line):
    write(path, SETTINGS, line)
    assert open_journal(path.parent).played[0].to_json() == line


def wrong(values):
    """Yield each key, and the values with one of another type there."""
    for key, value in values.items():
        yield key, {**values, key: None if value is True else True}


def test_wrong_fields_are_named(path):
    first, second = PLAYED["faults"]
    lines = [(f"1: .*{key}", settings, PLAYED) for key, settings in wrong(SETTINGS)]
    lines += [(f"2, .* {key} ", SETTINGS, played) for key, played in wrong(PLAYED)]
    for key, fault in wrong(first):
        played = {**PLAYED, "faults": [fault, second]}
        lines.append((f"2, is not a result: faults.0.{key} ", SETTINGS, played))
    for message, settings, played in lines:
        write(path, settings, played)
        with pytest.raises(JournalError, match=rf"journal.jsonl, line {message}"):
            open_journal(path.parent)


@pytest.mark.parametrize("more", [{"pairs": 10**12}, {"entrants": [str(i) for i in range(3000)]}])
def test_tournaments_without_an_end_are_refused(path, more):
    write(path, {**SETTINGS, **more})
    with pytest.raises(JournalError, match=f"line 1: {next(iter(more))}"):
        open_journal(path.parent)
    with pytest.raises(ValueError, match=r"10000000|3000 entrants"):
        make_settings(**{"entrants": ["random", "greedy"], "games_played": ["reversi"], **more})


def test_a_pipe_is_not_waited_for(path):
    os.mkfifo(path)
    with pytest.raises(OSError, match=r"it is no file: .*journal\.jsonl"):
        open_journal(path.parent)


def test_a_huge_journal_is_named_and_not_read(path):
    path.touch()
    os.truncate(path, 1 << 40)
    with pytest.raises(JournalError, match=r"journal\.jsonl has more than 268,435,456 bytes"):
        open_journal(path.parent)


@pytest.mark.parametrize("content", [b"[" * 100_000, b'{"format": NaN}', b"\xff\xfe", b"1"])
def test_files_that_are_no_journals_are_named(path, content):
    path.write_bytes(content + b"\n")
    named = r"journal.jsonl, line 1, is not (JSON|a JSON object)"
    with pytest.raises(JournalError, match=named) as caught:
        open_journal(path.parent)
    assert len(str(caught.value)) < 300 + len(str(path))


def test_results_of_another_number_of_games_are_refused(path):
    write(path, {**SETTINGS, "pairs": 3}, PLAYED)
    with pytest.raises(JournalError, match=r"it has 2 pairs of games: .* pairings have 3"):
        open_journal(path.parent)


FORFEITED = {**PLAYED["faults"][0], "forfeits": 1}


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ([PLAYED], "reversi, greedy, random is no pairing that was left"),
        ([VOID], "no pairing that was left"),
        ([{**PLAYED, "game": "othello"}], "othello, greedy, random is no pairing"),
        ([{**PLAYED, "second": "perfect"}], "no pairing"),
        ([{**PLAYED, "first": "random", "second": "greedy"}], "no pairing"),
        ([{**PLAYED, "second": "greedy"}], "no pairing"),
        ([{**PLAYED, "void": ""}], "games is .*Unexpected"),
        ([{**PLAYED, "faults": [FORFEITED] * 2}], r"forfeits are \[1, 1\]: .* are \[4, 0\]"),
        ([{**PLAYED, "openings": 3}], "openings is 3: it must be 1 to 2"),
    ],
)
def test_lines_that_contradict_the_tournament_or_themselves_are_named(path, more, message):
    write(path, SETTINGS, PLAYED, *more)
    with pytest.raises(JournalError, match=rf"line 3, is not a result: .*{message}"):
        open_journal(path.parent)
