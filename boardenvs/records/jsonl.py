"""Records as JSON Lines: one game a line, readable for people and programs.

    {"version": 1, "game": "othello", "players": {"black": "greedy", "white": "random"},
     "goal": {"black": 100, "white": 0}, "actions": "e6 f6 g6 ..."}

`game` is a text as `boardenvs.games.make_from_file` reads it, which imports nothing; `actions` are
in the game's own notation, one word a ply, passes included. `start` is a position as
`boardenvs.game.fen` writes it, unless the game began at its own start; `info` holds anything else.
Unknown values are left out.
"""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict

from boardenvs import games
from boardenvs.game import fen
from boardenvs.game.game import Game
from boardenvs.records.record import GOALS, Record, names, parse_names
from boardenvs.utils.checks import cut, quote
from boardenvs.utils.decoding import decode, parse_json

T = TypeVar("T")

VERSION = 1
GZIP = b"\x1f\x8b"  # how compressed files begin
_MAX_MESSAGE = 300

# Limits: a compressed file of a few megabytes can hold gigabytes, and a JSON text of only brackets
# takes thirty times its size in memory.
MAX_LINE = 1 << 20  # characters
MAX_MEMORY = 1 << 31  # bytes of all games of a file, enough for half a million games

GAME = 1000  # bytes of a game in addition to its line
CHARACTER, _MARK = 4, 100  # bytes, at most, for each character and mark of a line
_MARKS = "[{,"


class _Content(BaseModel):
    """The content of a line."""

    model_config = ConfigDict(strict=True, extra="forbid")

    version: Literal[1]  # VERSION
    game: str
    players: dict[str, str] | None = None
    start: str | None = None
    goal: dict[str, float] | None = None
    actions: str
    info: dict[str, Any] = {}


def write_record(record: Record) -> str:
    """Return the record as one line; ValueError if JSON cannot hold its info, or for a goal
    of no result.
    """
    game = record.game
    content: dict[str, Any] = {"version": VERSION, "game": games.spec_for_file(game)}
    if record.players is not None:
        content["players"] = dict(zip(game.sides, record.players, strict=True))
    if record.start is not None:
        content["start"] = record.start.fen()
    if record.goal is not None:
        _check_goal(record.goal)
        content["goal"] = dict(zip(game.sides, map(int, record.goal), strict=True))
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
    """Return the record of a line of `write_record`; ValueError if it is not one."""
    content = decode(_Content, parse_json(line), "a record")
    game = _game(content.game)
    start = None if content.start is None else fen.parse_position(game, content.start)
    actions = parse_names(game, content.actions.split(), start)
    goal, players = _by_role(game, "goal", content.goal), _by_role(game, "players", content.players)
    _check_goal(goal)
    return Record(game, actions, start, goal, players, content.info)


def read_jsonl(path: Path | str, memory: int | None = None) -> Iterator[Record]:
    """Yield the records of a file, plain or compressed, line by line; empty lines are skipped.

    memory: the most bytes that all records together may take; None: no limit, for callers that keep
    none. ValueError names the line that is wrong.
    """
    path = Path(path)
    with path.open("rb") as file:
        compressed = file.read(2) == GZIP
        file.seek(0)
        lines = io.TextIOWrapper(gzip.GzipFile(fileobj=file) if compressed else file, "utf-8-sig")
        number, taken = 0, 0
        try:
            while line := lines.readline(MAX_LINE + 1):
                number += 1
                if len(line) > MAX_LINE:
                    raise ValueError(f"{path}, line {number}, has more than {MAX_LINE} characters")
                taken += GAME + CHARACTER * len(line) + _MARK * sum(map(line.count, _MARKS))
                if memory is not None and taken > memory:
                    raise ValueError(f"{path}, line {number}: {too_much(memory)}")
                if line.strip():
                    yield parse_line(line, f"{path}, line {number}")
        except (EOFError, zlib.error, gzip.BadGzipFile, UnicodeDecodeError) as error:
            raise ValueError(f"{path} is damaged after line {number}: {cut(str(error))}") from None


def parse_line(line: str, name: str) -> Record:
    """Return the record of a line; ValueError calls the line by this name."""
    try:
        return parse_record(line)
    except ValueError as error:
        raise ValueError(f"{name}: {cut(str(error), _MAX_MESSAGE)}") from None


def _check_goal(goal: tuple[float, float] | None) -> None:
    if goal not in (None, *GOALS):
        raise ValueError(
            f"goal is {quote(goal)}: it must be 100 for a win and 0 for a loss, or 50 each"
        )


@lru_cache
def _game(spec: str) -> Game:
    """Return one object for all records of a game, so that its rules are compiled once."""
    return games.make_from_file(spec)


def _by_role(game: Game, key: str, values: dict[str, T] | None) -> tuple[T, T] | None:
    if values is None:
        return None
    if values.keys() != set(game.sides):
        raise ValueError(f"{key} is {quote(values)}: it must have a value for each of {game.sides}")
    return values[game.sides[0]], values[game.sides[1]]


def too_much(memory: int) -> str:
    """Return the message for games that take more bytes than this."""
    return f"the games up to here may take more than {memory >> 20} MiB of memory: split the file"
