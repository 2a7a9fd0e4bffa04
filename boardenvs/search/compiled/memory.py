"""What an alpha-beta search is asked, what it works in, and what it counts."""

from __future__ import annotations

from typing import NamedTuple

from boardenvs.kernel.loops import Array, number
from boardenvs.search.compiled.transposition import TranspositionTable
from boardenvs.search.compiled.tuples import TupleTables

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


class MoveStack(NamedTuple):
    """A list of moves for each distance from the root, one list after the other.

    A record is the position after a move and then the move; lists are put in order by exchanging
    the numbers of their records.
    """

    records: Array  # (lists * max_moves * record_size,) words
    order: Array  # (lists * max_moves,) numbers: the record in each place of a list
    scores: Array  # (lists * max_moves,) numbers: what orders the list; the highest goes first
    max_moves: int  # that a position has
    record_size: int  # words


class SearchMemory(NamedTuple):
    """What an alpha-beta search works in."""

    table: TranspositionTable
    moves: MoveStack
    counters: Array  # (COUNTERS,) numbers
    tables: TupleTables  # those of a learnt evaluation, if there is one
    judged_by_tables: int  # 1: positions are; 0: by the game's heuristic
    probcut: int  # hundredths of the deviation beyond which a shallow search cuts; 0: none does
    reductions: int  # 1: later moves are searched less deep; 0: all are as deep


def judging_by_tables(memory: SearchMemory) -> SearchMemory:
    """The same memory for a search that judges by the tables, if there are any."""
    judged = 1 if memory.tables.width + memory.tables.featured > 0 else 0
    return SearchMemory(
        memory.table, memory.moves, memory.counters, memory.tables, judged, number(0), number(0)
    )
