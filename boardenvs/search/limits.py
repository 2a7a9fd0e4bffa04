"""When the search of a position ends, and what it finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from boardenvs.game.state import IntArray
from boardenvs.utils.checks import is_number, is_whole, quote

MAX_DEPTH = 100  # plies; the table's tags know distances below 255
ENDGAME = 24  # empty squares that are solved at once, where a position is analysed
MAX_PROBCUT = 100
MAX_NODES = 1 << 62  # compiled code counts in 64 bits


@dataclass(frozen=True)
class Limits:
    """The first limit that is met ends the search; ValueError where a limit is out of range.

    depth: plies, 1 to 100. nodes: positions generated, about so many at most. time: seconds on the
    clock; only with this limit do results depend on the machine. endgame: in games that fill up and
    are won by points, such as Othello, positions with at most so many empty squares are solved to
    the end at once, if half of `nodes` and `time` suffices. probcut: in these games, judged by a
    learnt evaluation, what a search of half the depth says to be so many standard deviations out of
    reach is not searched deeper; 0: all is. reductions: moves that do not seem good are searched
    less deep, and as deep as the others only where that makes them seem better than the best.
    """

    depth: int = MAX_DEPTH
    nodes: int | None = None
    time: float | None = None
    endgame: int = 0
    probcut: float = 0.0
    reductions: bool = False

    def __post_init__(self) -> None:
        if not is_whole(self.depth, 1, MAX_DEPTH):
            raise ValueError(f"depth is {quote(self.depth)}: it must be 1 to {MAX_DEPTH} plies")
        if self.nodes is not None and not is_whole(self.nodes, 1, MAX_NODES):
            raise ValueError(
                f"nodes is {quote(self.nodes)}: it must be 1 or more, at most 2**62, and whole"
            )
        check_time(self.time)
        if not is_number(self.probcut, 0, MAX_PROBCUT):
            raise ValueError(
                f"probcut is {quote(self.probcut)}: it must be 0 to {MAX_PROBCUT} deviations"
            )
        if not isinstance(self.reductions, bool):
            raise ValueError(f"reductions is {quote(self.reductions)}: it must be true or false")
        if not is_whole(self.endgame, 0, 64):
            raise ValueError(f"endgame is {quote(self.endgame)}: it must be 0 to 64 empty squares")


def check_time(time: object) -> None:
    """ValueError where a limit of seconds is none."""
    if time is not None and (not is_number(time, 0) or time == 0):
        raise ValueError(f"time is {quote(time)}: it must be more than 0 seconds")


class SearchResults(NamedTuple):
    """What searches of B positions found, one a row."""

    action: IntArray  # (B,) int64: the best; noop where the game is over
    value: IntArray  # (B,) int64: see `AlphaBeta.search`
    depth: IntArray  # (B,) int64: plies searched for it; empty squares where solved to the end
    exact: IntArray  # (B,) int64: 1 where no heuristic had a say in the value
    nodes: IntArray  # (B,) int64: positions generated
