"""The symmetries of a board, acting on squares and directions: eight of a square one, else four."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, reduce
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
        for shifts in self._shifts:
            moved = (bitboard.move(bits & squares, by) for by, squares in shifts.items())
            bits = reduce(or_, moved)
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
    def _shifts(self) -> list[dict[int, int]]:
        """`shifts_of` each of its steps: all steps together move squares by far more distances."""
        names = [name for name in ("transpose", "flip_files", "flip_ranks") if getattr(self, name)]
        steps = [Symmetry(board=self.board, **{name: True}) for name in names]
        return [shifts_of(enumerate(step.squares)) for step in steps]


def shifts_of(images: Iterable[tuple[int, int]]) -> dict[int, int]:
    """Return the bits that move equally far, by the distance, for pairs of a bit and its image."""
    shifts: dict[int, int] = {}
    for place, image in images:
        shifts[image - place] = shifts.get(image - place, 0) | 1 << place
    return shifts


@lru_cache(maxsize=64)
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
