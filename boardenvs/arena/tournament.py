"""Round robins: every pairing in every game, in processes, with a file of games to resume from.

A folder has the settings and the games of all pairings that were played. The games of a pairing are
added at once, and count when the last one is on the disk: what a crash tore is removed, and its
pairing is played again.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

from boardenvs.arena.match_result import MatchResult
from boardenvs.arena.pairing import Key, Pairing, Played, play_pairings
from boardenvs.arena.recorder import match_of
from boardenvs.arena.report import WRITTEN as REPORT
from boardenvs.arena.results import Results, summarise
from boardenvs.arena.tournament_settings import (
    TournamentSettings,
    make_plan,
    read_settings,
)
from boardenvs.games import spec_of
from boardenvs.records.jsonl import MAX_LINE, parse_line, write_record
from boardenvs.utils.decoding import parse_json
from boardenvs.utils.files import (
    append_lines,
    is_unused,
    read_text,
    remove_written,
    whole_lines,
    working_alone,
    write_atomically,
)

SETTINGS, GAMES = "tournament.json", "games.jsonl"

# The files of a tournament; `overwrite` removes these and no others.
WRITTEN = (SETTINGS, GAMES, *REPORT)

# Called with a pairing that was played, once its games are on the disk, or None at the beginning;
# then the number of pairings that are played, and of all.
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
    """Play the pairings of which `folder` does not have the games yet, and return all results.

    The results depend on the settings alone, not on `workers` (by default one per core; 0 plays in
    this process) or on interruptions. `resume` continues the folder's tournament, which must have
    the same settings. `overwrite` replaces the files of the folder's tournament.

    ValueError if the folder has a tournament already or, with `resume`, none or another; OSError if
    another process is playing it. A script must call this under `if __name__ == "__main__":`, as
    the worker processes import it.
    """
    plan, folder = make_plan(settings), Path(folder)
    with working_alone(folder, WRITTEN, lambda: _check(settings, folder, resume, overwrite)):
        if not resume:
            remove_written(folder, WRITTEN[1:])
            write_atomically(folder / SETTINGS, json.dumps(settings.to_json()).encode())
        path, left = folder / GAMES, {pairing.key: pairing for pairing in plan.pairings}
        results = _read(path, left)
        total = len(plan.pairings)
        watcher(None, len(results), total)
        playing = play_pairings(
            list(left.values()), workers=_cores() if workers is None else workers
        )
        with contextlib.closing(playing):
            for played in playing:
                records = played.records
                append_lines(path, (write_record(record).encode() for record in records))
                # As it is read from the file, without its actions.
                pairing = played.pairing
                results[pairing.key] = match_of(records, pairing.labels) if records else None
                watcher(played, len(results), total)
    whole = [Played(pairing, results[pairing.key]) for pairing in plan.pairings]
    return summarise(settings, plan, whole)


def open_settings(folder: Path | str, *, trust: bool = False) -> TournamentSettings:
    """Return the settings of the tournament in a folder; `trust` and ValueError as in
    `tournament_settings.read_settings`.
    """
    path = Path(folder) / SETTINGS
    values = _written(path)
    try:
        return read_settings(values, trust=trust)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def _written(path: Path) -> dict[str, Any]:
    """Return the settings in a file as JSON values; ValueError if they are of no tournament."""
    try:
        values = parse_json(read_text(path))
    except FileNotFoundError:
        raise ValueError(f"there is no {path}: no tournament was begun there") from None
    except ValueError as error:  # a UnicodeDecodeError too
        raise ValueError(f"{path}: {error}") from error
    if not (isinstance(values, dict) and {"format", "entrants"} <= values.keys()):
        raise ValueError(f"{path} is of no tournament")
    return values


def _read(path: Path, left: dict[Key, Pairing]) -> dict[Key, MatchResult | None]:
    """Return the matches in a file of games, whose pairings are removed from those `left`.

    Games of a pairing of which some are missing, at the end, are removed from the file. ValueError
    names the lines of games that are of none of the pairings.
    """
    matches: dict[Key, MatchResult | None] = {}
    size, end, number = 2 * next(iter(left.values())).pairs, 0, 1
    lines = whole_lines(path, MAX_LINE) if path.exists() else iter(())
    while len(part := list(islice(lines, size))) == size:
        records = [
            parse_line(line.decode(errors="replace"), f"{path}, line {place}")
            for place, line in enumerate(part, number)
        ]
        key = spec_of(records[0].game), *(records[0].players or ("", ""))
        try:
            if key not in left:
                raise ValueError("they are of no pairing that is left to play")
            matches[key] = match_of(records, left.pop(key).labels)
        except ValueError as error:
            raise ValueError(f"{path}, lines {number} to {number + size - 1}: {error}") from error
        end += sum(len(line) + 1 for line in part)
        number += size
    if path.exists():
        os.truncate(path, end)
    return matches


def _cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _check(settings: TournamentSettings, folder: Path, resume: bool, overwrite: bool) -> None:
    """Raise ValueError if the folder is not one to play in."""
    path = folder / SETTINGS
    if resume:
        before = _written(path)
        lines = [
            f"  {name} was {before.get(name)!r} and is {value!r}"
            for name, value in settings.to_json().items()
            if before.get(name) != value
        ]
        if lines:
            raise ValueError(
                f"{path} is of a tournament with other settings; take those to resume, or another "
                "folder:\n" + "\n".join(lines)
            )
    elif path.exists():
        if not overwrite:
            raise ValueError(
                f"{folder} has a tournament: --resume goes on with it, --overwrite replaces it, "
                "and --out FOLDER plays another"
            )
        try:
            _written(path)
        except ValueError as error:
            raise ValueError(f"{folder} is not replaced: {error}") from None
    elif not is_unused(folder, WRITTEN):
        raise ValueError(
            f"{folder} is not used: it has files but no {SETTINGS}, so it is not the folder of a "
            "tournament"
        )
