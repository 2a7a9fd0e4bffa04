"""Positions of chess in Forsyth-Edwards Notation (FEN), and as lines of EPD.

    rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1

The board from rank 8 to rank 1, capitals for white; the side to move; the castling that is still
allowed; the square that a pawn has just passed, written only if it can be taken there; the plies
without capture or pawn move; the number of the move. In EPD operations follow the first four
fields: `bm Nf3; id "x";`, of which `hmvc` and `fmvn` are the last two.
"""

from __future__ import annotations

import re

from boardenvs.game.position import Position
from boardenvs.utils.checks import check_name, cut

_FIELDS = re.compile(
    r"([^\s;]+)\s+([^\s;]+)\s+([^\s;]+)\s+([^\s;]+)"
    r"(?:\s+([-+\d][^\s;]*)\s+([0-9]{1,9}))?\s*([A-Za-z]\w+\s.*|\w*;.*)?",
    re.DOTALL,
)
_COUNTS = re.compile(r"\b(hmvc|fmvn)\s+([0-9]{1,9})\b")
_SIDES = {"w": "white", "b": "black"}
_ROOKS = {"K": "h1", "Q": "a1", "k": "h8", "q": "a8"}


def usual_text(text: str) -> str:
    """Return the text of a FEN or a line of EPD as of a position of any game."""
    fields = _FIELDS.fullmatch(text.strip())
    if not fields:
        raise ValueError(
            "it must have six fields: board, side, castling, en passant, halfmove clock and move "
            "number; or be EPD, four of them and then operations such as 'bm Nf3;'"
        )
    board, side, castling, passed, clock, move, operations = fields.groups("")
    check_name("side", side, _SIDES)
    if not re.fullmatch("-|[KQkq]+", castling):
        raise ValueError(f"castling is {cut(castling)!r}: it must be '-' or letters of 'KQkq'")
    counts = {"hmvc": clock or "0", "fmvn": move or "1"}
    counts |= dict(_COUNTS.findall(re.sub('"[^"]*"', "", operations)))
    ply = 2 * max(1, int(counts["fmvn"])) - 2 + "wb".index(side)
    rooks = ",".join(map(_ROOKS.__getitem__, castling.strip("-")))
    words = f"castling={rooks} en_passant={passed.strip('-')} halfmove_clock={counts['hmvc']}"
    return f"{board} {_SIDES[side]} {ply} {words}"


def write_fen(position: Position, board: str) -> str:
    """Return a position as FEN, of which this is the board."""
    texts = position.game.further_texts(position)
    corners, passed = texts.get("castling", ""), texts.get("en_passant", "-")
    castling = "".join(letter for letter, rook in _ROOKS.items() if rook in corners) or "-"
    side, clock = "wb"[position.to_move], texts.get("halfmove_clock", 0)
    return f"{board} {side} {castling} {passed} {clock} {position.ply // 2 + 1}"
