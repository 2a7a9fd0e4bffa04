"""What a call of alpha-beta search is about."""

from __future__ import annotations

from typing import NamedTuple

from boardenvs.kernel.loops import Array


class Roots(NamedTuple):
    """The positions to search."""

    positions: Array  # (B * position_size,) words
    seeds: Array  # (B,) words: they order equal moves
    position_size: int  # words
    distance: int  # 0; or the plies down its line, of a position on the line of an earlier search


class Budget(NamedTuple):
    """What a search may take."""

    depth: int  # plies; to the end, the empty squares
    nodes: int  # a position, about
    nodes_a_call: int  # once they are spent no other position is begun
