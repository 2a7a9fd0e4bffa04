"""Sets of squares of a board (8x8 by default) as 64-bit words.

    8 | 56 57 58 59 60 61 62 63        Square s = 8*(y-1) + (x-1) is bit s; x is the
    7 | 48 49 50 51 52 53 54 55        file (a to h), y the rank (1 to 8), north is y + 1.
    6 | 40 41 42 43 44 45 46 47
    5 | 32 33 34 35 36 37 38 39             nw   n   ne          +7  +8  +9
    4 | 24 25 26 27 28 29 30 31               w  .  e            -1   .  +1
    3 | 16 17 18 19 20 21 22 23             sw   s   se          -9  -8  -7
    2 |  8  9 10 11 12 13 14 15
    1 |  0  1  2  3  4  5  6  7
        a  b  c  d  e  f  g  h

On a board of R ranks and C files square s = C*(y-1) + (x-1) is bit s. A set of more than 64 squares
is one value in rules and several words everywhere else.

Functions on `Bits` run unchanged on Python ints, on uint64 arrays and on traced symbols (see
`boardenvs.kernel`); none of them branches on data.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import ContextVar
from functools import lru_cache, reduce
from operator import or_
from string import ascii_lowercase
from typing import NamedTuple

from boardenvs.kernel import ALL, Bits, Table, Word, less, nonzero, popcount, spread
from boardenvs.utils.checks import quote

SIZE = 8  # ranks, and files, of the default board
LARGEST = 16  # of any board


class Board(NamedTuple):
    """A rectangle of squares: its ranks and its files, 1 to 16 each."""

    rows: int
    columns: int

    @property
    def size(self) -> int:
        """The number of squares."""
        return self.rows * self.columns

    @property
    def words(self) -> int:
        """The number of 64-bit words that hold a set of squares."""
        return -(-self.size // 64)

    @property
    def all(self) -> int:
        """The set of all squares."""
        return (1 << self.size) - 1

    def rank(self, y: int) -> int:
        """Return the set of the squares of a rank, the lowest being 0."""
        return ((1 << self.columns) - 1) << self.columns * y

    def file(self, x: int) -> int:
        """Return the set of the squares of a file, a being 0."""
        return sum(1 << self.columns * y + x for y in range(self.rows))

    @property
    def directions(self) -> tuple[Direction, ...]:
        """The eight ways to a neighbour, clockwise from north, in which y grows."""
        steps = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))
        return tuple(Direction(n, *s, self) for n, s in zip(_COMPASS, steps, strict=True))


# The board of the rule that is being run.
PLAYED_ON: ContextVar[Board | None] = ContextVar("PLAYED_ON", default=None)

_COMPASS = ("n", "ne", "e", "se", "s", "sw", "w", "nw")
EIGHT = Board(8, 8)


class Direction(NamedTuple):
    """A direction: name, steps in x and y, and the board, by default 8x8."""

    name: str
    dx: int
    dy: int
    board: Board = EIGHT

    @property
    def shift(self) -> int:
        """The shift of one step to the left in a word; negative is to the right."""
        return self.board.columns * self.dy + self.dx

    @property
    def reach(self) -> int:
        """The squares that a step can end on: a step that leaves the board wraps to the others.

        ValueError in the rules of a game with another board.
        """
        return reach(self, 1)

    @property
    def inner(self) -> int:
        """The squares between two others in this direction."""
        return self.reach & self.opposite.reach

    def check_board(self, board: Board | None) -> None:
        """ValueError if the game is played on another board."""
        if board not in (None, self.board):
            here, there = ("x".join(map(str, x)) for x in (self.board, board))
            raise ValueError(
                f"the direction {self.name!r} is one of a board of {here}, in a game on {there}: "
                "take it from `self.board.directions`"
            )

    def move(self, bits: Bits, count: int = 1) -> Bits:
        """Return all squares moved by this number of steps in the word; edges are the caller's."""
        return move(bits, self.shift * count)

    @property
    def opposite(self) -> Direction:
        """The way back."""
        back = self._replace(dx=-self.dx, dy=-self.dy)
        return next((d for d in self.board.directions if d[1:] == back[1:]), back)


class Lanes(NamedTuple):
    """Several directions at once, each in a lane of a vector, which rules use as a `Direction`."""

    board: Board
    shift: Bits  # to the left, modulo 64
    reach: Bits
    back: Bits  # what the opposite directions reach

    @property
    def inner(self) -> Bits:
        return self.reach & self.back

    @property
    def opposite(self) -> Lanes:
        return Lanes(self.board, 64 - self.shift, self.back, self.reach)

    def move(self, bits: Bits, count: int = 1) -> Bits:
        """As `Direction.move`. What leaves the word comes in at its other end, beyond an edge."""
        distance = self.shift * count & 63
        return bits << distance | bits >> (64 - distance)


@lru_cache(maxsize=2048)
def _reach(direction: Direction, count: int) -> int:
    (rows, columns), dx, dy = direction.board, count * direction.dx, count * direction.dy
    return sum(
        1 << columns * y + x
        for y in range(rows)
        for x in range(columns)
        if 0 <= x - dx < columns and 0 <= y - dy < rows
    )


DIRECTIONS = EIGHT.directions  # in the order of the action numbers
FILE_A, FILE_H, RANK_1 = EIGHT.file(0), EIGHT.file(7), EIGHT.rank(0)
N, NE, E, SE, S, SW, W, NW = DIRECTIONS


def rings(board: Board) -> list[int]:
    """Return all squares of a square board, those that are not on its edge, and so on inwards: on
    8x8 64, 36, 16 and 4.
    """
    n = board.columns
    return [
        sum(((1 << n - 2 * k) - 1) << n * y + k for y in range(k, n - k))
        for k in range((n + 1) // 2)
    ]


def move(bits: Bits, shift: int) -> Bits:
    """Return all squares moved by `shift` bits, left if positive; edges are the caller's."""
    return bits << shift if shift > 0 else bits >> -shift


def step(bits: Bits, direction: Direction | Lanes) -> Bits:
    """Return all squares moved one step; those that would leave the board are gone."""
    return direction.move(bits) & direction.reach


def union(
    function: Callable[..., Bits], *words: Bits, directions: Sequence[Direction] = DIRECTIONS
) -> Bits:
    """Return the union of `function(direction, *words)` over directions on a board of one word.

    Machine code for one board computes all of them at once.
    """
    for word in words:
        if isinstance(word, Word) and word.program.target == "lanes":
            rows = [(d.shift & 63, d.reach, d.opposite.reach) for d in directions]

            def in_lanes(shift: Bits, reach: Bits, back: Bits, *words: Bits) -> Bits:
                return function(Lanes(directions[0].board, shift, reach, back), *words)

            return word.union(in_lanes, rows, words)
    return reduce(or_, (function(direction, *words) for direction in directions))


def steps(bits: Bits, direction: Direction, count: int) -> Bits:
    """Return all squares moved `count` steps; those that would leave the board are gone."""
    return move(bits, direction.shift * count) & reach(direction, count)


def reach(direction: Direction, count: int) -> int:
    """Return the squares on which `count` steps can end without having left the board."""
    direction.check_board(PLAYED_ON.get())
    return _reach(direction, count)


def ray(square: int, direction: Direction) -> int:
    """Return the squares from `square` (excluded) to the edge of the board."""
    squares, bit = 0, step(1 << square, direction)
    while bit:
        squares |= bit
        bit = step(bit, direction)
    return squares


def fill(start: Bits, through: Bits, direction: Direction | Lanes, longest: int = 0) -> Bits:
    """Return the squares of `through` that `start` (excluded) reaches in `direction` without a gap.

    `longest` bounds their number in one line, by default as the board does. On one board a loop
    ends with the longest run there is, mostly a short one; a batch goes the full distance, in
    doubling steps after Kogge and Stone,
    https://www.chessprogramming.org/Kogge-Stone_Algorithm.
    """
    move, through = direction.move, through & direction.reach
    if isinstance(start, Word) and start.program.target == "scalar":
        return start.fill(through, direction.shift)
    if isinstance(start, int):
        front = filled = move(start) & through
        while front:
            front = move(front) & through
            filled |= front
        return filled
    filled = through & move(start)
    filled = filled | (through & move(filled))
    pairs = through & move(through)
    for _ in range(2, longest or max(direction.board) - 1, 2):
        filled = filled | (pairs & move(filled, 2))
    return filled


def by_role(own: Bits, opp: Bits, to_move: Bits, squares: int = ALL) -> tuple[Bits, Bits]:
    """Return the sets of the role that moves first and of the other one."""
    swap = (own ^ opp) & spread(to_move, squares)
    return own ^ swap, opp ^ swap


def all_empty(sets: Iterable[Bits]) -> Bits:
    """Return the flag 1 where none of the sets has a square, such as the moves of a side without
    any.
    """
    return nonzero(reduce(or_, sets)) ^ 1


def lowest(bits: Bits) -> Bits:
    """Return the lowest square alone."""
    return bits & (0 - bits)


def highest(bits: Bits, board: Board = EIGHT) -> Bits:
    """Return the highest square alone: all bits below it are set, then all but it cleared."""
    for digit in range((board.size - 1).bit_length()):
        bits = bits | (bits >> (1 << digit))
    return bits ^ (bits >> 1)


def rank_of(bit: Bits) -> Bits:
    """Rank 0 to 7 of a single square (8 for the empty set)."""
    return popcount((bit - 1) & ALL) >> 3


def neighbours(bits: Bits, board: Board = EIGHT) -> Bits:
    """Return the squares themselves and all their neighbours in the eight directions."""
    north, _, east, _, south, _, west, _ = board.directions
    row = bits | step(bits, east) | step(bits, west)
    return row | step(row, north) | step(row, south)


def select(bits: Bits, k: Bits) -> Bits:
    """Return the index of the k-th lowest set bit, k from 0; k must be less than popcount(bits).

    Binary search over popcounts of halves kept in one word, as in "Select the bit position (from
    the most-significant bit) with the given count", Bit Twiddling Hacks,
    https://graphics.stanford.edu/~seander/bithacks.html#SelectPosFromMSBRank.
    """
    pairs = bits - ((bits >> 1) & 0x5555555555555555)
    nibbles = (pairs & 0x3333333333333333) + ((pairs >> 2) & 0x3333333333333333)
    bytes_ = (nibbles + (nibbles >> 4)) & 0x0F0F0F0F0F0F0F0F
    # Byte j of `upto`: how many bits are set in bytes 0 to j.
    upto = (bytes_ * FILE_A) & ALL
    # A byte's top bit survives where k has not been reached by it; the count is the byte sought.
    byte = popcount((((k * FILE_A) | (FILE_A << 7)) - upto) & (FILE_A << 7))
    k = k - (((upto << 8) >> (byte << 3)) & 0xFF)
    place = byte << 3
    for counts, width, mask in ((nibbles, 4, 0xF), (pairs, 2, 0x3), (bits, 1, 0x1)):
        count = (counts >> place) & mask
        beyond = less(k, count) ^ 1
        k = k - (count & spread(beyond))
        place = place + beyond * width
    return place


def square_name(square: int, board: Board = EIGHT, files: str = ascii_lowercase) -> str:
    """0 -> "a1", 63 -> "h8"; files: their letters."""
    y, x = divmod(square, board.columns)
    return f"{files[x]}{y + 1}"


def parse_square(text: str, board: Board = EIGHT, files: str = ascii_lowercase) -> int:
    """Return the square with this name, "a1" -> 0, "h8" -> 63; ValueError for anything else."""
    square = _named(board, files).get(text)
    if square is None:
        squares = f"a1 to {square_name(board.size - 1, board, files)}{gap(board, files)}"
        raise ValueError(f"{quote(text)} is not a square: squares are {squares}, file then rank")
    return square


def gap(board: Board, files: str) -> str:
    """Return " without i" if the board's files skip that letter, else ""."""
    return " without i" if board.columns > 8 and "i" not in files else ""


@lru_cache(maxsize=64)
def _named(board: Board, files: str) -> dict[str, int]:
    return {square_name(square, board, files): square for square in range(board.size)}


def from_squares(squares: Iterable[int | str], board: Board = EIGHT) -> int:
    """Return the set of these squares, given as numbers or names."""
    bits = 0
    for square in squares:
        bits |= 1 << (parse_square(square, board) if isinstance(square, str) else square)
    return bits


@lru_cache(maxsize=64)
def each_square(board: Board = EIGHT, others: int = 1) -> Table:
    """Return the set of each square alone, and then empty sets for `others`, such as noop."""
    return Table([*(1 << square for square in range(board.size)), *[0] * others], board.words)


def drawn(sets: Iterable[tuple[str, int]], size: int, empty: str = ".") -> str:
    """Return the squares of a board of this size, a1 first: each the sign of the first set that has
    it.
    """
    signs = [*sets, (empty, -1)]
    return "".join(
        next(sign for sign, bits in signs if bits >> square & 1) for square in range(size)
    )


def joined(ranks: Iterable[str]) -> str:
    """Ranks in one line, with numbers of empty squares: "8/3br3/8"."""
    return re.sub(r"\.+", lambda run: str(len(run[0])), "/".join(ranks))


def squares_of(bits: int) -> Iterator[int]:
    """The squares of one board's set, lowest first."""
    while bits:
        yield (bits & -bits).bit_length() - 1
        bits &= bits - 1
