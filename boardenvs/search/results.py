"""What searches find."""

from __future__ import annotations

from typing import NamedTuple

from boardenvs.game.state import IntArray


class SearchResults(NamedTuple):
    """What searches of B positions found, one a row."""

    action: IntArray  # (B,) int64: the best; noop where the game is over
    value: IntArray  # (B,) int64: see `Engine.search`
    depth: IntArray  # (B,) int64: plies searched for it; empty squares where solved to the end
    exact: IntArray  # (B,) int64: 1 where no heuristic had a say in the value
    nodes: IntArray  # (B,) int64: positions generated
