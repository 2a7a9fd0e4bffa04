"""A position as a line of text, after Forsyth-Edwards Notation.

    8/8/8/3rb3/3br3/8/8/8 black 0

The ranks from the highest down to 1, each from file a on: a piece is the first letter of its role,
a number counts empty squares; then the role to move and the plies played (0 may be left out). The
other words of the position follow by name, as squares or a number, unless they are empty or 0:

    8/5w2/8/4b3/8/8/8/8 black 31 kings=f7 quiet=3

Collections of Othello endgames write a position so, which is read as well:

    ---------------------------XO------OX--------------------------- X

All squares from a1 to h8, rank by rank, X for the first role, O for the second and - for empty
ones, then the side to move: X or O, Black or White.
"""

from __future__ import annotations

import re

from boardenvs.board.bitboard import EIGHT, from_squares, square_name
from boardenvs.game.contract import Game
from boardenvs.game.errors import PositionError
from boardenvs.game.position import Position
from boardenvs.utils.checks import cut, quote, unknown

_MAX_SHOWN, _MAX_DIGITS = 120, 20  # of a text in messages; of a number of plies

_SIDES = {"X": 0, "O": 1, "Black": 0, "White": 1}


def parse_position(game: Game, text: str) -> Position:
    """The position that the text describes; PositionError where it describes none, TypeError for
    what is no text.
    """
    given: object = text
    if not isinstance(given, str):
        example = game.start().fen()
        raise TypeError(f"position is {quote(given)}: it must be a text such as {example!r}")
    fields, shown = text.split(), cut(text, _MAX_SHOWN)
    rest = [field.partition("=") for field in fields if "=" in field]
    fields = fields[: len(fields) - len(rest)]
    if len(fields) not in (2, 3):
        many = f"{len(fields)} field{'' if len(fields) == 1 else 's'}"
        raise PositionError(
            f"position {shown!r} has {many}: it must have the board, the role to move and perhaps "
            f"the plies played, as in {game.start().fen()!r}"
        )
    board, role, *ply = fields
    in_full = game.board == EIGHT and len(board) == EIGHT.size and "/" not in board
    sides = dict(zip(game.roles, (0, 1), strict=True)) | (_SIDES if in_full else {})
    if role not in sides:
        raise PositionError(f"position {shown!r}: {unknown('role', role, sides)}")
    if ply and not (ply[0].isdecimal() and len(ply[0]) <= _MAX_DIGITS):
        raise PositionError(f"position {shown!r}: {cut(ply[0])!r} is not a number of plies")
    try:
        squares = _parse_squares(board) if in_full else _parse_board(game, board)
        words = (*squares, *_parse_words(game, {name: value for name, _, value in rest}))
        return game.position(words, sides[role], int(ply[0]) if ply else 0)
    except PositionError as error:
        raise PositionError(f"position {shown!r}: {error}") from None


def _parse_words(game: Game, given: dict[str, str]) -> list[int]:
    """The words that follow the board, 0 where they are not given."""
    for name in given:
        if name not in game.further_words:
            raise PositionError(unknown("word", name, game.further_words))
    found = []
    for place, name in enumerate(game.further_words, 2):
        text = given.get(name, "")
        try:
            if place < len(game.squares):
                found.append(from_squares(text.split(",") if text else [], game.board))
            elif text and not (text.isdecimal() and len(text) <= _MAX_DIGITS):
                raise ValueError(f"{cut(text)!r} is not a number")
            else:
                found.append(int(text or 0))
        except ValueError as error:
            raise PositionError(f"{name}: {error}") from None
    return found


def _parse_squares(board: str) -> tuple[int, int]:
    for square, char in enumerate(board):
        if char not in "XO-":
            raise PositionError(f"{char!r} on {square_name(square)} is none of 'X', 'O' and '-'")
    first, second = (sum(1 << s for s, c in enumerate(board) if c == disc) for disc in "XO")
    return first, second


def _parse_board(game: Game, board: str) -> tuple[int, int]:
    ranks = board.split("/")
    rows, columns = game.board
    if len(ranks) != rows:
        raise PositionError(f"the board has {len(ranks)} ranks: it must have {rows}")
    letters = [role[0] for role in game.roles]
    squares = [0, 0]
    for y, rank in zip(reversed(range(rows)), ranks, strict=True):
        x = 0
        for char in re.findall(r"[1-9][0-9]?|." if columns > 9 else ".", rank):
            if char.isdecimal() and char.isascii() and 1 <= int(char) <= columns:
                x += int(char)
            elif char in letters:
                squares[letters.index(char)] |= 1 << (columns * y + x) if x < columns else 0
                x += 1
            else:
                raise PositionError(
                    f"{char!r} in rank {y + 1} is neither {letters[0]!r}, {letters[1]!r} nor a "
                    "number of empty squares"
                )
        if x != columns:
            raise PositionError(
                f"rank {y + 1}, {cut(rank)!r}, has {x} squares: it must have {columns}"
            )
    return squares[0], squares[1]
