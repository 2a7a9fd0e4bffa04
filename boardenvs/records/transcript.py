"""Records as plain moves, one game a line.

Othello is written as in tournaments, `f5d6c3d3c4`: rows are counted from the top and passes are
left out. Other games have their own notation, `b1-b3 a3-c3`, with spaces and passes. Capitals,
spaces, commas and the numbers of moves ("1.", "2)") are read and not written. Lines that are empty
or begin with "#" are skipped. Players, results and starts of their own are not kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from boardenvs.board.bitboard import parse_square, square_name
from boardenvs.game.contract import Game
from boardenvs.game.notation import PASS
from boardenvs.games.othello import Othello
from boardenvs.records.bounds import read_lines
from boardenvs.records.record import Record, names, parse_names
from boardenvs.records.tournament import from_moves, to_moves, turned
from boardenvs.utils.checks import cut
from boardenvs.utils.files import replacing

# Captures are often written with an x, "b1xb3"; most rules know them without.
_CAPTURE = re.compile(r"(?<=[a-h][1-8])x(?=[a-h][1-8])")
_MAX_MESSAGE = 300
_NUMBERS = re.compile(r"\b\d+\s*[.)]+")


def parse_transcripts(game: Game, lines: Iterable[str]) -> list[Record]:
    """The games of the lines; ValueError names a line that cannot be read.

    Whether the moves are legal is not asked here: see `check`.
    """
    found = []
    for number, line in enumerate(lines, start=1):
        text = _NUMBERS.sub(" ", line).replace(",", " ").strip()
        if not text or line.lstrip().startswith("#"):
            continue
        try:
            found.append(_squares(text) if isinstance(game, Othello) else _moves(game, text))
        except ValueError as error:
            raise ValueError(f"line {number}: {cut(str(error), _MAX_MESSAGE)}") from None
    if isinstance(game, Othello):
        found = [list(actions) for actions in from_moves(game, found)]
    return [Record(game, tuple(actions)) for actions in found]


def write_transcript(record: Record) -> str:
    """The game as one line, without its end; ValueError where it has a start of its own."""
    moves = to_moves(record)
    if isinstance(record.game, Othello):
        return "".join(square_name(turned(square)) for square in moves)
    return " ".join(names(record))


def read_transcripts(path: Path | str, game: Game, memory: int | None = None) -> list[Record]:
    """The games of a file; ValueError names the line that is wrong, or up to which the games take
    more than so many bytes of `memory`.
    """
    path = Path(path)
    try:
        with path.open(encoding="utf-8") as file:
            return parse_transcripts(game, (line for _, line in read_lines(file, path, memory)))
    except ValueError as error:  # a UnicodeDecodeError too
        named = str(error).startswith(str(path))
        raise ValueError(str(error) if named else f"{path}, {error}") from None


def write_transcripts(path: Path | str, records: Iterable[Record]) -> None:
    """Write the games, one a line; `path` is replaced only when all of them are written."""
    with replacing(Path(path)) as file:
        file.writelines(f"{write_transcript(record)}\n".encode() for record in records)


def _squares(text: str) -> list[int]:
    """The discs placed, in our frame."""
    words = list(_words(text.lower().replace(PASS, " ")))
    return [turned(parse_square(word)) for word in words]


def _words(text: str) -> Iterator[str]:
    """The squares, in a row or with spaces."""
    for part in text.split():
        if "-" in part:
            raise ValueError(
                f"{part!r} moves a piece: say which game this is, Othello has no such moves"
            )
        yield from (part[i : i + 2] for i in range(0, len(part), 2))


def _moves(game: Game, text: str) -> list[int]:
    try:
        return list(parse_names(game, text.split()))
    except ValueError:
        return list(parse_names(game, _CAPTURE.sub("-", text.lower()).split()))
