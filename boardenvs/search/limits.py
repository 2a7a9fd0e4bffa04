"""Limits of alpha-beta search, and its results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from boardenvs.game.state import IntArray
from boardenvs.utils.checks import check_whole, is_number, quote

MAX_DEPTH = 100  # plies; the table's tags know distances below 255
ENDGAME = 24  # empty squares from which an analysis solves a position to the end
MAX_PROBCUT = 100
MAX_NODES = 1 << 62  # compiled code counts in 64 bits


@dataclass(frozen=True)
class Limits:
    """The first limit that is reached ends the search; ValueError for a limit out of range.

    depth: plies, 1 to 100. nodes: most positions generated, approximately. time: seconds by the
    clock; only with this limit do results depend on the machine. endgame: in games that fill up and
    are won by points, such as Othello, solve positions with at most this number of empty squares to
    the end, if half of `nodes` and `time` suffices. probcut: in these games, with a learnt
    evaluation, skip deeper searches if half the depth is this number of standard deviations out of
    reach; 0: never. reductions: search moves that do not seem good less deep at first.
    """

    depth: int = MAX_DEPTH
    nodes: int | None = None
    time: float | None = None
    endgame: int = 0
    probcut: float = 0.0
    reductions: bool = False

    def __post_init__(self) -> None:
        check_whole("depth", self.depth, 1, MAX_DEPTH)
        if self.nodes is not None:
            check_whole("nodes", self.nodes, 1, MAX_NODES)
        check_time(self.time)
        if not is_number(self.probcut, 0, MAX_PROBCUT):
            raise ValueError(
                f"probcut is {quote(self.probcut)}: it must be 0 to {MAX_PROBCUT} deviations"
            )
        if not isinstance(self.reductions, bool):
            raise ValueError(f"reductions is {quote(self.reductions)}: it must be true or false")
        check_whole("endgame", self.endgame, 0, 64)


def check_time(time: object) -> None:
    """Raise ValueError for a wrong limit of seconds."""
    if time is not None and (not is_number(time, 0) or time == 0):
        raise ValueError(f"time is {quote(time)}: it must be more than 0 seconds")


class SearchResults(NamedTuple):
    """Results of searches of B positions, one a row."""

    action: IntArray  # (B,) int64: the best; noop if the game is over
    value: IntArray  # (B,) int64: see `AlphaBeta.search`
    depth: IntArray  # (B,) int64: plies searched for it; empty squares if solved to the end
    exact: IntArray  # (B,) int64: 1 if the value depends on no heuristic
    nodes: IntArray  # (B,) int64: positions generated
