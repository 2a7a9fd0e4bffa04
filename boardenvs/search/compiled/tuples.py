"""Value of a position by tables of weights, over tuples of squares and over the game's features.

Each tuple reads its squares as digits, 0 for an empty square, else the kind of its piece (in most
games 1 for own, 2 for opposing pieces): a number that indexes its table (n-tuple networks, Lucas
2007; the patterns of Buro's Logistello). Search judges many similar positions. So the numbers of
one position are stored, and numbers of others are computed from them, changed square by square,
four numbers in a word at once.
"""

from __future__ import annotations

from typing import NamedTuple

from boardenvs.kernel.loops import (
    BOARD_WORDS,
    DIGIT_COUNT,
    FEATURE_COUNT,
    ONE,
    SQUARE_COUNT,
    WORD_COUNT,
    ZERO,
    Array,
    Word,
    add_words,
    changed,
    digit,
    features,
    inline,
    number,
    pieces,
    read_words,
    sum_weights,
    trailing_zeros,
    word,
    write_words,
)


class TupleTables(NamedTuple):
    """Tuples of squares, features, and their weights; see `boardenvs.search.evaluation`.

    They are few arrays, since passing each costs the time of seven words. `words` has, one after
    the other: the change of the tuples' numbers when a square's digit changes from one to another,
    (squares, digits, digits, width); the start of each tuple's table in a row of the weights,
    (width, 4); the start of the row for each number of pieces on the board, (squares + 1,); the
    start of each feature's table in a row; for each side to move the stored position, its words and
    its numbers, (2, words + width); and room for the numbers of another one, (width,).
    """

    words: Array
    weights: Array  # (stages * row,) numbers of 16 bits
    width: int  # words for the numbers of all tuples; 0: no tuples
    featured: int  # 1: with the game's features; 0: without


@inline
def offsets_of(tables: TupleTables) -> Word:
    """Start of the tables' offsets in the words."""
    return SQUARE_COUNT * DIGIT_COUNT * DIGIT_COUNT * word(tables.width)


@inline
def kept_position(to_move: Word, tables: TupleTables) -> Word:
    """Start of the stored position of this side to move in the words."""
    width = word(tables.width)
    starts = word(4) * width + SQUARE_COUNT + ONE + word(FEATURE_COUNT)
    return offsets_of(tables) + starts + to_move * (width + word(WORD_COUNT))


def keep_position(position: tuple[Word, ...], to_move: Word, tables: TupleTables) -> None:
    """Store this position, to which the next ones are similar."""
    if tables.width > 0:
        kept = kept_position(to_move, tables)
        numbers = kept + word(WORD_COUNT)
        change_numbers(numbers, numbers, position, read_words(tables.words, kept), tables)
        write_words(tables.words, kept, position)


def forget_positions(tables: TupleTables) -> None:
    """Store the empty board: an interrupted search may have left an invalid position."""
    if tables.width > 0:
        for k in range(kept_position(word(0), tables), kept_position(word(2), tables)):
            tables.words[k] = word(0)


@inline
def change_numbers(
    target: Word,
    source: Word,
    position: tuple[Word, ...],
    before: tuple[Word, ...],
    tables: TupleTables,
) -> Word:
    """Compute the numbers of a position from the numbers at `source`, of the position before, and
    write them to `target`; return their place, `source` if nothing changed.
    """
    width = word(tables.width)
    squares = changed(*position, *before)
    for k in range(BOARD_WORDS):
        left = squares[k]
        while left != ZERO:
            square = word(64 * k) + trailing_zeros(left)
            left &= left - ONE
            digits = DIGIT_COUNT * square + digit(*before, square)[0]
            change = (DIGIT_COUNT * digits + digit(*position, square)[0]) * width
            add_words(tables.words, target, source, change, width)
            source = target
    return source


def tuple_value(position: tuple[Word, ...], to_move: Word, ply: Word, tables: TupleTables) -> int:
    """Return the value of the position to the side to move."""
    words, weights, width = tables.words, tables.weights, word(tables.width)
    offsets, kept = offsets_of(tables), kept_position(to_move, tables)
    row = words[offsets + word(4) * width + pieces(*position)[0]]
    room, source = kept_position(word(2), tables), kept + word(WORD_COUNT)
    numbers = change_numbers(room, source, position, read_words(words, kept), tables)
    total = sum_weights(weights, row, words, numbers, offsets, width)
    if tables.featured == 1:
        counted = features(*position, to_move, ply)
        table = offsets + word(4) * width + SQUARE_COUNT + ONE
        for i in range(FEATURE_COUNT):
            total += number(weights[row + words[table + word(i)] + counted[i]])
    return total
