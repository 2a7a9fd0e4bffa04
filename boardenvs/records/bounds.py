"""How much of a file is read: its lines have a longest, and its games take so much memory at most.

A compressed file of a few megabytes can hold gigabytes, and JSON takes thirty times the memory of
its text where that is brackets alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

MAX_LINE = 1 << 20  # characters
MAX_MEMORY = 1 << 31  # bytes that all games of a file take: more than half a million games

GAME = 1000  # bytes that a game takes beside its line
_CHARACTER, _MARK = 4, 100  # bytes at most that each in a line takes: tests measure it
_MARKS = "[{,"


def read_lines(file: TextIO, path: Path, memory: int | None) -> Iterator[tuple[int, str]]:
    """The lines of a file and their numbers, from 1 on.

    ValueError, which names `path` and the line, where one is too long, or where the games so far
    take more than so many bytes of `memory`; without it they are not counted.
    """
    taken = 0
    for number, line in enumerate(iter(lambda: file.readline(MAX_LINE + 1), ""), start=1):
        if len(line) > MAX_LINE:
            raise ValueError(f"{path}, line {number}, has more than {MAX_LINE} characters")
        if memory is not None:
            taken += memory_of(line)
            if taken > memory:
                raise ValueError(f"{path}, line {number}: {too_much(memory)}")
        yield number, line


def memory_of(line: str) -> int:
    """How many bytes the game of a line takes at most."""
    return GAME + _CHARACTER * len(line) + _MARK * sum(map(line.count, _MARKS))


def too_much(memory: int) -> str:
    """What is wrong where games take more than so many bytes."""
    return f"the games up to here may take more than {memory >> 20} MiB of memory: split the file"
