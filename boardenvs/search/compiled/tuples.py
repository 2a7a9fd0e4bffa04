"""A position judged by tables over tuples of squares.

Each tuple reads its squares as digits, 0 where empty, 1 for own, 2 for opposing pieces, and so is a
number in base three, by which its table is indexed (n-tuple networks, Lucas 2007; the patterns of
Buro's Logistello). All those numbers are sums over the ranks of the board: what the eight squares
of a rank add is looked up by the byte that they are, four numbers in a word at once.
"""

from __future__ import annotations

from typing import NamedTuple

from boardenvs.kernel.loops import ONE, Array, Word, evaluate, inline, number, popcount, word


class TupleTables(NamedTuple):
    """Tuples of squares and their weights; see `boardenvs.search.evaluation.Evaluation`."""

    ranks: Array  # (8 * 256 * width,) words: what each byte of each rank adds to the numbers
    numbers: Array  # (width,) words: room to work in
    offsets: Array  # (4 * width,) numbers: where each tuple's table begins
    weights: Array  # (stages * size,) numbers of 16 bits
    stages: Array  # (130,) numbers, by pieces on the board: where their weights begin, and what
    # the game's heuristic counts for, in 256ths
    width: int  # words for the numbers of all tuples; 0: there are no tables


@inline
def tuple_value(own: Word, opp: Word, to_move: Word, ply: Word, tables: TupleTables) -> int:
    """What the position is worth to the side to move."""
    ranks, numbers, offsets, weights = tables.ranks, tables.numbers, tables.offsets, tables.weights
    width, byte = tables.width, word(255)
    for k in range(width):
        numbers[k] = word(0)
    for rank in range(8):
        shift = word(8 * rank)
        mine = (256 * rank + number((own >> shift) & byte)) * width
        theirs = (256 * rank + number((opp >> shift) & byte)) * width
        for k in range(width):
            numbers[k] += ranks[mine + k] + (ranks[theirs + k] << ONE)
    pieces = number(popcount(own | opp))
    first, total = number(tables.stages[pieces]), number(0)
    for k in range(width):
        four, table = numbers[k], 4 * k
        for place in range(4):
            index = number((four >> word(16 * place)) & word(0xFFFF))
            total += number(weights[first + offsets[table + place] + index])
    share = number(tables.stages[65 + pieces])
    if share != 0:
        a, b = evaluate(own, opp, to_move, ply)
        total += (number(a) - number(b)) * share // 256
    return total
