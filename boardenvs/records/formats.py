"""The formats of records: recognising files by their content, reading and writing them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from boardenvs.game.game import Game
from boardenvs.games import make
from boardenvs.records import moves, sgf, tagged
from boardenvs.records.jsonl import (
    CHARACTER,
    GAME,
    MAX_MEMORY,
    read_jsonl,
    too_much,
    write_jsonl,
)
from boardenvs.records.record import Record
from boardenvs.records.wthor import read_wthor
from boardenvs.utils.checks import cut
from boardenvs.utils.files import refuse_pipe, replacing

_HEAD, _MAX_MESSAGE = 1 << 16, 300  # bytes by which a file is recognised; characters
# Moves that games of checkers and chess without tags begin with.
_FIRST = r"1\.+\s*(?:\d+[-x]\d|(?:[a-h][34]|N[acfh]3)\s[\s\S]{0,400}?(?:[KQRBN][a-h1-8x]|O-O))"


class Format(NamedTuple):
    """How a format is recognised, read and written; `write` is None if it is only read."""

    suffixes: tuple[str, ...]
    begins: str  # a pattern of its files
    read: Callable[[Path, Game | None], Iterable[Record]]
    write: Callable[[Path, Sequence[Record]], None] | None = None
    lacks: tuple[str, ...] = ()  # the fields of a record that it does not hold


def _read_texts(
    split: Callable[[str], Iterator[tuple[int, Any]]],
    parse: Callable[[Any, Game | None], Record | None],
    path: Path,
    game: Game | None,
) -> list[Record]:
    """Return the games of a text, of which `split` yields where they begin, and their parts.

    A game that cannot be read has no actions, and the reason as `unread` in its info.
    """
    text, records = _text_of(path), list[Record]()
    line, last = 1, 0
    for at, part in split(text):
        line, last = line + text.count("\n", last, at), at
        try:
            records += filter(None, [parse(part, game)])
        except ValueError as error:
            wrong = f"line {line}: {cut(str(error), _MAX_MESSAGE)}"
            rules = records[-1].game if records else game or make("othello")
            records.append(Record(rules, (), info={"unread": wrong}))
    for record in records:
        if "unread" not in record.info:
            return moves.put_passes(records) if parse is moves.parse_line else records
    wrong = records[0].info["unread"] if records else "there are no moves"
    raise ValueError(f"{path}, {wrong}; formats are {', '.join(FORMATS)} of the game that is named")


def _write_texts(write: Callable[[Record], str], path: Path, records: Sequence[Record]) -> None:
    """Write the games, one a line; `path` is replaced only when all of them are written."""
    with replacing(path) as file:
        file.writelines(f"{write(record)}\n".encode() for record in records)


_read_sgf = partial(_read_texts, sgf.split_sgf, sgf.parse_sgf)
_read_tagged = partial(_read_texts, tagged.split_tagged, tagged.parse_tagged)
_read_moves = partial(_read_texts, moves.split_lines, moves.parse_line)
FORMATS = {
    "jsonl": Format(
        (".jsonl", ".jsonl.gz"),
        r"\s*\{|\x1f\x8b|\s*\Z",
        lambda path, game: read_jsonl(path, MAX_MEMORY),
        write_jsonl,
    ),
    "wthor": Format((".wtb",), r"[^\0]*\0", lambda path, game: read_wthor(path, MAX_MEMORY)),
    "sgf or ggf": Format(
        (".sgf",), r"[\s\d]*\(\s*;", _read_sgf, partial(_write_texts, sgf.write_sgf), ("info",)
    ),
    "pgn or pdn": Format(
        (),
        rf'\s*\[\w+\s+".*"\s*\](?![\s\S]*\n[ \t\d.]*(?:[a-h][1-8]){{3}})|[\s\S]*?\b{_FIRST}',
        _read_tagged,
    ),
    "moves": Format(
        (".txt",), "", _read_moves, partial(_write_texts, moves.write_moves), ("players", "info")
    ),
}


def format_of(path: Path | str) -> str:
    """Return the format to write that the path's ending names; ValueError if it names none."""
    endings = {
        suffix: name for name, form in FORMATS.items() for suffix in form.suffixes if form.write
    }
    for suffix, name in endings.items():
        if Path(path).name.lower().endswith(suffix):
            return name
    raise ValueError(f"{path} cannot be written: end the name in one of {', '.join(endings)}")


def load(path: Path | str, *, game: Game | None = None) -> list[Record]:
    """Return the records of a file, whose format is recognised by its content.

    game: the game of plain moves, by default Othello; others name theirs, and take its parameters
    from here. In texts of other programs, a game that cannot be read is left empty, with the reason
    as `unread` in its info, which `check` reports. ValueError if no game can be read, or if they
    may take more than 2 GiB of memory: `jsonl.read_jsonl` reads files of any length game by game.
    """
    path = Path(path)
    refuse_pipe(path)
    return list(FORMATS[_recognised(path)].read(path, game))


def save(path: Path | str, records: Sequence[Record]) -> list[str]:
    """Write the records to a file, which is replaced only when all of them are written.

    Return the fields that the format does not hold. ValueError if the path names no format, and for
    records that the format cannot hold.
    """
    chosen = FORMATS[format_of(path)]
    assert chosen.write is not None
    chosen.write(Path(path), records)
    return [key for key in chosen.lacks if any(getattr(r, key) for r in records)]


def _recognised(path: Path) -> str:
    """Return the format of the file's first bytes."""
    with path.open("rb") as file:
        head = file.read(_HEAD)
    text = head.decode("latin-1").removeprefix("ï»¿")
    return next(name for name, form in FORMATS.items() if re.match(form.begins, text, re.M))


def _text_of(path: Path) -> str:
    """Return the file's text, in UTF-8 or else in Latin-1."""
    content = path.read_bytes()
    if GAME * content.count(b"\n") + CHARACTER * len(content) > MAX_MEMORY:
        raise ValueError(f"{path}: {too_much(MAX_MEMORY)}")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")
