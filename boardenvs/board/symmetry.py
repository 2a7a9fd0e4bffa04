"""The eight symmetries of the square board, acting on squares and directions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from boardenvs.board import bitboard
from boardenvs.board.bitboard import SIZE
from boardenvs.kernel import Bits


@dataclass(frozen=True)
class Symmetry:
    """Swap x and y where `transpose`, then mirror left to right and top to bottom where asked."""

    transpose: bool = False
    flip_files: bool = False
    flip_ranks: bool = False

    def apply(self, bits: Bits) -> Bits:
        """The image of a set of squares, on ints or uint64 arrays."""
        if self.transpose:
            bits = bitboard.transpose(bits)
        if self.flip_files:
            bits = bitboard.flip_files(bits)
        if self.flip_ranks:
            bits = bitboard.flip_ranks(bits)
        return bits

    def vector(self, dx: int, dy: int) -> tuple[int, int]:
        """The image of a step."""
        if self.transpose:
            dx, dy = dy, dx
        return (-dx if self.flip_files else dx), (-dy if self.flip_ranks else dy)

    @cached_property
    def squares(self) -> tuple[int, ...]:
        """The image of each square."""
        images = []
        for square in range(64):
            # Doubled and centred coordinates make a mirror image a change of sign.
            x, y = self.vector(2 * (square % SIZE) - 7, 2 * (square // SIZE) - 7)
            images.append((y + 7) // 2 * SIZE + (x + 7) // 2)
        return tuple(images)


IDENTITY = Symmetry()
MIRROR = Symmetry(flip_files=True)
ALL_EIGHT = tuple(
    Symmetry(transpose, files, ranks)
    for transpose in (False, True)
    for files in (False, True)
    for ranks in (False, True)
)
