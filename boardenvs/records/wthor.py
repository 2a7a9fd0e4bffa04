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

import struct
from pathlib import Path

import numpy as np

from boardenvs.game.game import Game
from boardenvs.game.rules import DRAW
from boardenvs.games import make
from boardenvs.records.jsonl import GAME, MAX_MEMORY, too_much
from boardenvs.records.moves import put_passes
from boardenvs.records.record import Record
from boardenvs.utils.files import read_bytes

_HEADER = struct.Struct("<4BIHH4B")
_GAME = struct.Struct("<HHHBB60s")
_DISCS = 64
_NUMBERS = ("tournament", "black", "white")  # of a game, in this order
_MEMORY = 2 * GAME // _GAME.size  # bytes that a game takes at most, for each of its own


def read_wthor(path: Path | str) -> list[Record]:
    """Return the games of a file; WTHOR is not written.

    A record's info has the numbers `tournament`, `black` and `white`, the scores `score` and
    `theoretical`, and the header's `year` and `depth`; its goal follows from the score. ValueError
    if the file is damaged, of another kind, or if its games may take more than 2 GiB of memory.
    """
    content = read_bytes(Path(path), MAX_MEMORY)
    try:
        return _parse(content)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _parse(content: bytes) -> list[Record]:
    if len(content) * _MEMORY > MAX_MEMORY:
        raise ValueError(too_much(MAX_MEMORY))
    if len(content) < _HEADER.size:
        raise ValueError(f"{len(content)} bytes are no WTHOR file: its header alone has 16")
    *_, count, _, year, size, kind, depth, _ = _HEADER.unpack_from(content)
    if len(content) != (wanted := _HEADER.size + count * _GAME.size):
        raise ValueError(f"{len(content)} bytes: a WTHOR file of {count} games has {wanted}")
    if size not in (0, 8) or kind != 0:
        raise ValueError(
            f"board size {size}, type {kind}: games (type 0) on a board of 8 can be read"
        )
    game, records = make("othello"), []
    for number, row in enumerate(_GAME.iter_unpack(content[_HEADER.size :]), start=1):
        info = dict(zip((*_NUMBERS, "score", "theoretical"), row, strict=False))
        lead = DRAW * float(np.sign(2 * info["score"] - _DISCS))
        info |= {"year": year, "depth": depth}
        squares = _squares(game, row[5], number)
        records.append(Record(game, squares, None, (DRAW + lead, DRAW - lead), None, info))
    return put_passes(records)


def _squares(game: Game, moves: bytes, number: int) -> tuple[int, ...]:
    """Return the discs placed."""
    squares = []
    for move in moves.rstrip(b"\0"):
        row, column = divmod(move, 10)
        if not (1 <= row <= 8 and 1 <= column <= 8):
            raise ValueError(f"game {number}: move {move} is not a square: moves are 11 to 88")
        squares.append(game.named_squares[8 * (row - 1) + column - 1])
    return tuple(squares)
