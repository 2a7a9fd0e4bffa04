"""Records that a stranger wrote: each fault ends as one short line that names the file and line."""

from __future__ import annotations

import gzip
import json
import math
import struct
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from three_in_a_row import ThreeInARow

from boardenvs import games
from boardenvs.games import make
from boardenvs.records import Record, formats, jsonl, load, save
from boardenvs.records.jsonl import read_jsonl
from boardenvs.utils.decoding import MAX_DEPTH, parse_json

GOOD = {
    "version": 1,
    "game": "othello",
    "players": {"black": "a", "red": "b"},
    "goal": {"black": 100, "red": 0},
    "actions": "d3",
    "info": {"year": 1999},
}


def line(**change: Any) -> str:
    return json.dumps({**GOOD, **change})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"goal": ' + "[" * 100_000, "lists and objects are in one another"),
        (line(info={"deep": json.loads("[" * 99 + "]" * 99)}), "lists and objects are in one"),
        (line().replace("100", "1e999"), "1e999 is not a number of JSON, or too large"),
        (line().replace("100", "Infinity"), "Infinity is not a number of JSON"),
        (line().replace("1999", "NaN"), "NaN is not a number of JSON"),
        (line().replace("100", "9" * 5000), "has more than 100 digits"),
        (
            line(goal={"black": 1e300, "red": 0}),
            r"goal\.black is 1e\+300: it must be less",
        ),
        (line(version=2), "version is 2: it must be less than or equal to 1"),
        (line(game="otello"), "Did you mean 'othello'"),
        (line(actions="f4 z9"), "z9"),
        (line(goal={"black": 100}), "it must have a value for each of"),
        (line(goal={"black": "100", "red": 0}), r"goal\.black is '100': it must be a valid"),
        (line(start="8/8 black"), "it must have 8"),
        (line(action="f4"), "Did you mean 'actions'"),
        ("3", "a record is 3: it must be a JSON object"),
        ("{}", "version is missing"),
        (line(info={"who": "\ud800"}), "half of a character"),
        (line(version=True), "version is True: it must be a valid integer"),
        (line(info="x" * 100_000), "info is 'xxx.*it must be a JSON object"),
        (line(game="x" * 100_000), "unknown game"),
        (line(game="python" * 99 + ":x"), "a file does not import"),
        (line(start="8/8 black " + "9" * 5000), "not a number of plies"),
        (line(actions="x" * 100_000), "xxx"),
        ("x" * (1 << 21), "line 2, has more than 1048576 characters"),
    ],
)
def test_a_faulty_line_is_named_and_cut(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    path.write_text(f"{line()}\n{text}\n")
    assert_refused(path, message)


def assert_refused(path: Path, message: str, **game: Any) -> None:
    """In one short line that names the file and its second line."""
    with pytest.raises(ValueError, match=message) as caught:
        load(path, **game)
    assert str(caught.value).startswith(f"{path}, line 2")
    assert len(str(caught.value)) < 500 + len(str(path))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["a-" * 50_000, "x" * 100_000])
@pytest.mark.parametrize("game", ["othello", "lines_of_action"])
def test_a_faulty_line_of_moves_is_named_and_cut(text: str, game: str, tmp_path: Path) -> None:
    (tmp_path / "games.txt").write_text(f"\n{text}\n")
    assert_refused(tmp_path / "games.txt", "line 2", game=make(game))


@pytest.mark.parametrize(("name", "text"), [("games.jsonl", line()), ("games.txt", "d6")])
def test_what_editors_put_before_a_text_is_skipped(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(f"\ufeff{text}\n")
    assert [record.actions for record in load(tmp_path / name)] == [(19,)]


def test_what_is_read_can_be_written(tmp_path: Path) -> None:
    deep = json.loads("[" * (MAX_DEPTH - 2) + "]" * (MAX_DEPTH - 2))
    path, again = tmp_path / "games.jsonl", tmp_path / "again.jsonl"
    path.write_text(line(info={"deep": deep, "who": "\U0001f40d"}) + "\n")
    found = load(path)
    save(again, found)
    assert load(again) == found
    assert parse_json(r'"\ud83d\udc0d"') == "\U0001f40d"  # two halves are a whole


@pytest.mark.parametrize(
    "info", [{"x": math.nan}, {"x": math.inf}, {"x": "\ud800"}, {"x": object()}, {"x": {1, 2}}]
)
def test_what_cannot_be_read_is_not_written(info: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    path.write_text("before")
    with pytest.raises(ValueError, match="cannot be written as JSON"):
        save(path, [Record(make("othello"), (19,), info=info)])
    assert path.read_text() == "before"


@pytest.mark.parametrize("value", ["later", None, 1.5, 1 << 40, -1, [1]])
def test_numbers_of_wthor_are_numbers(value: object, tmp_path: Path) -> None:
    for key in ("year", "depth"):
        record = Record(make("othello"), (19,), info={"score": 32, key: value})
        with pytest.raises(ValueError, match=rf"its info {key} is .* whole number from 0 to"):
            save(tmp_path / "games.wtb", [record])


def test_wthor_has_room_for_60_moves(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="60 are the most"):
        save(tmp_path / "games.wtb", [Record(make("othello"), (19,) * 61, info={"score": 32})])


# ---- memory --------------------------------------------------------------------------------------

VALUES: tuple[Any, ...] = ([], {}, [[]], {"": []}, {"a": 0}, [0], "a", "\u0100", 0.5, 1, 99999)


def traced(call: Callable[[], object]) -> tuple[int, int]:
    """Bytes that what it returns takes, and the most that were taken."""
    call()  # what stays for good
    tracemalloc.start()
    try:
        kept = call()
        return tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        del kept


@pytest.mark.parametrize(
    "change",
    [
        *({"info": {"x": [value] * 1000}} for value in VALUES),
        {"actions": ""},
        {"actions": " ".join(["d3"] * 300)},
        {"start": make("othello").start().fen()},
        {"info": {f"key {i}": i for i in range(999)}},
        {"info": {"x": "\N{SNAKE}" + "x" * 9999}},
    ],
)
def test_games_take_no_more_memory_than_is_counted(change: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    path.write_text(f"{line(**change)}\n" * 5)
    assert traced(lambda: load(path))[0] < 5 * jsonl.memory_of(line(**change))


MANY = 2_500
ENDLESS = {  # files of a few kB, or that a header would make so, with so many games
    "games.jsonl": f"{line()}\n".encode() * MANY,
    "games.jsonl.gz": gzip.compress(f"{line()}\n".encode() * MANY),
    "games.txt": b"f5\n" * MANY,
    "games.wtb": struct.pack("<4BIHH4B", 20, 1, 1, 1, MANY, 0, 2000, 8, 0, 0, 0)
    + bytes([0] * 8 + [56] + [0] * 59) * MANY,
}


@pytest.mark.parametrize("name", ENDLESS)
def test_a_file_of_too_many_games_is_refused_before_they_fill_the_memory(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / name
    path.write_bytes(ENDLESS[name])
    monkeypatch.setattr(formats, "MAX_MEMORY", 1 << 20)

    def refuse() -> None:
        with pytest.raises(ValueError, match=r"games.* may take more than 1 MiB of memory") as told:
            load(path)
        assert str(told.value).startswith(str(path))

    assert traced(refuse)[1] < 3 << 19
    monkeypatch.undo()
    assert len(load(path)) == MANY


def test_who_keeps_no_games_reads_files_of_any_length(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl.gz"
    path.write_bytes(ENDLESS[path.name])
    assert traced(lambda: sum(1 for _ in read_jsonl(path)))[1] < 1 << 20


# ---- games of others -----------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["os:getcwd", "three_in_a_row:wins", "sys:exit"])
def test_a_file_calls_nothing(text: str) -> None:
    """It imports nothing either: `test_robust_trust`."""
    with pytest.raises(ValueError, match="which a file does not import or call"):
        games.make_from_file(text)


def test_records_of_a_game_that_is_known_are_read(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    save(path, [Record(ThreeInARow(), (0, 1))])
    assert "three_in_a_row:ThreeInARow" in path.read_text()
    assert load(path) == [Record(ThreeInARow(), (0, 1))]
    assert games.make_from_file("othello", holes=1) == make("othello", holes=1)
