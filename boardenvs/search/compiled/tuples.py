"""A position judged by tables of weights, over tuples of squares and over the game's features.

Each tuple reads its squares as digits, 0 where empty, else by the kind of what is there (in most
games 1 for own, 2 for opposing pieces), and so is a number, by which its table is indexed (n-tuple
networks, Lucas 2007; the patterns of Buro's Logistello). Search judges many positions that are
alike. So the numbers of one of them are kept, and those of another are made of them, square by
square where the two are different, four numbers in a word at once.
"""

from __future__ import annotations

from typing import NamedTuple

from boardenvs.kernel.loops import (
    ONE,
    ZERO,
    Array,
    Word,
    add_words,
    board_words,
    changed,
    digit,
    digit_count,
    evaluate,
    feature_count,
    features,
    inline,
    number,
    pieces,
    read_words,
    square_count,
    sum_weights,
    trailing_zeros,
    word,
    word_count,
    write_words,
)


class TupleTables(NamedTuple):
    """Tuples of squares, features, and their weights; see `boardenvs.search.evaluation`.

    Few arrays, since each takes the time to pass seven words. `words` has, one after the other,
    what each square adds to the numbers of the tuples where its digit changes from one to another,
    (squares, digits, digits, width); where the table of each tuple begins in a row of the weights,
    (width, 4); where the row begins for so many pieces on the board, (squares + 1,); where the
    table of each feature begins in a row; for each side to move the position that others are
    compared with, its words and its numbers, (2, words + width); and room for the numbers of
    another, (width,). A row of the weights begins with what the game's heuristic counts for, in
    256ths.
    """

    words: Array
    weights: Array  # (stages * row,) numbers of 16 bits
    width: int  # words for the numbers of all tuples; 0: there are none
    featured: int  # 1: the game's features are weighed; 0: they are not


@inline
def offsets_of(tables: TupleTables) -> Word:
    """Where in the words the tables' offsets begin."""
    return square_count() * digit_count() * digit_count() * word(tables.width)


@inline
def kept_position(to_move: Word, tables: TupleTables) -> Word:
    """Where in the words the position begins that those of this side to move are compared with."""
    width = word(tables.width)
    starts = word(4) * width + square_count() + ONE + word(feature_count())
    return offsets_of(tables) + starts + to_move * (width + word(word_count()))


def keep_position(position: tuple[Word, ...], to_move: Word, tables: TupleTables) -> None:
    """Compare with this position from now on: those that are judged next are like it."""
    if tables.width > 0:
        kept = kept_position(to_move, tables)
        numbers = kept + word(word_count())
        change_numbers(numbers, numbers, position, read_words(tables.words, kept), tables)
        write_words(tables.words, kept, position)


def forget_positions(tables: TupleTables) -> None:
    """Compare with the empty board: an interrupted search may have left what is of no position."""
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
    """Make the numbers at `source`, which are those of the position before, those of another, at
    `target`; or leave them where they are, if they are the same. Returns where.
    """
    width = word(tables.width)
    squares = changed(*position, *before)
    for k in range(board_words()):
        left = squares[k]
        while left != ZERO:
            square = word(64 * k) + trailing_zeros(left)
            left &= left - ONE
            digits = digit_count() * square + digit(*before, square)[0]
            change = (digit_count() * digits + digit(*position, square)[0]) * width
            add_words(tables.words, target, source, change, width)
            source = target
    return source


def tuple_value(position: tuple[Word, ...], to_move: Word, ply: Word, tables: TupleTables) -> int:
    """The value of the position of these words to the side to move."""
    words, weights, width = tables.words, tables.weights, word(tables.width)
    offsets, kept = offsets_of(tables), kept_position(to_move, tables)
    row = words[offsets + word(4) * width + pieces(*position)[0]]
    room, source = kept_position(word(2), tables), kept + word(word_count())
    numbers = change_numbers(room, source, position, read_words(words, kept), tables)
    total = sum_weights(weights, row, words, numbers, offsets, width)
    if tables.featured == 1:
        counted = features(*position, to_move, ply)
        table = offsets + word(4) * width + square_count() + ONE
        for i in range(feature_count()):
            total += number(weights[row + words[table + word(i)] + counted[i]])
    share = number(weights[row])
    if share != 0:
        a, b = evaluate(*position, to_move, ply)
        total += (number(a) - number(b)) * share // 256
    return total
