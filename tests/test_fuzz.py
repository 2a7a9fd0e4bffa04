"""Wrong inputs of all kinds: texts, and files of strangers.

Each ends in a result or in an error that the documentation names, and nothing else happens.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fuzzing import (
    NAMED_CODE,
    attempt,
    fuzzed,
    mutated,
    mutated_values,
)
from hypothesis import given, strategies as st
from variants import make, random_line, random_position, wthor_file

from boardenvs import IllegalActionError, games, records
from boardenvs.game import fen
from boardenvs.game.errors import PositionError
from boardenvs.records import Record
from boardenvs.records.jsonl import write_record
from boardenvs.records.moves import write_moves

GAMES = ["othello", "othello_holes", "reversi", "wolf_and_sheep", "lines_of_action",
         "wolf_and_sheep:rules=described", "wolf_and_sheep:max_plies=9",
         "lines_of_action:max_steps=7"]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


# ---- texts ---------------------------------------------------------------------------------------

POSITIONS = [
    (name, random_position(make(name), plies, plies).fen())
    for name in ("othello", "wolf_and_sheep", "lines_of_action", "chess")
    for plies in (0, 20)
]
PIECES = [*"brws81/ -K;9XO", "black", "white", str(2**30)]


@fuzzed
@given(data=st.data())
def test_texts_of_positions(data: st.DataObject) -> None:
    name, base = data.draw(st.sampled_from(POSITIONS))
    game, written = make(name), data.draw(mutated(st.just(base), PIECES))
    position, error = attempt(lambda: fen.parse_position(game, written), PositionError)
    if error is None:
        assert fen.parse_position(game, position.fen()) == position
        attempt(lambda: [position.step(action) for action in position.legal_actions()])


# ---- files of strangers --------------------------------------------------------------------------

JSON = ["[" * 100_000, "NaN", "1e999", "\\ud800", "\\u0000", '{"a":1,"a":2}', "null", "[]", "{}",
        ",", '"', *NAMED_CODE]  # fmt: skip


def as_bytes(text: str) -> bytes:
    return text.encode(errors="surrogatepass")


def played(name: str, seed: int, plies: int, start: int = 0) -> Record:
    """A random game from a later position on, broken off after this number of plies."""
    game = games.make(name)
    positions, actions = random_line(game, seed, start + plies)
    last = positions[-1]
    goal = last.result() if last.is_over() else None
    first = positions[start] if start else None
    return Record(game, tuple(actions[start:]), first, goal, ("a", "b"), {"event": "x", "n": 1})


RECORDS = [played(name, 1, *plies) for name in GAMES[:5] for plies in ((200, 0), (9, 4))]
PLAIN = [record for record in RECORDS if record.start is None]
# The right records of each format, and what texts of it may contain; None for bytes.
FORMATS: dict[str, tuple[list[Record], list[str] | None]] = {
    "games.jsonl": (RECORDS, JSON),
    "games.jsonl.gz": (RECORDS[:3], None),
    "games.wtb": ([record for record in PLAIN if record.game.id == "othello"], None),
    "games.txt": (PLAIN, ["pass", "x", "--", "1.", ",", "#", "b1-b3", "b1xb3", "a9", "--a1"]),
}


@pytest.mark.parametrize("name", FORMATS)
@fuzzed
@given(data=st.data())
def test_records(folder: Path, name: str, data: st.DataObject) -> None:
    """What is read has the verdict of a replay, and can be written and read again."""
    found, tokens = FORMATS[name]
    path, again = folder / name, folder / "again.jsonl.gz"
    one = data.draw(st.sampled_from(found))
    game = one.game if name == "games.txt" else None  # whose lines do not name it
    if name == "games.wtb":
        path.write_bytes(wthor_file(*map(write_moves, found)))
    else:
        records.save(path, [one] if game else found)
    right = st.just(path.read_bytes())
    if name == "games.jsonl":
        values = mutated_values(json.loads(write_record(one)))
        right = values.map(lambda changed: json.dumps(changed).encode())
    if tokens is not None:
        right |= mutated(right.map(bytes.decode), tokens).map(as_bytes)
    path.write_bytes(data.draw(right | mutated(right)))
    read, error = attempt(lambda: records.load(path, game=game), ValueError)
    if error is not None:
        assert str(path) in str(error)
        return
    verdicts, _ = attempt(lambda: records.check(read))
    for record, verdict in zip(read, verdicts, strict=True):
        legal, goal = True, None
        try:
            last = records.replay(record)[-1]
            goal = last.result() if last.is_over() else None
        except IllegalActionError:
            legal = False
        assert (verdict.ending != "illegal", verdict.goal) == (legal, goal)
    attempt(lambda: records.save(again, read))
    assert records.load(again) == read


def test_faults_are_seen() -> None:
    """The watch itself."""
    for call, message in (
        (lambda: games.GAMES["x"], "KeyError"),
        (lambda: games.make(NAMED_CODE[1]), "import"),
    ):
        with pytest.raises(AssertionError, match=message):
            attempt(call, ValueError)
