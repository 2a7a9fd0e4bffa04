"""What an alpha-beta search works in."""

from __future__ import annotations

from typing import NamedTuple

from boardenvs.kernel.loops import Array
from boardenvs.search.compiled.moves import MoveStack
from boardenvs.search.compiled.transposition import TranspositionTable


class SearchMemory(NamedTuple):
    """What an alpha-beta search works in."""

    table: TranspositionTable
    moves: MoveStack
    counters: Array  # (COUNTERS,) numbers
