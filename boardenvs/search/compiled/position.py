"""A position in compiled search: a move, the end of the game, and its place in an array."""

from __future__ import annotations

from typing import NamedTuple

from boardenvs.kernel.loops import (
    ONE,
    ZERO,
    Array,
    Word,
    advance,
    max_ply,
    read_legal,
    write_legal,
)

# A position as words: own, opp, to_move, ply, terminated, and then the legal actions.
TO_MOVE, PLY, TERMINATED, LEGAL = 2, 3, 4, 5


class Position(NamedTuple):
    """A position as words; the fields mean what they mean in `boardenvs.Position`."""

    own: Word
    opp: Word
    legal_bits: tuple[Word, ...]
    to_move: Word
    ply: Word
    terminated: bool


def play(position: Position, action: Word) -> Position:
    """The position after a legal action."""
    after = advance(position.own, position.opp, position.to_move, position.ply, action)
    return Position(
        after[0],
        after[1],
        after[2:-1],
        position.to_move ^ ONE,
        position.ply + ONE,
        after[-1] != ZERO,
    )


def is_final(terminated: bool, ply: Word) -> bool:
    """Whether the game ends here, by its rules or by its cap."""
    return terminated or ply >= max_ply()


def load_position(array: Array, start: int) -> Position:
    """The position that is stored from array[start] on."""
    return Position(
        array[start],
        array[start + 1],
        read_legal(array, start + LEGAL),
        array[start + TO_MOVE],
        array[start + PLY],
        array[start + TERMINATED] != ZERO,
    )


def save_position(array: Array, start: int, position: Position) -> None:
    """Store a position from array[start] on."""
    array[start] = position.own
    array[start + 1] = position.opp
    array[start + TO_MOVE] = position.to_move
    array[start + PLY] = position.ply
    array[start + TERMINATED] = position.terminated
    write_legal(array, start + LEGAL, position.legal_bits)
