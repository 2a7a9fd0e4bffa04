"""ProbCut: what a shallow search says for almost certain is not searched deeper.

Where a shallow value is so far above beta, or below alpha, that the deeper one hardly comes back
into the window, it is taken for it (M. Buro, "ProbCut: an effective selective extension of the
alpha-beta algorithm", 1995). Only null windows are cut, so the line that is played is searched in
full, and only where values are points: by the tables of a learnt evaluation.
"""

from __future__ import annotations

from boardenvs.kernel.loops import board, inline, number, popcount
from boardenvs.search.compiled.memory import SearchMemory
from boardenvs.search.compiled.position import Position
from boardenvs.search.compiled.values import DECIDED

SHALLOWEST = 3  # plies of a search that may be cut

# How far a deeper value is from that of half the depth: the standard deviation in hundredths of a
# point, measured on positions of noisy games of Othello at depths 3 to 8.
DEVIATION = 400


@inline
def may_be_cut(position: Position, depth: int, beta: int) -> bool:
    """Not where the search reaches the end of the game, which it has to prove."""
    squares = number(popcount(board() ^ (position.own | position.opp)))
    return SHALLOWEST <= depth < squares and abs(beta) < DECIDED


@inline
def half_depth(depth: int) -> int:
    """The depth of the shallow search: about half, and even where the deep one is.

    Values of odd depths and of even ones differ by who moves last.
    """
    half = depth // 2
    return half - ((half ^ depth) & 1)


@inline
def margin_of(memory: SearchMemory) -> int:
    """How far beyond the window a shallow value must be."""
    return number(memory.probcut * DEVIATION // 100)
