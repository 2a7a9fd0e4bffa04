"""Records as JSON Lines: one game a line, for people and programs to read.

    {"version": 1, "game": "othello", "players": {"black": "greedy", "red": "random"},
     "goal": {"black": 100, "red": 0}, "actions": "e3 f3 g3 ..."}

`game` is a text as `boardenvs.games.parse` reads it; `actions` are in the game's own notation, one
word a ply, passes included. `start` is a position as `boardenvs.game.fen` writes it, where the game
did not begin at its own; `info` holds anything else. What is not known is left out.
"""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from boardenvs import games
from boardenvs.game import fen
from boardenvs.game.contract import Game
from boardenvs.records.record import Record, names, parse_names
from boardenvs.utils.checks import check_name
from boardenvs.utils.files import replacing

VERSION = 1
GZIP = b"\x1f\x8b"  # how compressed files begin
_KEYS = ("version", "game", "players", "start", "goal", "actions", "info")


def write_record(record: Record) -> str:
    """The record as one line, without its end."""
    game = record.game
    content: dict[str, Any] = {"version": VERSION, "game": games.spec_of(game)}
    if record.players is not None:
        content["players"] = dict(zip(game.roles, record.players, strict=True))
    if record.start is not None:
        content["start"] = fen.write_position(game, record.start)
    if record.goal is not None:
        values = [int(value) if value == int(value) else value for value in record.goal]
        content["goal"] = dict(zip(game.roles, values, strict=True))
    content["actions"] = " ".join(names(record))
    if record.info:
        content["info"] = dict(record.info)
    return json.dumps(content, ensure_ascii=False)


def parse_record(line: str) -> Record:
    """The inverse of `write_record`; ValueError where the line is no record."""
    try:
        content = json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"this is no JSON: {error}") from None
    if not isinstance(content, dict):
        raise ValueError(f"a record is a JSON object, not {line.strip()[:40]!r}")
    if content.get("version") != VERSION:
        raise ValueError(f"version is {content.get('version')!r}: {VERSION} is the only one known")
    for key in content:
        check_name("key of a record", key, _KEYS)
    game = _game(_text(content, "game"))
    start = fen.parse_position(game, _text(content, "start")) if "start" in content else None
    goal, players = (_by_role(game, content, key) for key in ("goal", "players"))
    info = content.get("info", {})
    if not isinstance(info, dict):
        raise ValueError(f"info is {info!r}: it must be a JSON object")
    return Record(
        game,
        parse_names(game, _text(content, "actions").split(), start),
        start,
        None if goal is None else _numbers(goal),
        None if players is None else (str(players[0]), str(players[1])),
        info,
    )


def read_jsonl(path: Path) -> Iterator[Record]:
    """The records of a file, line by line; ValueError names a line that holds none.

    Compressed files are decompressed, empty lines skipped.
    """
    with path.open("rb") as file:
        compressed = file.read(2) == GZIP
        file.seek(0)
        lines = io.TextIOWrapper(gzip.GzipFile(fileobj=file) if compressed else file, "utf-8")
        number = 0
        try:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield _parse_line(line, f"{path}, line {number}")
        except (EOFError, zlib.error, gzip.BadGzipFile, UnicodeDecodeError) as error:
            raise ValueError(f"{path} is damaged after line {number}: {error}") from None


def write_jsonl(path: Path, records: Iterable[Record]) -> None:
    """Write the records, one a line; `path` is replaced only when all of them are written."""
    with replacing(path) as file:
        lines = (f"{write_record(record)}\n".encode() for record in records)
        if path.suffix != ".gz":
            file.writelines(lines)
            return
        # No name and no time in it: the same records give the same file.
        with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as compressed:
            compressed.writelines(lines)


def _parse_line(line: str, where: str) -> Record:
    try:
        return parse_record(line)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None


@lru_cache
def _game(spec: str) -> Game:
    """One object for all records of a game, so that its rules are compiled once."""
    return games.parse(spec)


def _text(content: Mapping[str, Any], key: str) -> str:
    value = content.get(key)
    if not isinstance(value, str):
        raise ValueError(f"{key} is {value!r}: it must be a text")
    return value


def _by_role(game: Game, content: Mapping[str, Any], key: str) -> tuple[Any, Any] | None:
    values = content.get(key)
    if values is None:
        return None
    if not isinstance(values, dict) or values.keys() != set(game.roles):
        raise ValueError(f"{key} is {values!r}: it must have a value for each of {game.roles}")
    return values[game.roles[0]], values[game.roles[1]]


def _numbers(values: tuple[Any, Any]) -> tuple[float, float]:
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"goal has {value!r}: its values must be numbers")
    return float(values[0]), float(values[1])
