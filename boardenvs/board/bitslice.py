"""Numbers in bit slices: a list of words, lowest binary digit first, one number a square.

Adding such lists adds 64 numbers at once; see
https://www.chessprogramming.org/Population_Count#Odd_and_Major_Digit_Counts.
"""

from __future__ import annotations

from collections.abc import Sequence

from boardenvs.board.bitboard import EIGHT, FILE_A, RANK_1, Direction, steps
from boardenvs.kernel import ALL, Bits, spread


def add(a: Sequence[Bits], b: Sequence[Bits]) -> list[Bits]:
    """Return the sums of two equally long lists, one digit longer."""
    carry, total = a[0] & b[0], [a[0] ^ b[0]]
    for x, y in zip(a[1:], b[1:], strict=True):
        half = x ^ y
        total.append(half ^ carry)
        carry = (x & y) | (half & carry)
    return [*total, carry]


def line_counts(bits: Bits, axis: Direction) -> list[Bits]:
    """Element k: the squares whose whole line along `axis` holds exactly k of `bits`, for each k
    below the length of a rank or file, so 0 to 7 on 8x8.
    """
    if axis.board == EIGHT and axis.dy == 0:
        counts = _rank_counts(bits)
    elif axis.board == EIGHT and axis.dx == 0:
        counts = _file_counts(bits)
    else:
        ahead = [steps(digit, axis.opposite, 1) for digit in _counts_behind(bits, axis.opposite)]
        counts = add(_counts_behind(bits, axis), ahead)
    ones, twos, fours, eights = counts[:4]
    low = [~(ones | twos), ones & ~twos, twos & ~ones, ones & twos]
    high = [~(fours | eights) & axis.board.all, fours & ~eights]
    if max(axis.board) > 8:
        high += [eights & ~fours, fours & eights]
    return [low[k % 4] & high[k // 4] for k in range(max(axis.board))]


def _rank_counts(bits: Bits) -> list[Bits]:
    """Sums within the bytes, and each digit spread over its byte by a multiplication."""
    pairs = bits - ((bits >> 1) & 0x5555555555555555)
    nibbles = (pairs & 0x3333333333333333) + ((pairs >> 2) & 0x3333333333333333)
    bytes_ = (nibbles + (nibbles >> 4)) & 0x0F0F0F0F0F0F0F0F
    return [(((bytes_ >> digit) & FILE_A) * RANK_1) & ALL for digit in range(4)]


def _file_counts(bits: Bits) -> list[Bits]:
    """Sums over rotations by whole ranks: each adds as many ranks as there are in the sum."""
    digits = [bits]
    for distance in (8, 16, 32):
        digits = add(
            digits, [(digit << distance) & ALL | digit >> (64 - distance) for digit in digits]
        )
    return digits


def _counts_behind(bits: Bits, direction: Direction) -> list[Bits]:
    """Return how many of `bits` lie on a square or behind it, seen in `direction`, in doubling
    steps.
    """
    digits = [bits]
    for distance in (1, 2, 4) if max(direction.board) <= 8 else (1, 2, 4, 8):
        digits = add(digits, [steps(digit, direction, distance) for digit in digits])
    return digits


def countdown(ply: Bits, limit: int | None, squares: int = ALL) -> tuple[Bits, ...]:
    """Return the plies left before `limit` in binary, each digit spread over the squares.

    No words without a limit; past it the digits mean nothing.
    """
    return () if limit is None else digits(limit - ply, limit + 1, squares)


def digits(number: Bits, size: int, squares: int = ALL) -> tuple[Bits, ...]:
    """Return a number below `size` in binary, lowest digit first, each spread over the squares."""
    return tuple(spread((number >> digit) & 1, squares) for digit in range((size - 1).bit_length()))
