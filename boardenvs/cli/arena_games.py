"""The recorded games of a tournament, and those of its report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from boardenvs.arena.tournament.results import OVERALL, Crosstable, Results
from boardenvs.records.jsonl import parse_record
from boardenvs.records.page import write_page
from boardenvs.records.record import Record
from boardenvs.render.page import to_frame
from boardenvs.utils.files import file_name

_OPPONENTS = 4  # of the strongest player, in the report
_MOST_PLIES = 300  # of a game in the report


def games_file(folder: Path, game: str) -> Path:
    """Where a tournament in this folder keeps the games of a game, named by its text."""
    return folder / "games" / f"{file_name(game)}.jsonl"


def sample_games(results: Results, folder: Path) -> list[str]:
    """Games for the report, as HTML: of the strongest player of each game against a few others, the
    two games of one opening each. Empty where none were recorded.
    """
    found: list[Record] = []
    for table in results.tables:
        path = games_file(folder, table.name)
        if table.name != OVERALL and path.exists():
            found += _of_table(table, path)
    if not found:
        return []
    told = (
        f"In each game the strongest player meets up to {_OPPONENTS} others, from the next "
        "strongest to the weakest: one opening, from both sides. All games are in games/."
    )
    page = write_page(found, title="Games of the arena")
    return ["<h2>Games to step through</h2>", f"<p>{told}</p>", to_frame(page)]


def _of_table(table: Crosstable, path: Path) -> list[Record]:
    strongest, *others = table.entrants
    found: dict[frozenset[str], dict[tuple[str, str], Record]] = {
        frozenset((strongest, other)): {} for other in _spread(others, _OPPONENTS)
    }
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            try:
                record = parse_record(line)
            except ValueError:  # half a line, where the tournament was killed
                continue
            games = found.get(frozenset(record.players or ()))
            opening = record.info.get("opening")
            if games is None or record.players is None or len(record.actions) > _MOST_PLIES:
                continue
            if all(kept.info.get("opening") == opening for kept in games.values()):
                games.setdefault(record.players, record)
    return [record for games in found.values() for record in games.values()]


def _spread(items: Sequence[str], count: int) -> list[str]:
    """At most so many of the items, from the first to the last."""
    if len(items) <= count:
        return list(items)
    return [items[i * (len(items) - 1) // (count - 1)] for i in range(count)]
