"""A position as a line of text, after Forsyth-Edwards Notation.

    8/8/8/3wb3/3bw3/8/8/8 black 0

The rows of the board from the top, each from file a on: a piece is the first letter of its side, a
number counts empty squares; then the side to move and the plies played (0 may be left out). Where
people name a side otherwise than the role in Python, as Othello's "red", both are read. The other
words of the position follow by name, as squares or a number, unless they are empty or 0:

    8/5w2/8/4b3/8/8/8/8 black 31 kings=f7 quiet=3

Collections of Othello endgames write a position so, which is read as well:

    ---------------------------XO------OX--------------------------- X

All squares from a1 to h8, row by row, X (or *, B) for the first side, O (or W) for the second and -
(or .) for empty ones, then the side to move, by default X: X or O, Black or White.

A game may have a text of its own (`Game.parse_fen`): chess has FEN, games in plain Python moves.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from boardenvs.board.bitboard import EIGHT, from_squares
from boardenvs.game.errors import PositionError
from boardenvs.game.position import Position
from boardenvs.utils.checks import check_name, cut, quote

if TYPE_CHECKING:
    from boardenvs.game.game import Game

_MAX_SHOWN, _MAX_DIGITS = 120, 20  # of a text in messages; of a number of plies

_SIDES = {"X": 0, "O": 1, "Black": 0, "White": 1}
_SIGNS = str.maketrans("*xbBowW._", "XXXXOOO--")


def parse_position(game: Game, text: str) -> Position:
    """Return the position that the text describes; PositionError where it describes none, TypeError
    for what is no text.
    """
    other: object = text
    if not isinstance(other, str):
        example = game.start().fen()
        raise TypeError(f"position is {quote(other)}: it must be a text such as {example!r}")
    try:
        return game.parse_fen(text)
    except ValueError as error:
        raise PositionError(f"position {cut(text, _MAX_SHOWN)!r}: {error}") from None


def parse_usual(game: Game, text: str) -> Position:
    """Return the position of a text in the form above; ValueError for any other."""
    fields, letters = text.split(), dict(game.letters)
    rest = [field.partition("=") for field in fields if "=" in field]
    fields = fields[: len(fields) - len(rest)]
    sides = dict(zip((*game.roles, *game.sides), (0, 1) * 2, strict=True))
    if game.board == EIGHT and fields and len(fields[0]) in (64, 65) and "/" not in fields[0]:
        board, after = fields[0].translate(_SIGNS), fields[1:]
        side = board[64:] or (after.pop(0) if after else "X")
        ranks = [board[a1 : a1 + 8] for a1 in range(0, 64, 8)][:: 1 if game.look.from_top else -1]
        fields = ["/".join(ranks), side.translate(_SIGNS) if len(side) == 1 else side, *after]
        sides, letters = sides | _SIDES, {"X": (0,), "O": (1,), "-": ()}
    if len(fields) not in (2, 3):
        raise ValueError(
            f"it has {len(fields)} field{'' if len(fields) == 1 else 's'}: it must have the board, "
            f"the side to move and perhaps the plies played, as in {game.start().fen()!r}"
        )
    board, side, *ply = fields
    check_name("side", side, sides)
    if ply and not _is_number(ply[0]):
        raise ValueError(f"{cut(ply[0])!r} is not a number of plies")
    words = [0, 0, *_parse_words(game, {name: value for name, _, value in rest})]
    for letter, pieces in _parse_board(game, board, letters).items():
        for word in letters[letter]:
            words[word] |= pieces
    return game.position(tuple(words), sides[side], int(ply[0]) if ply else 0)


def _is_number(text: str) -> bool:
    return text.isdecimal() and len(text) <= _MAX_DIGITS


def _parse_words(game: Game, texts: dict[str, str]) -> list[int]:
    """Return the words that follow the board, 0 where they have no text."""
    words = dict.fromkeys(game.further_words, 0)
    for name, text in texts.items():
        check_name("word", name, words)
        try:
            if not text or not game.is_number(name):
                squares = map(game.parse_square, text.split(",") if text else ())
                words[name] = from_squares(squares)
            elif _is_number(text):
                words[name] = int(text)
            else:
                raise ValueError(f"{cut(text)!r} is not a number")
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
    return [*words.values()]


def _parse_board(game: Game, board: str, letters: Iterable[str]) -> dict[str, int]:
    """Return the squares of each letter."""
    ranks = board.split("/")
    rows, columns = game.board
    if len(ranks) != rows:
        raise ValueError(f"the board has {len(ranks)} ranks: it must have {rows}")
    squares = dict.fromkeys(letters, 0)
    for y, rank in zip(reversed(range(rows)), ranks, strict=True):
        x, name = 0, game.square_name(columns * y)[1:]
        for char in re.findall(r"[1-9][0-9]?|." if columns > 9 else ".", rank):
            if char.isdecimal() and char.isascii() and 1 <= int(char) <= columns:
                x += int(char)
            elif char in squares:
                squares[char] |= 1 << (columns * y + x) if x < columns else 0
                x += 1
            else:
                raise ValueError(
                    f"{char!r} in rank {name} is neither {', '.join(map(repr, squares))} nor a "
                    "number of empty squares"
                )
        if x != columns:
            raise ValueError(f"rank {name}, {cut(rank)!r}, has {x} squares: it must have {columns}")
    return squares
