"""A position judged by tables of weights, over tuples of squares and over the game's features.

Each tuple reads its squares as digits, 0 where empty, 1 for own, 2 for opposing pieces, and so is a
number in base three, by which its table is indexed (n-tuple networks, Lucas 2007; the patterns of
Buro's Logistello). All those numbers are sums over the ranks of the board: what the eight squares
of a rank add is looked up by the byte that they are, four numbers in a word at once.
"""

from __future__ import annotations

from typing import NamedTuple

from boardenvs.kernel.loops import (
    ONE,
    Array,
    Word,
    evaluate,
    feature_count,
    features,
    number,
    popcount,
    word,
)


class TupleTables(NamedTuple):
    """Tuples of squares, features, and their weights; see `boardenvs.search.evaluation`.

    Few arrays, since each takes the time to pass seven words. `words` has, one after the other,
    what each byte of each rank adds to the numbers of the tuples, (8, 256, width); where the table
    of each tuple begins in a row of the weights, (width, 4); where the row begins for so many
    pieces on the board, (65,); room for the numbers, (width,); and where the table of each feature
    begins in a row. A row of the weights begins with what the game's heuristic counts for, in
    256ths.
    """

    words: Array
    weights: Array  # (stages * row,) numbers of 16 bits
    width: int  # words for the numbers of all tuples; 0: there are none
    featured: int  # 1: the game's features are weighed; 0: they are not


def tuple_value(own: Word, opp: Word, to_move: Word, ply: Word, tables: TupleTables) -> int:
    """What the position is worth to the side to move."""
    words, weights, width = tables.words, tables.weights, tables.width
    offsets = 8 * 256 * width
    rows = offsets + 4 * width
    room = rows + 65
    for k in range(room, room + width):
        words[k] = word(0)
    for rank in range(8):
        shift, byte = word(8 * rank), word(255)
        mine = (256 * rank + number((own >> shift) & byte)) * width
        theirs = (256 * rank + number((opp >> shift) & byte)) * width
        for k in range(width):
            words[room + k] += words[mine + k] + (words[theirs + k] << ONE)
    row = number(words[rows + number(popcount(own | opp))])
    total = number(0)
    for k in range(width):
        four, table = words[room + k], offsets + 4 * k
        for place in range(4):
            index = number((four >> word(16 * place)) & word(0xFFFF))
            total += number(weights[row + number(words[table + place]) + index])
    if tables.featured == 1:
        found = features(own, opp, to_move, ply)
        table = room + width
        for k in range(feature_count()):
            total += number(weights[row + number(words[table + k]) + number(found[k])])
    share = number(weights[row])
    if share != 0:
        a, b = evaluate(own, opp, to_move, ply)
        total += (number(a) - number(b)) * share // 256
    return total
