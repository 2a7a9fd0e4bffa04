"""The eight symmetries of the square board, acting on squares, directions and actions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from boardenvs.board import bitboard
from boardenvs.board.bitboard import DIRECTIONS, SIZE
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

    def actions(self, action_planes: int) -> np.ndarray[Any, np.dtype[np.intp]]:
        """The image of each action of a game with so many planes, noop included, (A,) intp."""
        if action_planes == 1:
            planes = [0]
        else:
            steps = [(d.dx, d.dy) for d in DIRECTIONS]
            planes = [steps.index(self.vector(*s)) for s in steps]
        images = [64 * plane + square for plane in planes for square in self.squares]
        return np.array([*images, 64 * action_planes], np.intp)


IDENTITY = Symmetry()
MIRROR = Symmetry(flip_files=True)
ALL_EIGHT = tuple(
    Symmetry(transpose, files, ranks)
    for transpose in (False, True)
    for files in (False, True)
    for ranks in (False, True)
)
