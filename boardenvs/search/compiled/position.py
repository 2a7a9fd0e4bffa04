"""A position in compiled search: its moves, end and random games, and its layout in an array."""

from __future__ import annotations

from typing import NamedTuple

from boardenvs.kernel.loops import (
    ALTERNATES,
    HISTORY,
    LEGAL_WORDS,
    MAX_PLY,
    ONE,
    WORD_COUNT,
    ZERO,
    Array,
    Word,
    begin,
    inline,
    number,
    points,
    popcount,
    read_legal,
    read_words,
    sample,
    step_words,
    word,
    wrap,
    write_legal,
    write_words,
)
from boardenvs.utils.splitmix import GOLDEN, mix

# Layout of a position in an array: to_move, ply, terminated, the legal actions, its words.
TO_MOVE, PLY, TERMINATED, LEGAL = 0, 1, 2, 3


class PackedPosition(NamedTuple):
    """A position as words, with the fields of `boardenvs.Position`."""

    words: tuple[Word, ...]
    legal_bits: tuple[Word, ...]
    to_move: Word
    ply: Word
    terminated: bool


def play(position: PackedPosition, action: Word) -> PackedPosition:
    """Return the position after a legal action."""
    after = step_words(*position.words, position.to_move, position.ply, action)
    return PackedPosition(
        after[:WORD_COUNT],
        after[WORD_COUNT:-2],
        position.to_move ^ ONE if ALTERNATES else after[-2],
        position.ply + ONE,
        after[-1] != ZERO,
    )


@inline
def key_of_words(words: tuple[Word, ...]) -> Word:
    """Return the key by which a game with a history remembers the position of these words."""
    return words[WORD_COUNT - 2]


@inline
def with_repeats(words: tuple[Word, ...], repeats: Word) -> tuple[Word, ...]:
    """Return the words of a position that has been there so often, in a game with a history."""
    return words[: WORD_COUNT - 1] + (repeats,)  # noqa: RUF005 - as Numba has it


@inline
def count_key(key: Word, keys: Array, start: int, count: int) -> Word:
    """Return how many of the keys from keys[start] on are this one."""
    repeats = ZERO
    for k in range(start, start + count):
        if keys[k] == key:
            repeats += ONE
    return repeats


def repeated(position: PackedPosition, repeats: Word) -> PackedPosition:
    """Return the position after `play`, if it has been there so often."""
    words = with_repeats(position.words, repeats)
    after = begin(*words, position.to_move, position.ply)
    return PackedPosition(words, after[:-1], position.to_move, position.ply, after[-1] != ZERO)


@inline
def sign_of(to_move: Word, then: Word) -> int:
    """Return the sign of later values for the side that made a ply: -1, or 1 if it moves again."""
    return -1 if ALTERNATES or to_move != then else 1


def is_final(terminated: bool, ply: Word) -> bool:
    """Return whether the game is over, by its rules or its cap on plies."""
    return terminated or ply >= MAX_PLY


def mobility(position: PackedPosition) -> int:
    """Return the number of legal actions."""
    count = ZERO
    for k in range(LEGAL_WORDS):
        count += popcount(position.legal_bits[k])
    return number(count)


def next_choice(position: PackedPosition) -> PackedPosition:
    """Return the next position that leaves its side a choice, or where the game is over.

    So an exchange of captures that must be made is one step in the tree, and no evaluator judges it
    halfway. In games whose turns alternate or that remember positions each ply is a step.
    """
    if not ALTERNATES and not HISTORY:
        while mobility(position) == 1 and not is_final(position.terminated, position.ply):
            position = play(position, sample(*position.legal_bits, ZERO)[0])
    return position


def final_margin(words: tuple[Word, ...], to_move: Word) -> int:
    """Return the points by which the side to move leads in a final position."""
    mine, theirs = points(*words, to_move)
    return number(mine) - number(theirs)


def outcome(position: PackedPosition) -> int:
    """Return the result of a final position to its side to move: 1, 0 or -1."""
    margin = final_margin(position.words, position.to_move)
    return (1 if margin > 0 else 0) - (1 if margin < 0 else 0)


def playout(position: PackedPosition, seed: Word, keys: Array) -> int:
    """Return the result of one random game from here to the side to move here: 1, 0 or -1.

    Each choice depends on the seed and the number of the ply alone. `keys` are those of the
    positions before, (HISTORY,) words, the earliest first; they are overwritten in turn.
    """
    sign, place = 1, 0
    while not is_final(position.terminated, position.ply):
        seed = wrap(seed + word(GOLDEN))
        to_move, key = position.to_move, key_of_words(position.words)
        position = play(position, sample(*position.legal_bits, mix(seed))[0])
        sign *= sign_of(to_move, position.to_move)
        if HISTORY:
            keys[place] = key
            place = place + 1 if place + 1 < HISTORY else 0
            repeats = count_key(key_of_words(position.words), keys, 0, HISTORY)
            if repeats > ZERO:
                position = repeated(position, repeats)
    return sign * outcome(position)


def load_position(array: Array, start: int) -> PackedPosition:
    """Read the position stored at array[start]."""
    return PackedPosition(
        read_words(array, start + LEGAL + LEGAL_WORDS),
        read_legal(array, start + LEGAL),
        array[start + TO_MOVE],
        array[start + PLY],
        array[start + TERMINATED] != ZERO,
    )


def save_position(array: Array, start: int, position: PackedPosition) -> None:
    """Store a position at array[start]."""
    array[start + TO_MOVE] = position.to_move
    array[start + PLY] = position.ply
    array[start + TERMINATED] = position.terminated
    write_legal(array, start + LEGAL, position.legal_bits)
    write_words(array, start + LEGAL + LEGAL_WORDS, position.words)
