"""Tournament games of Othello in the WTHOR format of the French federation, `.wtb`.

Source: https://www.ffothello.org/wthor/Format_WThor.pdf (in French). Numbers are little-endian.

The header, 16 bytes:

    0   century, year, month and day of the file's making, a byte each: 20 9 12 22
    4   number of games, 4 bytes
    8   number of names, 2 bytes: 0 here, other files of the format have names
    10  year of the games, 2 bytes
    12  size of the board: 8, or 0 for the same
    13  type of the games: 1 for problems, else 0
    14  empty squares from which the theoretical score is counted
    15  reserved

A game, 68 bytes:

    0   numbers of the tournament, of black and of the other player, 2 bytes each
    6   black's discs at the end; empty squares count for the winner
    7   black's theoretical score: from the depth in the header on, both play perfectly
    8   60 moves, a byte each: 10 * row + column, rows from the top; 0 after the end

Passes are not written. A game that was cut off has fewer moves and the score that it was given.
"""

from __future__ import annotations

import datetime
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from boardenvs.game.rules import DRAW
from boardenvs.games import make
from boardenvs.games.notation import turned
from boardenvs.games.othello import Othello
from boardenvs.records.batch import play, starts_of
from boardenvs.records.jsonl import GAME, too_much
from boardenvs.records.moves import discs_placed, with_passes
from boardenvs.records.record import Record
from boardenvs.utils.checks import is_whole, quote
from boardenvs.utils.files import write_atomically

_HEADER = struct.Struct("<4BIHH4B")
_GAME = struct.Struct("<HHHBB60s")
_DISCS, _MOVES = 64, 60
_NUMBERS = ("tournament", "black", "white")  # of a game, in this order
_MEMORY = 2 * GAME  # bytes that a game takes at most


class Header(NamedTuple):
    """The header of a file; its fields in their order."""

    century: int
    year: int  # of the file's making, in its century
    month: int
    day: int
    games: int  # counted again when it is written
    names: int
    played: int  # the year of the games
    size: int  # of the board; 0 says 8 too
    kind: int
    depth: int  # empty squares from which the theoretical score is counted
    reserved: int


def read_wthor(path: Path | str, memory: int | None = None) -> tuple[Header, list[Record]]:
    """Return the header and the games.

    A record's info has the numbers `tournament`, `black` and `white`, the scores `score` and
    `theoretical`, and the header's `year` and `depth`; its goal follows from the score. ValueError
    if the file is damaged, of another kind, or if its games take more bytes than `memory`.
    """
    most = -1 if memory is None else memory // _MEMORY * _GAME.size + _HEADER.size
    try:
        with Path(path).open("rb") as file:
            content = file.read(most)
            if file.read(1):
                raise ValueError(too_much(memory or 0))
        return _parse(content)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def write_wthor(path: Path | str, records: Sequence[Record], header: Header | None = None) -> None:
    """Write games of Othello; games that `read_wthor` read are written byte for byte the same.

    Missing info is 0, a missing score is the number of discs at the end. Without a header the file
    is of today, with the year and depth of the first record. ValueError for records of other games,
    of other starts, or cut off without a score.
    """
    head = (header or _header_of(records))._replace(games=len(records))
    for number, record in enumerate(records, start=1):
        if type(record.game) is not Othello or record.game.holes:
            raise ValueError(f"game {number} is {record.game.id}: WTHOR holds Othello alone")
    games = map(_write_game, range(1, len(records) + 1), records, _scores(records))
    write_atomically(Path(path), _HEADER.pack(*head) + b"".join(games))


def _parse(content: bytes) -> tuple[Header, list[Record]]:
    if len(content) < _HEADER.size:
        raise ValueError(f"{len(content)} bytes are no WTHOR file: its header alone has 16")
    header = Header._make(_HEADER.unpack_from(content))
    if len(content) != (wanted := _HEADER.size + header.games * _GAME.size):
        raise ValueError(f"{len(content)} bytes: a WTHOR file of {header.games} games has {wanted}")
    if header.size not in (0, 8) or header.kind != 0:
        raise ValueError(
            f"board size {header.size}, type {header.kind}: games (type 0) on a board of 8 can be "
            "read"
        )
    game, records = make("othello"), []
    rows = list(_GAME.iter_unpack(content[_HEADER.size :]))
    played = with_passes(game, [_squares(row[5], i) for i, row in enumerate(rows, start=1)])
    for actions, (*numbers, _) in zip(played, rows, strict=True):
        info = dict(zip((*_NUMBERS, "score", "theoretical"), numbers, strict=True))
        lead = DRAW * float(np.sign(2 * info["score"] - _DISCS))
        info |= {"year": header.played, "depth": header.depth}
        records.append(Record(game, actions, None, (DRAW + lead, DRAW - lead), None, info))
    return header, records


def _squares(moves: bytes, number: int) -> list[int]:
    """Return the discs placed, in our frame."""
    found = []
    for move in moves.rstrip(b"\0"):
        row, column = divmod(move, 10)
        if not (1 <= row <= 8 and 1 <= column <= 8):
            raise ValueError(f"game {number}: move {move} is not a square: moves are 11 to 88")
        found.append(turned(8 * (row - 1) + column - 1))
    return found


def _header_of(records: Sequence[Record]) -> Header:
    today = datetime.date.today()
    info = records[0].info if records else {}
    for key, most in (("year", 0xFFFF), ("depth", 0xFF)):
        if not is_whole(value := info.get(key, 0), 0, most):
            raise ValueError(
                f"game 1 cannot be written as WTHOR: its info {key} is {quote(value)}: it must "
                f"be a whole number from 0 to {most}"
            )
    made = (*divmod(today.year, 100), today.month, today.day)
    return Header(*made, 0, 0, info.get("year", 0), 8, 0, info.get("depth", 0), 0)


def _write_game(number: int, record: Record, discs: int | None) -> bytes:
    info = record.info
    try:
        score = info.get("score", discs)
        if score is None:
            raise ValueError("it was cut off, and its info has no score")
        squares = [turned(square) for square in discs_placed(record)]
        if len(squares) > _MOVES:
            raise ValueError(f"it has {len(squares)} moves, and {_MOVES} are the most")
        return _GAME.pack(
            *(info.get(key, 0) for key in _NUMBERS),
            *(score, info.get("theoretical", score)),
            bytes(10 * (square // 8 + 1) + square % 8 + 1 for square in squares),
        )
    except (ValueError, struct.error) as error:
        raise ValueError(f"game {number} cannot be written as WTHOR: {error}") from None


def _scores(records: Sequence[Record]) -> list[int | None]:
    """Return black's discs at the end of each game, None if it is not over.

    Empty squares count for the side with more discs.
    """
    if not records:
        return []
    game = make("othello", empties="winner")
    starts = starts_of(game, [record.start for record in records])
    final = play(game, starts, [record.actions for record in records]).final
    lead = game.score_margin(final) * (1 - 2 * final.to_move)  # of black
    discs = (_DISCS + lead) // 2
    return [n if over else None for n, over in zip(discs.tolist(), final.terminated, strict=True)]
