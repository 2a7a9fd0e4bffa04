"""How the pieces of a side of Lines of Action hang together."""

from __future__ import annotations

from functools import reduce
from operator import add

from boardenvs.board.bitboard import NE, NW, E, N, lowest, neighbours, step
from boardenvs.kernel import ALL, Bits, less, nonzero, popcount, when

MEN = 12  # a side at the start, and so at most


def connected(pieces: Bits) -> Bits:
    """The flag 1 where the pieces, at most twelve, are one 8-connected group, or none."""
    # Groups are at least as many as the Euler number, which is cheap and never below -7.
    one_perhaps = less(euler_number(pieces) + 7 & ALL, 9)
    return when(one_perhaps, _flood, pieces)


def euler_number(pieces: Bits) -> Bits:
    """The number of 8-connected groups less the number of holes in them, modulo 2**64.

    Pieces less neighbouring pairs, plus triples within a 2x2 block, less full blocks: the Euler
    characteristic of the complex whose simplices are the sets of mutual neighbours. Counting a
    board by its 2x2 blocks is Gray's (IEEE Trans. Computers, 1971); its use for this game is
    Winands' (MIA, 2001).
    """
    east, north, northeast = (step(pieces, d) for d in (E, N, NE))
    here = pieces & north
    pairs = [pieces & east, here, pieces & northeast, pieces & step(pieces, NW)]
    triples = [here & east, here & northeast, pieces & east & northeast, east & north & northeast]
    count = popcount(pieces) + reduce(add, [popcount(block) for block in triples])
    full = popcount(here & east & northeast)
    return (count - reduce(add, [popcount(pair) for pair in pairs]) - full) & ALL


def _flood(pieces: Bits) -> Bits:
    """`connected` by breadth-first search from one piece: eleven steps reach the twelfth piece."""
    group = lowest(pieces)
    for _ in range(MEN - 1):
        group = neighbours(group) & pieces
    return nonzero(pieces ^ group) ^ 1
