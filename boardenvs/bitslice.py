"""Numbers in bit slices: a list of words, lowest binary digit first, one number a square.

Adding such lists adds 64 numbers at once; see
https://www.chessprogramming.org/Population_Count#Odd_and_Major_Digit_Counts.
"""

from __future__ import annotations

from collections.abc import Sequence

from boardenvs.bitboard import Direction, steps
from boardenvs.kernel import ALL, Bits, spread


def add(a: Sequence[Bits], b: Sequence[Bits]) -> list[Bits]:
    """The sums of two equally long lists, one digit longer."""
    carry, total = a[0] & b[0], [a[0] ^ b[0]]
    for x, y in zip(a[1:], b[1:], strict=True):
        half = x ^ y
        total.append(half ^ carry)
        carry = (x & y) | (half & carry)
    return [*total, carry]


def line_counts(bits: Bits, axis: Direction) -> list[Bits]:
    """Element k, 0 to 7: the squares whose whole line along `axis` holds exactly k of `bits`."""
    upto = _counts_behind(bits, axis)
    ahead = [steps(digit, axis.opposite, 1) for digit in _counts_behind(bits, axis.opposite)]
    ones, twos, fours, eights, _ = add(upto, ahead)
    low = [~(ones | twos), ones & ~twos, twos & ~ones, ones & twos]
    high = [~(fours | eights) & ALL, fours & ~eights]
    return [low[k % 4] & high[k // 4] for k in range(8)]


def _counts_behind(bits: Bits, direction: Direction) -> list[Bits]:
    """How many of `bits` lie on a square or behind it, seen in `direction`, in doubling steps."""
    digits = [bits]
    for distance in (1, 2, 4):
        digits = add(digits, [steps(digit, direction, distance) for digit in digits])
    return digits


def countdown(ply: Bits, limit: int | None) -> tuple[Bits, ...]:
    """The plies left before `limit` in binary, each digit spread over a whole word.

    No words without a limit; past it the digits mean nothing.
    """
    if limit is None:
        return ()
    left = limit - ply
    return tuple(spread((left >> digit) & 1) for digit in range(limit.bit_length()))
