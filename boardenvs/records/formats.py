"""The formats of records by name: recognising, reading and writing files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from boardenvs.game.game import Game
from boardenvs.games import make
from boardenvs.records.jsonl import GZIP, MAX_MEMORY, read_jsonl, write_jsonl
from boardenvs.records.moves import read_moves_file, write_moves_file
from boardenvs.records.record import Record
from boardenvs.records.wthor import read_wthor
from boardenvs.utils.files import refuse_pipe


class Format(NamedTuple):
    """How a format is recognised, read and written; `write` is None if it is only read."""

    suffixes: tuple[str, ...]
    read: Callable[[Path, Game | None], Iterable[Record]]
    write: Callable[[Path, Sequence[Record]], None] | None
    lacks: tuple[str, ...]  # the fields of a record that it does not hold


FORMATS = {
    "jsonl": Format(
        (".jsonl", ".jsonl.gz"), lambda path, game: read_jsonl(path, MAX_MEMORY), write_jsonl, ()
    ),
    "wthor": Format((".wtb",), lambda path, game: read_wthor(path, MAX_MEMORY), None, ()),
    "moves": Format(
        (".txt",),
        lambda path, game: read_moves_file(path, game or make("othello"), MAX_MEMORY),
        write_moves_file,
        ("players", "info"),
    ),
}


def format_of(path: Path | str, *, to_write: bool = False) -> str:
    """Return the format that the path's ending names; ValueError if it names none, or one that is
    only read, `to_write`.
    """
    formats = {name: form for name, form in FORMATS.items() if form.write or not to_write}
    for name, form in formats.items():
        if Path(path).name.lower().endswith(form.suffixes):
            return name
    wrong = "cannot be written" if to_write else "does not say its format"
    endings = ", ".join(suffix for form in formats.values() for suffix in form.suffixes)
    raise ValueError(f"{path} {wrong}: end the name in one of {endings}")


def load(path: Path | str, *, game: Game | None = None) -> list[Record]:
    """Return the records of a file, whose format is known by its name or else by its content.

    game: the game of plain moves, by default Othello; other formats name it themselves. ValueError
    if the file is not in its format, or its games may take more than 2 GiB of memory:
    `jsonl.read_jsonl` reads files of any length game by game.
    """
    path = Path(path)
    refuse_pipe(path)
    return list(FORMATS[_recognised(path)].read(path, game))


def save(path: Path | str, records: Sequence[Record]) -> list[str]:
    """Write the records to a file, which is replaced only when all of them are written.

    Return the fields that the format does not hold. ValueError if the path names no format, and for
    records that the format cannot hold.
    """
    chosen = FORMATS[format_of(path, to_write=True)]
    assert chosen.write is not None
    chosen.write(Path(path), records)
    return [key for key in chosen.lacks if any(getattr(r, key) for r in records)]


def _recognised(path: Path) -> str:
    """Return the format by the file's name, else by its first bytes."""
    try:
        return format_of(path)
    except ValueError:
        with path.open("rb") as file:
            first = file.read(1024)
    if first.startswith(GZIP) or first.lstrip().startswith(b"{"):
        return "jsonl"
    return "wthor" if b"\0" in first else "moves"
