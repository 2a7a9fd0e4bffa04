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
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, TextIO, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from boardenvs import games
from boardenvs.game import fen
from boardenvs.game.contract import Game
from boardenvs.game.rules import LOSS, WIN
from boardenvs.records.record import Record, names, parse_names
from boardenvs.utils.checks import cut, quote
from boardenvs.utils.decoding import decode, parse_json
from boardenvs.utils.files import replacing

T = TypeVar("T")

VERSION = 1
GZIP = b"\x1f\x8b"  # how compressed files begin
_MAX_MESSAGE = 300

# How much of a file is read. A compressed one of a few megabytes can hold gigabytes, and JSON takes
# thirty times the memory of its text where that is brackets alone.
MAX_LINE = 1 << 20  # characters
MAX_MEMORY = 1 << 31  # bytes that all games of a file take: more than half a million games

GAME = 1000  # bytes that a game takes beside its line
_CHARACTER, _MARK = 4, 100  # bytes at most that each in a line takes: tests measure it
_MARKS = "[{,"


class _Content(BaseModel):
    """A line."""

    model_config = ConfigDict(strict=True, extra="forbid")

    version: Annotated[int, Field(ge=VERSION, le=VERSION)]
    game: str
    players: dict[str, str] | None = None
    start: str | None = None
    goal: dict[str, Annotated[float, Field(ge=LOSS, le=WIN)]] | None = None
    actions: str
    info: dict[str, Any] = {}


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
    content = decode(_Content, parse_json(line), "a record")
    game = _game(content.game)
    start = None if content.start is None else fen.parse_position(game, content.start)
    actions = parse_names(game, content.actions.split(), start)
    goal, players = _by_role(game, "goal", content.goal), _by_role(game, "players", content.players)
    return Record(game, actions, start, goal, players, content.info)


def read_jsonl(path: Path | str, memory: int | None = None) -> Iterator[Record]:
    """The records of a file, line by line; ValueError names a line that holds none, or where all
    up to it take more than so many bytes of `memory`: who keeps none may read files of any length.

    Compressed files are decompressed, empty lines skipped.
    """
    for number, found in read_each(path, memory):
        if isinstance(found, ValueError):
            raise ValueError(f"{path}, line {number}: {found}")
        yield found


def read_each(
    path: Path | str, memory: int | None = None
) -> Iterator[tuple[int, Record | ValueError]]:
    """As `read_jsonl`, with the lines' numbers, and the error of a line that holds no record in its
    place.
    """
    path = Path(path)
    with path.open("rb") as file:
        compressed = file.read(2) == GZIP
        file.seek(0)
        lines = io.TextIOWrapper(gzip.GzipFile(fileobj=file) if compressed else file, "utf-8-sig")
        number = 0
        try:
            for number, line in read_lines(lines, path, memory):
                if line.strip():
                    yield number, _parse_line(line)
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


def _parse_line(line: str) -> Record | ValueError:
    try:
        return parse_record(line)
    except ValueError as error:
        return ValueError(cut(str(error), _MAX_MESSAGE))


@lru_cache
def _game(spec: str) -> Game:
    """One object for all records of a game, so that its rules are compiled once."""
    return games.make_from_file(spec)


def _by_role(game: Game, key: str, values: dict[str, T] | None) -> tuple[T, T] | None:
    if values is None:
        return None
    if values.keys() != set(game.roles):
        raise ValueError(f"{key} is {quote(values)}: it must have a value for each of {game.roles}")
    return values[game.roles[0]], values[game.roles[1]]


def read_lines(file: TextIO, path: Path, memory: int | None) -> Iterator[tuple[int, str]]:
    """The lines of a file and their numbers, from 1 on.

    ValueError, which names `path` and the line, where one is too long, or where the games so far
    take more than so many bytes of `memory`; without it they are not counted.
    """
    taken = 0
    for number, line in enumerate(iter(lambda: file.readline(MAX_LINE + 1), ""), start=1):
        if len(line) > MAX_LINE:
            raise ValueError(f"{path}, line {number}, has more than {MAX_LINE} characters")
        if memory is not None:
            taken += memory_of(line)
            if taken > memory:
                raise ValueError(f"{path}, line {number}: {too_much(memory)}")
        yield number, line


def memory_of(line: str) -> int:
    """How many bytes the game of a line takes at most."""
    return GAME + _CHARACTER * len(line) + _MARK * sum(map(line.count, _MARKS))


def too_much(memory: int) -> str:
    """What is wrong where games take more than so many bytes."""
    return f"the games up to here may take more than {memory >> 20} MiB of memory: split the file"
