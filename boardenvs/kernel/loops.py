"""The vocabulary of loops over rules: functions that mean the same in Python and in machine code.

A module of loops imports these names to be read and checked as ordinary Python; `link` compiles it
together with the rules of one game, which define the functions declared at the end. It uses only
what Python and Numba both understand, so that it runs on Python ints and as machine code:

- a word is made with `word(x)`, a signed number with `number(x)`; the two are never mixed;
- a constant word is ZERO, ONE or `word(3)`; words are compared, shifted and combined with words;
- an array is flat: in Python `link` makes it a memoryview, whose elements are Python's own numbers;
- arrays that belong together are fields of a NamedTuple;
- a function that calls itself is called with `number(1)`, never with a bare 1: Numba would compile
  it for that constant alone, and its cache of such a pair crashes (numba issue 6061);
- no complement, no difference that may fall below zero, no sum beyond 64 bits without `wrap`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

Word: TypeAlias = int
Array: TypeAlias = Any

_Function = TypeVar("_Function", bound=Callable[..., Any])

ZERO: Word = 0
ONE: Word = 1
GROUP = 12  # words: what `add_words` and `sum_weights` take at a time


def entry(function: _Function) -> _Function:
    """Marks a function that Python calls: its machine code is kept for other processes."""
    return function


def inline(function: _Function) -> _Function:
    """Marks a function to be put in place of its calls: to pass it a bundle of many arrays, with
    seven words each, would take as long as its work.
    """
    return function


def word(x: Any) -> Word:
    """As a word; `x` must not be negative."""
    return int(x)


def number(x: Any) -> int:
    """As a signed number."""
    return int(x)


def wrap(x: Any) -> Word:
    """Return a sum or product of words, modulo 2**64."""
    return int(x) & 0xFFFF_FFFF_FFFF_FFFF


def popcount(x: Word) -> Word:
    """Return the number of set bits."""
    return x.bit_count()


def trailing_zeros(x: Word) -> Word:
    """Return the index of the lowest set bit; x must not be 0."""
    return (x & -x).bit_length() - 1


def prefetch(array: Array, index: int) -> None:
    """Let the processor fetch an element that will be read soon, if its memory is slow."""


def add_words(array: Array, target: Word, first: Word, second: Word, count: Word) -> None:
    """Write to `target` the sums of the words at `first` and `second`, modulo 2**64.

    `count` is a multiple of GROUP. The target may be `first` or `second`, but not overlap them.
    """
    for k in range(count):
        array[target + k] = wrap(array[first + k] + array[second + k])


def sum_weights(
    weights: Array, start: Word, array: Array, numbers: Word, offsets: Word, count: Word
) -> int:
    """Return the sum of the weights chosen by numbers of 16 bits, four in each of `count` words.

    Each is an index from `start` plus its own offset. `count` is a multiple of GROUP.
    """
    total = 0
    for k in range(4 * count):
        number = (array[numbers + k // 4] >> (16 * (k & 3))) & 0xFFFF
        total += weights[start + array[offsets + k] + number]
    return total


# ---- what the game gives -------------------------------------------------------------------------

DIGIT_COUNT: Word = 0  # digits of a square
SQUARE_COUNT: Word = 0  # squares of the board
BOARD_WORDS: int = 0  # words of a set of squares
WORD_COUNT: int = 0  # words of a position
# Those that tell positions apart: without the key and the repeats, the last two words in a game
# with a history.
KNOWN_WORDS: int = 0
HISTORY: int = 0  # of the last positions, those remembered by their keys
ALTERNATES: bool = False  # whether the turn passes with every ply
LEGAL_WORDS: int = 0  # words of the legal actions
NOOP: int = 0  # the number of the action that passes
MAX_PLY: Word = 0  # the cap on plies, or a number that no game reaches
MARGIN_COUNTS: bool = False  # whether a game is better won by more points, not sooner
# Whether a square may be filled exactly where that captures, see `Game`.
FILLS_BY_CAPTURE: bool = False
HAS_STABLE: bool = False  # whether the game says which squares are stable
HAS_FORCING: bool = False  # whether the game says which moves are forcing
FEATURE_COUNT: int = 0  # features of the game
BOARD: Word = 0  # the squares in play


def step_words(*inputs: Word) -> tuple[Word, ...]:
    """Play a legal action, given a position's words, to_move, ply and the action.

    Returns the words as the side then to move sees them, the words of its legal actions (noop is
    the last bit), which side it is, and 1 if the game is over.
    """
    raise NotImplementedError


def step_words_no_legal(*inputs: Word) -> tuple[Word, ...]:
    """As `step_words`, but leave out the legal actions; often much cheaper."""
    raise NotImplementedError


def words_after(*inputs: Word) -> tuple[Word, ...]:
    """Return only the words after an action, as the side then to move sees them, and which side it
    is, given words, to_move and the action: no legal actions, no end.
    """
    raise NotImplementedError


def begin(*inputs: Word) -> tuple[Word, ...]:
    """Return the words of the legal actions, and 1 if the game is over, given words, to_move and
    ply: what `step_words` says, if the position has not been there before. Only of games with a
    history.
    """
    raise NotImplementedError


def stable(*words: Word) -> tuple[Word]:
    """Return squares of `opp` that it keeps to the end of the game."""
    raise NotImplementedError


def sample(*words: Word) -> tuple[Word]:
    """Return one of the legal actions, all as likely; `words` are theirs, and then random bits."""
    raise NotImplementedError


def points(*inputs: Word) -> tuple[Word, Word]:
    """Return the points of the side to move and of the other side, given words and to_move."""
    raise NotImplementedError


def evaluate(*inputs: Word) -> tuple[Word, Word]:
    """Return the heuristic's values for the side to move and the other, given words, to_move and
    ply.
    """
    raise NotImplementedError


def forcing(*inputs: Word) -> tuple[Word, ...]:
    """Return the words of the legal moves that are forcing, given words, to_move and the legal
    ones.
    """
    raise NotImplementedError


def features(*inputs: Word) -> tuple[Word, ...]:
    """Return the FEATURE_COUNT features of the game, given words, to_move and ply."""
    raise NotImplementedError


def changed(*inputs: Word) -> tuple[Word, ...]:
    """Return the squares whose content differs between two positions, given the words of both."""
    raise NotImplementedError


def digit(*inputs: Word) -> tuple[Word]:
    """Return the kind of piece on a square, from 1, or 0 if it is empty, given words and the
    square.
    """
    raise NotImplementedError


def swap_sides(*words: Word) -> tuple[Word, ...]:
    """Return the words of a position as the other side sees them."""
    raise NotImplementedError


def pieces(*words: Word) -> tuple[Word]:
    """Return how many pieces there are on the board."""
    raise NotImplementedError


def read_words(array: Array, start: int) -> tuple[Word, ...]:
    """Return the words of a position that are stored from array[start] on."""
    raise NotImplementedError


def write_words(array: Array, start: int, words: tuple[Word, ...]) -> None:
    """Write the words of a position from array[start] on."""
    raise NotImplementedError


def read_legal(array: Array, start: int) -> tuple[Word, ...]:
    """Return the words of legal actions that are stored from array[start] on."""
    raise NotImplementedError


def write_legal(array: Array, start: int, legal: tuple[Word, ...]) -> None:
    """Write words of legal actions from array[start] on."""
    raise NotImplementedError
