"""What searches find."""

from __future__ import annotations

from typing import NamedTuple

from boardenvs.game.state import FloatArray, IntArray


class SearchResults(NamedTuple):
    """What searches of B positions found, one a row."""

    action: IntArray  # (B,) int64: the best; noop where the game is over
    value: IntArray  # (B,) int64: see `Engine.search`
    depth: IntArray  # (B,) int64: plies searched for it; empty squares where solved to the end
    exact: IntArray  # (B,) int64: 1 where no heuristic had a say in the value
    nodes: IntArray  # (B,) int64: positions generated


class TreeResults(NamedTuple):
    """What trees know of the actions of B positions, each to the side to move: -1 is a loss, 0 a
    draw, 1 a win.
    """

    visits: IntArray  # (B, A) int64: how often each was tried
    values: FloatArray  # (B, A) float64: the mean, or the result where proven; 0 where neither
    lower: IntArray  # (B, A) int64: the least that is proven of the result; -1 where nothing is
    upper: IntArray  # (B, A) int64: the most that is proven of it; 1 where nothing is, or -1 where
    # the action is illegal
