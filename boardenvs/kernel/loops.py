"""The vocabulary of loops that `link` compiles together with a game's rules.

A module of loops imports these names to be read and checked as ordinary Python; linked, it gets
the real ones. It is written in what Python and Numba understand alike, so that it runs on Python
ints and as machine code:

- a word is made with `word(x)`, a signed number with `number(x)`; the two are never mixed;
- a constant word is ZERO, ONE or `word(3)`; words are compared, shifted and combined with words;
- an array is flat: in Python it is a memoryview, whose elements are Python's own numbers;
- a function that calls itself is called with `number(1)`, never with a bare 1: Numba would compile
  it for that constant alone, and its cache of such a pair crashes (numba issue 6061);
- no complement, no difference that may fall below zero, no sum beyond 64 bits without `wrap`.
"""

from __future__ import annotations

from typing import Any, TypeAlias

Word: TypeAlias = int
Array: TypeAlias = Any

# A position: own squares, opposing squares, the words of its legal actions, 1 if the game is over.
# A plain tuple of words; its side to move and ply are passed along.
Node: TypeAlias = tuple[Word, ...]

WORDS = 1  # words of legal actions, the last being noop
OVER = WORDS + 2  # where a node says that the game is over
WIDTH = WORDS + 3  # words of a node
MAX_PLY = 0  # the cap on plies, or a number that no game reaches
ZERO: Word = 0
ONE: Word = 1


def word(x: Any) -> Word:
    """As a word; `x` must not be negative."""
    return int(x)


def number(x: Any) -> int:
    """As a signed number."""
    return int(x)


def wrap(x: Any) -> Word:
    """A sum or product of words, modulo 2**64."""
    return int(x) & 0xFFFF_FFFF_FFFF_FFFF


def popcount(x: Word) -> Word:
    """The number of set bits."""
    return x.bit_count()


def trailing_zeros(x: Word) -> Word:
    """The index of the lowest set bit; x must not be 0."""
    return (x & -x).bit_length() - 1


def advance(own: Word, opp: Word, to_move: Word, ply: Word, action: Word) -> Node:
    """The node after a legal action."""
    raise NotImplementedError


def arrive(own: Word, opp: Word, to_move: Word, ply: Word, action: Word) -> tuple[Word, Word, Word]:
    """As `advance`, without the legal words; often much cheaper."""
    raise NotImplementedError


def draw(node: Node, random: Word) -> Word:
    """A legal action of the node, all as likely, by random bits."""
    raise NotImplementedError


def points(own: Word, opp: Word, to_move: Word) -> tuple[Word, Word]:
    """What decides the game, own and opposing."""
    raise NotImplementedError


def evaluate(own: Word, opp: Word, to_move: Word, ply: Word) -> tuple[Word, Word]:
    """What a position is worth, own and opposing."""
    raise NotImplementedError


def load(array: Array, index: int) -> Node:
    """The node stored from array[index] on."""
    raise NotImplementedError


def store(array: Array, index: int, node: Node) -> None:
    """Write a node from array[index] on."""
    raise NotImplementedError
