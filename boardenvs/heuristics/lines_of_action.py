"""Lines of Action: few groups, near the centre."""

from __future__ import annotations

from functools import reduce
from operator import add

from boardenvs.games.lines_of_action import LinesOfAction, euler_number
from boardenvs.kernel import Bits, popcount

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
    # Twelve pieces cannot enclose eight holes: the sum stays above 0.
    return (euler_number(pieces) + 8) * GROUP + distance * RING
