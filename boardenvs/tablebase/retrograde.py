"""Retrograde analysis: from the ends of a game back to all its positions.

The idea is Ströhlein's (1970) and Thompson's, https://www.chessprogramming.org/Retrograde_Analysis;
this form looks forward instead of un-making moves. Ply by ply away from the ends it decides the
positions all of whose moves, or one winning move, are known, and forgets the moves that are.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from boardenvs.game.state import BoolArray, Int8Array, IntArray

# What is being done, how much of it is done, and of how much.
Report = Callable[[str, int, int], None]


def solve(
    ends: Int8Array, sources: IntArray, targets: IntArray, report: Report | None = None
) -> IntArray:
    """Who wins each of N positions with perfect play, and in how many plies, (N,) int16.

    Move i leads from position `sources[i]` to `targets[i]`, (E,) each, and passes the turn. `ends`,
    (N,), is 1 where the game is over and the side to move has won, -1 where it has lost, else 0;
    no move leaves such a position. The result is d + 1 where the side to move wins in d plies at
    most, -(d + 1) where it loses in d plies at the earliest, and 0 where neither side can force an
    end. A winner hurries and a loser delays.
    """
    codes = ends.astype(np.int16)
    waiting = np.flatnonzero(_marks(sources, len(codes)))
    total = len(waiting)
    plies, before = 0, -1
    while len(waiting) != before:
        if report:
            report("positions solved", total - len(waiting), total)
        plies += 1
        after = codes[targets]
        codes[sources[after < 0]] = plies + 1
        # A move to a position that is won there does not help, and a decided source needs none.
        useful = (after == 0) & (codes[sources] == 0)
        sources, targets = sources[useful], targets[useful]
        still = _marks(sources, len(codes))
        codes[waiting[~still[waiting] & (codes[waiting] == 0)]] = -(plies + 1)
        before, waiting = len(waiting), np.flatnonzero(still)
    return codes


def _marks(numbers: IntArray, below: int) -> BoolArray:
    """True at the numbers given, (below,) bool."""
    marks = np.zeros(below, np.bool_)
    marks[numbers] = True
    return marks
