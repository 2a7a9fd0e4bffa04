"""Round robins: every pairing in every game, in processes, with a journal to resume from.

The journal has the settings, then a line of JSON for each pairing that was played. A line is on the
disk before its result counts. A last line torn by a crash is ignored, and its pairing is played
again.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from boardenvs.arena.pairing import Played
from boardenvs.arena.report import WRITTEN as REPORT
from boardenvs.arena.results import Results, summarise
from boardenvs.arena.tournament_settings import TournamentSettings, check_kept, make_plan
from boardenvs.arena.workers import play_pairings
from boardenvs.utils.checks import cut
from boardenvs.utils.decoding import parse_json
from boardenvs.utils.files import (
    append_lines,
    is_unused,
    remove_left_over,
    remove_written,
    whole_lines,
    write_atomically,
)

JOURNAL = "journal.jsonl"

# The files of a tournament; `overwrite` removes these and no others.
WRITTEN = (JOURNAL, "games/*.jsonl", *REPORT)

# The settings that decide the games of every pairing.
_FIXED = ("format", "boardenvs", "pairs", "seed")

# Called with a pairing that was played, with the actions of all its games, before it is in the
# journal, or None at the beginning; then the number of pairings that are played, and of all.
Watcher = Callable[[Played | None, int, int], None]


def run_tournament(
    settings: TournamentSettings,
    folder: Path | str,
    *,
    resume: bool = False,
    overwrite: bool = False,
    workers: int | None = None,
    address: str | None = None,
    watcher: Watcher = lambda played, done, total: None,
) -> Results:
    """Play the pairings that the journal in `folder` does not have yet, and return all results.

    The results depend on the settings alone, not on `workers` (by default one per core; 0 plays in
    this process), on the `address` of a Ray cluster for these, or on interruptions. `resume`
    continues the folder's tournament: entrants and games may be added or left out and the anchor
    changed, since no pairing depends on the others, but all else must be the same. `overwrite`
    replaces the files of the folder's tournament.

    ValueError if the folder has a tournament already or, with `resume`, none or another. A script
    must call this under `if __name__ == "__main__":`, as the worker processes import it.
    """
    plan = make_plan(settings)
    journal = _open(settings, Path(folder), resume, overwrite)
    results = {played.key: played for played in journal.played}
    left = [pairing for pairing in plan.pairings if pairing.key not in results]
    total = len(plan.pairings)
    watcher(None, total - len(left), total)
    if workers is None and address is None:
        workers = _cores()
    playing = play_pairings(left, workers=workers, address=address)
    with contextlib.closing(playing):
        for number, played in enumerate(playing, total - len(left) + 1):
            watcher(played, number, total)
            journal.add(played)
            results[played.key] = played.without_actions()
    whole = [results[pairing.key] for pairing in plan.pairings]
    return summarise(settings, plan, whole)


def read_settings(folder: Path | str) -> dict[str, Any]:
    """The settings of the tournament in a folder, as `TournamentSettings.to_json` wrote them."""
    return open_journal(folder).settings


def open_journal(folder: Path | str) -> Journal:
    """The journal of the tournament in a folder; JournalError if there is none."""
    return Journal.open(Path(folder) / JOURNAL)


def _cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _open(settings: TournamentSettings, folder: Path, resume: bool, overwrite: bool) -> Journal:
    path = folder / JOURNAL
    if resume:
        journal = open_journal(folder)
        _check_same(path, journal.settings, settings.to_json())
        remove_left_over(folder, WRITTEN)
        return Journal.create(path, settings.to_json(), journal.played)
    if path.exists():
        if not overwrite:
            raise JournalError(
                f"{folder} has a tournament: --resume goes on with it, --overwrite replaces it, "
                "and --out FOLDER plays another"
            )
        if not is_journal(path):
            raise JournalError(f"{folder} is not replaced: its {JOURNAL} is of no tournament")
        remove_written(folder, [name for name in WRITTEN if name != JOURNAL])
    elif not is_unused(folder, WRITTEN):
        raise JournalError(
            f"{folder} is not used: it has files but no {JOURNAL}, so it is not the folder of a "
            "tournament"
        )
    folder.mkdir(parents=True, exist_ok=True)
    return Journal.create(path, settings.to_json())


def _check_same(path: Path, before: dict[str, Any], now: dict[str, Any]) -> None:
    """JournalError if pairings would be played differently from those in the journal."""
    pairs = {name: (before.get(name), now[name]) for name in _FIXED}
    for game, plies in now["opening_plies"].items():
        pairs[f"opening_plies of {game}"] = (before["opening_plies"].get(game, plies), plies)
    lines = [f"  {name} was {x!r} and is {y!r}" for name, (x, y) in pairs.items() if x != y]
    if lines:
        raise JournalError(
            f"{path} is of a tournament with other settings; take those to resume, or another "
            "folder:\n" + "\n".join(lines)
        )


_MAX_SETTINGS = 1 << 20  # bytes


class JournalError(ValueError):
    """A journal that cannot be resumed; the message says why."""


class Journal:
    """A journal in a file; `create` begins one, `open` reads one."""

    def __init__(self, path: Path, settings: dict[str, Any], played: list[Played]) -> None:
        self.settings = settings
        self.played = played
        self._path = path

    @classmethod
    def create(cls, path: Path, settings: dict[str, Any], played: Sequence[Played] = ()) -> Journal:
        """Write a new journal with these results."""
        lines = (json.dumps(values) + "\n" for values in (settings, *(p.to_json() for p in played)))
        write_atomically(path, "".join(lines).encode())
        return cls(path, settings, list(played))

    @classmethod
    def open(cls, path: Path) -> Journal:
        """Read a journal; JournalError if it is not one of this version."""
        try:
            lines = whole_lines(path)
        except FileNotFoundError:
            raise JournalError(f"there is no {path}: no tournament was begun there") from None
        if not lines:
            raise JournalError(f"{path} is empty: begin the tournament again")
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
        """Append a result; it is on the disk when this returns. OSError names the file."""
        append_lines(self._path, [json.dumps(played.to_json()).encode()])
        self.played.append(played.without_actions())


def is_journal(path: Path) -> bool:
    """Whether a file begins like a journal of any version."""
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
