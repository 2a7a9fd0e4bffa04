"""A tournament's journal: its settings, then a line of JSON for each pairing that was played.

A line is on the disk before its result counts. The last line may be torn, by a crash while it was
written; it counts for nothing, and its pairing is played again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from boardenvs.arena.pairing import Played
from boardenvs.arena.settings import check_kept
from boardenvs.utils.checks import cut
from boardenvs.utils.decoding import parse_json
from boardenvs.utils.files import write_atomically
from boardenvs.utils.lines import append_lines, whole_lines

_MAX_SETTINGS = 1 << 20  # bytes


class JournalError(ValueError):
    """A journal that cannot be gone on with; the message says why."""


class Journal:
    """The journal in a file; `create` begins one, `open` goes on with one."""

    def __init__(self, path: Path, settings: dict[str, Any], played: list[Played]) -> None:
        self.settings = settings
        self.played = played
        self._path = path

    @classmethod
    def create(cls, path: Path, settings: dict[str, Any], played: Sequence[Played] = ()) -> Journal:
        """A journal with these results in the place of whatever is there."""
        lines = (json.dumps(values) + "\n" for values in (settings, *(p.to_json() for p in played)))
        write_atomically(path, "".join(lines).encode())
        return cls(path, settings, list(played))

    @classmethod
    def open(cls, path: Path) -> Journal:
        """What is on the disk; JournalError where that is not a journal of this version."""
        try:
            lines = whole_lines(path)
        except FileNotFoundError:
            raise JournalError(f"there is no {path}: no tournament was begun there") from None
        if not lines:
            raise JournalError(f"{path} is empty: begin the tournament anew")
        settings, played = _parse(path, 1, lines[0]), list[Played]()
        try:
            check_kept(settings)
        except ValueError as error:
            raise JournalError(f"{path}, line 1: {error}") from error
        for number, line in enumerate(lines[1:], 2):
            values = _parse(path, number, line)
            try:
                played.append(Played.from_json(values, settings["pairs"]))
            except ValueError as error:
                raise JournalError(f"{path}, line {number}, is not a result: {error}") from error
        return cls(path, settings, played)

    def add(self, played: Played) -> None:
        """Append a result, so that it is on the disk when this returns; OSError names the file."""
        append_lines(self._path, [json.dumps(played.to_json()).encode()])
        self.played.append(played.without_actions())


def is_journal(path: Path) -> bool:
    """Whether a file begins as a journal does, of this version or another."""
    try:
        with path.open("rb") as file:
            settings = _parse(path, 1, file.readline(_MAX_SETTINGS))
    except (OSError, JournalError):
        return False
    return {"format", "boardenvs", "entrants", "pairs"} <= settings.keys()


def _parse(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        values = parse_json(line.decode())
    except ValueError as error:  # a UnicodeDecodeError too
        raise JournalError(f"{path}, line {number}, is not JSON: {cut(str(error), 200)}") from error
    if not isinstance(values, dict):
        raise JournalError(f"{path}, line {number}, is not a JSON object")
    return values
