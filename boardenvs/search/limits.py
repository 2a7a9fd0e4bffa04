"""When the search of a position ends."""

from __future__ import annotations

from dataclasses import dataclass

from boardenvs.utils.checks import is_whole

MAX_DEPTH = 100  # plies; the table's tags know distances below 255


@dataclass(frozen=True)
class Limits:
    """The first limit that is met ends the search; Raises ValueError where a limit is out of range.

    depth: plies, 1 to 100. nodes: positions generated, about so many at most. time: seconds on the
    clock; only with this limit do results depend on the machine. endgame: in games that fill up and
    are won by points, such as Othello, positions with at most so many empty squares are solved to
    the end at once, if half of `nodes` and `time` suffices.
    """

    depth: int = MAX_DEPTH
    nodes: int | None = None
    time: float | None = None
    endgame: int = 0

    def __post_init__(self) -> None:
        if not is_whole(self.depth, 1, MAX_DEPTH):
            raise ValueError(f"depth is {self.depth!r}: it must be 1 to {MAX_DEPTH} plies")
        if self.nodes is not None and not is_whole(self.nodes, 1):
            raise ValueError(f"nodes is {self.nodes!r}: it must be 1 or more")
        if self.time is not None and not self.time > 0:
            raise ValueError(f"time is {self.time!r}: it must be more than 0 seconds")
        if not is_whole(self.endgame, 0, 64):
            raise ValueError(f"endgame is {self.endgame!r}: it must be 0 to 64 empty squares")
