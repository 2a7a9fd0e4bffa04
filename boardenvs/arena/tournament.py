"""Round robins: every pairing in every game, in processes, with a journal to resume from.

The journal has the settings, then a line of JSON for each pairing that was played. A line is on the
disk before its result counts. A last line torn by a crash is ignored, and its pairing is played
again.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from boardenvs.arena.pairing import play_pairings
from boardenvs.arena.played import Key, Played
from boardenvs.arena.report import WRITTEN as REPORT
from boardenvs.arena.results import Results, summarise
from boardenvs.arena.tournament_settings import Plan, TournamentSettings, check_kept, make_plan
from boardenvs.utils.checks import cut
from boardenvs.utils.decoding import parse_json
from boardenvs.utils.files import (
    append_lines,
    is_unused,
    remove_written,
    whole_lines,
    working_alone,
    write_atomically,
)

JOURNAL = "journal.jsonl"

# The files of a tournament; `overwrite` removes these and no others.
WRITTEN = (JOURNAL, "games/*.jsonl", *REPORT)

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
    watcher: Watcher = lambda played, done, total: None,
) -> Results:
    """Play the pairings that the journal in `folder` does not have yet, and return all results.

    The results depend on the settings alone, not on `workers` (by default one per core; 0 plays in
    this process) or on interruptions. `resume` continues the folder's tournament, which must have
    the same settings. `overwrite` replaces the files of the folder's tournament.

    ValueError if the folder has a tournament already or, with `resume`, none or another; OSError if
    another process is playing it. A script must call this under `if __name__ == "__main__":`, as
    the worker processes import it.
    """
    plan, folder = make_plan(settings), Path(folder)
    with working_alone(folder, WRITTEN, lambda: _check(settings, folder, resume, overwrite)):
        journal = _open(settings, folder, resume)
        return _play(plan, journal, settings, workers, watcher)


def _play(
    plan: Plan,
    journal: Journal,
    settings: TournamentSettings,
    workers: int | None,
    watcher: Watcher,
) -> Results:
    results = {played.key: played for played in journal.played}
    left = [pairing for pairing in plan.pairings if pairing.key not in results]
    total = len(plan.pairings)
    watcher(None, total - len(left), total)
    playing = play_pairings(left, workers=_cores() if workers is None else workers)
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


def _check(settings: TournamentSettings, folder: Path, resume: bool, overwrite: bool) -> None:
    """JournalError if the folder is not one to play in."""
    path = folder / JOURNAL
    if resume:
        _check_same(path, read_settings(folder), settings.to_json())
    elif path.exists() and not overwrite:
        raise JournalError(
            f"{folder} has a tournament: --resume goes on with it, --overwrite replaces it, "
            "and --out FOLDER plays another"
        )
    elif path.exists() and not is_journal(path):
        raise JournalError(f"{folder} is not replaced: its {JOURNAL} is of no tournament")
    elif not path.exists() and not is_unused(folder, WRITTEN):
        raise JournalError(
            f"{folder} is not used: it has files but no {JOURNAL}, so it is not the folder of a "
            "tournament"
        )


def _open(settings: TournamentSettings, folder: Path, resume: bool) -> Journal:
    if resume:
        return open_journal(folder)
    remove_written(folder, [name for name in WRITTEN if name != JOURNAL])
    return Journal.create(folder / JOURNAL, settings.to_json())


def _check_same(path: Path, before: dict[str, Any], now: dict[str, Any]) -> None:
    """JournalError if pairings would be played differently from those in the journal."""
    lines = [
        f"  {name} was {before[name]!r} and is {value!r}"
        for name, value in now.items()
        if before[name] != value
    ]
    if lines:
        raise JournalError(
            f"{path} is of a tournament with other settings; take those to resume, or another "
            "folder:\n" + "\n".join(lines)
        )


_MAX_SETTINGS, _MAX_JOURNAL = 1 << 20, 1 << 28  # bytes


class JournalError(ValueError):
    """A journal that cannot be resumed; the message says why."""


class Journal:
    """A journal in a file; `create` begins one, `open` reads one."""

    def __init__(self, path: Path, settings: dict[str, Any], played: list[Played]) -> None:
        self.settings = settings
        self.played = played
        self._path = path

    @classmethod
    def create(cls, path: Path, settings: dict[str, Any]) -> Journal:
        """Write a new journal."""
        write_atomically(path, f"{json.dumps(settings)}\n".encode())
        return cls(path, settings, [])

    @classmethod
    def open(cls, path: Path) -> Journal:
        """Read a journal; JournalError if it is not one of this version."""
        try:
            if path.stat().st_size > _MAX_JOURNAL:
                raise JournalError(f"{path} has more than {_MAX_JOURNAL:,} bytes")
            lines = list(whole_lines(path))
        except FileNotFoundError:
            raise JournalError(f"there is no {path}: no tournament was begun there") from None
        if not lines:
            raise JournalError(f"{path} is empty: begin the tournament again")
        settings, played, done = _parse(path, 1, lines[0]), list[Played](), set[Key]()
        try:
            check_kept(settings)
        except ValueError as error:
            raise JournalError(f"{path}, line 1: {error}") from error
        for number, line in enumerate(lines[1:], 2):
            values = _parse(path, number, line)
            try:
                result = Played.from_json(values, settings["pairs"])
                _check_pairing(result.key, settings, done)
                played.append(result)
            except ValueError as error:
                raise JournalError(f"{path}, line {number}, is not a result: {error}") from error
        return cls(path, settings, played)

    def add(self, played: Played) -> None:
        """Append a result; it is on the disk when this returns. OSError names the file."""
        append_lines(self._path, [json.dumps(played.to_json()).encode()])
        self.played.append(played.without_actions())


def _check_pairing(key: Key, settings: dict[str, Any], done: set[Key]) -> None:
    """ValueError unless the settings have this pairing, and it is none of those `done`, to which it
    is added.
    """
    game, first, second = key
    known = game in settings["opening_plies"] and {first, second} <= set(settings["entrants"])
    if not (known and first < second) or key in done:
        raise ValueError(f"{cut(', '.join(key), 200)} is no pairing that was left to play")
    done.add(key)


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
