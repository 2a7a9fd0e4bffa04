"""Records as JSON Lines: one game a line, for people and programs to read.

    {"version": 1, "game": "othello", "players": {"black": "greedy", "red": "random"},
     "goal": {"black": 100, "red": 0}, "actions": "e3 f3 g3 ..."}

`game` is a text as `boardenvs.games.make_from_file` reads it, which imports nothing; `actions` are
in the game's own notation, one word a ply, passes included. `start` is a position as
`boardenvs.game.fen` writes it, where the game did not begin at its own; `info` holds anything else.
What is not known is left out.
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
from boardenvs.game.rules import LOSS, WIN
from boardenvs.records.bounds import read_lines
from boardenvs.records.record import Record, names, parse_names
from boardenvs.utils.checks import check_name, cut, is_whole
from boardenvs.utils.files import replacing
from boardenvs.utils.json_text import parse_json

VERSION = 1
GZIP = b"\x1f\x8b"  # how compressed files begin
_MAX_MESSAGE = 300
_KEYS = ("version", "game", "players", "start", "goal", "actions", "info")


def write_record(record: Record) -> str:
    """The record as one line, without its end; ValueError where its info or goal is none of JSON's
    values.
    """
    game = record.game
    content: dict[str, Any] = {"version": VERSION, "game": games.spec_of(game)}
    if record.players is not None:
        content["players"] = dict(zip(game.roles, record.players, strict=True))
    if record.start is not None:
        content["start"] = record.start.fen()
    if record.goal is not None:
        values = [int(value) if float(value).is_integer() else value for value in record.goal]
        content["goal"] = dict(zip(game.roles, values, strict=True))
    content["actions"] = " ".join(names(record))
    if record.info:
        content["info"] = dict(record.info)
    try:
        line = json.dumps(content, ensure_ascii=False, allow_nan=False)
        line.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"a record cannot be written as JSON: {cut(str(error))}") from None
    return line


def parse_record(line: str) -> Record:
    """The inverse of `write_record`; ValueError where the line is not a record."""
    content = parse_json(line)
    if not isinstance(content, dict):
        raise ValueError(f"a record is a JSON object, not {cut(line.strip())!r}")
    version = content.get("version")
    if not is_whole(version, VERSION, VERSION):
        raise ValueError(f"version is {_quoted(version)}: {VERSION} is the only one known")
    for key in content:
        check_name("key of a record", key, _KEYS)
    game = _game(_text(content, "game"))
    start = fen.parse_position(game, _text(content, "start")) if "start" in content else None
    goal, players = (_by_role(game, content, key) for key in ("goal", "players"))
    info = content.get("info", {})
    if not isinstance(info, dict):
        raise ValueError(f"info is {_quoted(info)}: it must be a JSON object")
    return Record(
        game,
        parse_names(game, _text(content, "actions").split(), start),
        start,
        None if goal is None else _numbers(goal),
        None if players is None else _names(players),
        info,
    )


def read_jsonl(path: Path | str, memory: int | None = None) -> Iterator[Record]:
    """The records of a file, line by line; ValueError names a line that holds none, or where all
    up to it take more than so many bytes of `memory`: who keeps none may read files of any length.

    Compressed files are decompressed, empty lines skipped.
    """
    path = Path(path)
    with path.open("rb") as file:
        compressed = file.read(2) == GZIP
        file.seek(0)
        lines = io.TextIOWrapper(gzip.GzipFile(fileobj=file) if compressed else file, "utf-8")
        number = 0
        try:
            for number, line in read_lines(lines, path, memory):
                if line.strip():
                    yield _parse_line(line, f"{path}, line {number}")
        except (EOFError, zlib.error, gzip.BadGzipFile, UnicodeDecodeError) as error:
            raise ValueError(f"{path} is damaged after line {number}: {cut(str(error))}") from None


def write_jsonl(path: Path | str, records: Iterable[Record]) -> None:
    """Write the records, one a line; `path` is replaced only when all of them are written."""
    path = Path(path)
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
        raise ValueError(f"{where}: {cut(str(error), _MAX_MESSAGE)}") from None


@lru_cache
def _game(spec: str) -> Game:
    """One object for all records of a game, so that its rules are compiled once."""
    return games.make_from_file(spec)


def _quoted(value: object) -> str:
    return cut(repr(value))


def _text(content: Mapping[str, Any], key: str) -> str:
    value = content.get(key)
    if not isinstance(value, str):
        raise ValueError(f"{key} is {_quoted(value)}: it must be a text")
    return value


def _by_role(game: Game, content: Mapping[str, Any], key: str) -> tuple[Any, Any] | None:
    values = content.get(key)
    if values is None:
        return None
    if not isinstance(values, dict) or values.keys() != set(game.roles):
        raise ValueError(
            f"{key} is {_quoted(values)}: it must have a value for each of {game.roles}"
        )
    return values[game.roles[0]], values[game.roles[1]]


def _numbers(values: tuple[Any, Any]) -> tuple[float, float]:
    for value in values:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not LOSS <= value <= WIN:
            raise ValueError(
                f"goal has {_quoted(value)}: its values must be numbers from {LOSS:g} to {WIN:g}"
            )
    return float(values[0]), float(values[1])


def _names(values: tuple[Any, Any]) -> tuple[str, str]:
    for value in values:
        if not isinstance(value, str):
            raise ValueError(f"players has {_quoted(value)}: their names must be texts")
    return values
