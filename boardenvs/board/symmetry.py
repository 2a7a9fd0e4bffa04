"""The symmetries of a board, acting on squares and directions: eight of a square one, else four."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, reduce
from operator import or_

import numpy as np

from boardenvs.board import bitboard
from boardenvs.board.bitboard import EIGHT, Board
from boardenvs.kernel import Bits


@dataclass(frozen=True)
class Symmetry:
    """Swap x and y where `transpose`, then mirror left to right and top to bottom where asked."""

    transpose: bool = False
    flip_files: bool = False
    flip_ranks: bool = False
    board: Board = field(default=EIGHT, repr=False)

    def apply(self, bits: Bits) -> Bits:
        """Return the image of a set of squares, on ints or uint64 arrays."""
        if isinstance(bits, np.ndarray) and bits.dtype != np.uint64:
            raise TypeError(f"a set of squares is {bits.dtype}: it must be uint64")
        if self.board != EIGHT:
            moved = (bitboard.move(bits & squares, by) for by, squares in self._shifts.items())
            return reduce(or_, moved)
        if self.transpose:
            bits = bitboard.transpose(bits)
        if self.flip_files:
            bits = bitboard.flip_files(bits)
        if self.flip_ranks:
            bits = bitboard.flip_ranks(bits)
        return bits

    def vector(self, dx: int, dy: int) -> tuple[int, int]:
        """Return the image of a step."""
        if self.transpose:
            dx, dy = dy, dx
        return (-dx if self.flip_files else dx), (-dy if self.flip_ranks else dy)

    @cached_property
    def squares(self) -> tuple[int, ...]:
        """The image of each square."""
        images = []
        rows, columns = self.board
        for square in range(self.board.size):
            # Doubled and centred coordinates make a mirror image a change of sign.
            y, x = divmod(square, columns)
            x, y = self.vector(2 * x - columns + 1, 2 * y - rows + 1)
            images.append((y + rows - 1) // 2 * columns + (x + columns - 1) // 2)
        return tuple(images)

    @cached_property
    def _shifts(self) -> dict[int, int]:
        """The squares that move so far, by the distance."""
        shifts: dict[int, int] = {}
        for square, image in enumerate(self.squares):
            shifts[image - square] = shifts.get(image - square, 0) | 1 << square
        return shifts


def symmetries_of(board: Board) -> tuple[Symmetry, ...]:
    """Return all of a board, the identity first."""
    return tuple(
        Symmetry(transpose, files, ranks, board)
        for transpose in (False, True)[: 2 if board.rows == board.columns else 1]
        for files in (False, True)
        for ranks in (False, True)
    )


ALL_EIGHT = symmetries_of(EIGHT)
IDENTITY = ALL_EIGHT[0]
MIRROR = Symmetry(flip_files=True)
