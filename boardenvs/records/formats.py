"""The formats of records: recognising files by their content, reading and writing them."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from boardenvs.game.game import Game
from boardenvs.games import make
from boardenvs.records import moves, sgf, tagged
from boardenvs.records.jsonl import (
    CHARACTER,
    GAME,
    MAX_MEMORY,
    read_jsonl,
    too_much,
    write_record,
)
from boardenvs.records.record import Record
from boardenvs.records.wthor import read_wthor
from boardenvs.utils.checks import cut
from boardenvs.utils.files import read_bytes, refuse_pipe, replacing

_HEAD, _MAX_MESSAGE = 1 << 16, 300  # bytes by which a file is recognised; characters
# Moves that games of checkers and chess without tags begin with.
_FIRST = r"1\.+\s*(?:\d+[-x]\d|(?:[a-h][34]|N[acfh]3)\s[\s\S]{0,400}?(?:[KQRBN][a-h1-8x]|O-O))"


class Format(NamedTuple):
    """How a format is recognised, read and written; `write` is None if it is only read."""

    suffixes: tuple[str, ...]
    begins: str  # a pattern of its files
    read: Callable[[Path, Game | None], Iterable[Record]]
    write: Callable[[Record], str] | None = None  # as a line
    lacks: tuple[str, ...] = ()  # the fields of a record that it does not hold


def _read_texts(
    find: Callable[[str], Iterator[re.Match[str]]],
    parse: Callable[[re.Match[str], Game | None], Record | None],
    path: Path,
    game: Game | None,
) -> list[Record]:
    """Return the games of a text in UTF-8, or else in Latin-1, in which `find` finds them.

    A game that cannot be read has no actions, and the reason as `unread` in its info.
    """
    content, records = read_bytes(path, MAX_MEMORY), list[Record]()
    if GAME * content.count(b"\n") + CHARACTER * len(content) > MAX_MEMORY:
        raise ValueError(f"{path}: {too_much(MAX_MEMORY)}")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    for match in find(text):
        try:
            records += filter(None, [parse(match, game)])
        except ValueError as error:
            line = text.count("\n", 0, match.start()) + 1
            wrong = f"line {line}: {cut(str(error), _MAX_MESSAGE)}"
            rules = records[-1].game if records else game or make("othello")
            records.append(Record(rules, (), info={"unread": wrong}))
    if all("unread" in record.info for record in records):
        wrong = records[0].info["unread"] if records else "there are no moves"
        raise ValueError(
            f"{path}, {wrong}; formats are {', '.join(FORMATS)} of the game that is named"
        )
    return moves.put_passes(records)


FORMATS = {
    "jsonl": Format(
        (".jsonl", ".jsonl.gz"),
        r"\s*\{|\x1f|\s*\Z",
        lambda path, game: read_jsonl(path, MAX_MEMORY),
        write_record,
    ),
    "wthor": Format((".wtb",), r"[^\0]*\0", lambda path, game: read_wthor(path)),
    "sgf or ggf": Format(
        (".sgf",),
        r"[\s\d]*\(\s*;",
        partial(_read_texts, sgf.GAMES.finditer, sgf.parse_sgf),
        sgf.write_sgf,
        ("info",),
    ),
    "pgn or pdn": Format(
        (),
        rf'\s*\[\w+\s+".*"\s*\](?![\s\S]*\n[ \t\d.]*(?:[a-h][1-8]){{3}})|[\s\S]*?\b{_FIRST}',
        partial(_read_texts, tagged.games_of, tagged.parse_tagged),
    ),
    "moves": Format(
        (".txt",),
        "",
        partial(
            _read_texts, moves.LINES.finditer, lambda line, game: moves.parse_line(line[0], game)
        ),
        moves.write_moves,
        ("players", "info"),
    ),
}


def format_of(path: Path | str) -> str:
    """Return the format to write that the path's ending names; ValueError if it names none."""
    written = {name: form for name, form in FORMATS.items() if form.write}
    for name, form in written.items():
        if Path(path).name.lower().endswith(form.suffixes):
            return name
    endings = ", ".join(suffix for form in written.values() for suffix in form.suffixes)
    raise ValueError(f"{path} cannot be written: end the name in one of {endings}")


def load(path: Path | str, *, game: Game | None = None) -> list[Record]:
    """Return the records of a file, whose format is recognised by its content.

    game: the game of plain moves, by default Othello; others name theirs, and take its parameters
    from here. In texts of other programs, a game that cannot be read is left empty, with the reason
    as `unread` in its info, which `check` reports. ValueError if no game can be read, or if they
    may take more than 2 GiB of memory: `jsonl.read_jsonl` reads files of any length game by game.
    """
    path = Path(path)
    refuse_pipe(path)
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        head = file.read(_HEAD)
    form = next(form for form in FORMATS.values() if re.match(form.begins, head, re.M))
    return list(form.read(path, game))


def save(path: Path | str, records: Sequence[Record]) -> list[str]:
    """Write the records to a file, which is replaced only when all of them are written.

    Return the fields that the format does not hold. ValueError if the path names no format, and for
    records that the format cannot hold.
    """
    path, form = Path(path), FORMATS[format_of(path)]
    assert form.write is not None
    lines = (f"{line}\n".encode() for line in map(form.write, records))
    with replacing(path) as file:
        if path.suffix.lower() != ".gz":
            file.writelines(lines)
        else:  # without a name and a time, so that the same records give the same file
            with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as compressed:
                compressed.writelines(lines)
    return [key for key in form.lacks if any(getattr(record, key) for record in records)]
