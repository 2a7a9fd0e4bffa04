"""Lines of Action: few groups, near the centre."""

from __future__ import annotations

from functools import reduce
from operator import add

from boardenvs.bitboard import NE, NW, E, N, step
from boardenvs.games.lines_of_action import LinesOfAction
from boardenvs.kernel import ALL, Bits, popcount

GROUP = 30  # what another group costs
RING = 4  # what each piece costs for each ring of squares farther from the centre

# The squares outside the centre's 2x2, 4x4 and 6x6.
_OUTSIDE = tuple(
    sum(
        1 << (8 * y + x)
        for y in range(8)
        for x in range(8)
        if not (low <= x <= 7 - low and low <= y <= 7 - low)
    )
    for low in (3, 2, 1)
)


def evaluate(
    game: LinesOfAction, own: Bits, opp: Bits, to_move: Bits, ply: Bits
) -> tuple[Bits, Bits]:
    """Each side is credited with what the other's position costs."""
    return _cost(opp), _cost(own)


def _cost(pieces: Bits) -> Bits:
    distance = reduce(add, [popcount(pieces & outside) for outside in _OUTSIDE])
    # Twelve pieces enclose few holes: the sum stays above 0.
    return (euler_number(pieces) + 8) * GROUP + distance * RING


def euler_number(pieces: Bits) -> Bits:
    """The number of 8-connected groups less the number of holes in them, modulo 2**64.

    Pieces less neighbouring pairs, plus triples within a 2x2 block, less full blocks: the Euler
    characteristic of the complex whose simplices are the sets of mutual neighbours. Counting a
    board by its 2x2 blocks is Gray's (IEEE Trans. Computers, 1971); its use for this game is
    Winands' (MIA, 2001).
    """
    east, north = step(pieces, E), step(pieces, N)
    northeast, northwest = step(pieces, NE), step(pieces, NW)
    pairs = [pieces & east, pieces & north, pieces & northeast, pieces & northwest]
    blocks = [pieces & east & north, pieces & east & northeast, pieces & north & northeast]
    blocks.append(east & north & northeast)
    count = popcount(pieces) + reduce(add, [popcount(b) for b in blocks])
    full = popcount(pieces & east & north & northeast)
    return (count - reduce(add, [popcount(p) for p in pairs]) - full) & ALL
