"""The 8x8 board: sets of squares as words, numbers on squares, symmetries.

Rules of games find here what they need of it.
"""

from boardenvs.board.bitboard import (
    DIRECTIONS,
    FILE_A,
    FILE_H,
    NE,
    NW,
    RANK_1,
    SE,
    SIZE,
    SW,
    Direction,
    E,
    N,
    S,
    W,
    fill,
    from_squares,
    highest,
    lowest,
    neighbours,
    rank_of,
    ray,
    step,
    steps,
)
from boardenvs.board.bitslice import countdown, line_counts
from boardenvs.board.symmetry import ALL_EIGHT, IDENTITY, MIRROR, Symmetry

__all__ = [
    "ALL_EIGHT",
    "DIRECTIONS",
    "FILE_A",
    "FILE_H",
    "IDENTITY",
    "MIRROR",
    "NE",
    "NW",
    "RANK_1",
    "SE",
    "SIZE",
    "SW",
    "Direction",
    "E",
    "N",
    "S",
    "Symmetry",
    "W",
    "countdown",
    "fill",
    "from_squares",
    "highest",
    "line_counts",
    "lowest",
    "neighbours",
    "rank_of",
    "ray",
    "step",
    "steps",
]
