"""What an alpha-beta search counts, and when it stops: the numbers of its array of counters."""

from __future__ import annotations

from boardenvs.kernel.loops import Array

NODES = 0  # positions generated
LIMIT = 1  # how many may be; set to 0 from another thread it stops the search
ABORTED = 2  # 1 once the limit has been met: values mean nothing then
HORIZON = 3  # positions judged by the heuristic, now or when a value was put into the table
COUNTERS = 4


def begin_counting(nodes: int, limit: int, counters: Array) -> None:
    """Go on from so many nodes, to the limit."""
    counters[NODES] = nodes
    counters[LIMIT] = limit
    counters[ABORTED] = 0
