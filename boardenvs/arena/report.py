"""The results of a tournament as files: results.json for programs and a report for people."""

from __future__ import annotations

import json
import os
import platform
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from boardenvs import games
from boardenvs.arena.pairing import Played, matches
from boardenvs.arena.player import time_text
from boardenvs.arena.ratings import PRIOR, REPLICATES
from boardenvs.arena.results import OVERALL, VOID, Crosstable, Results
from boardenvs.kernel import get_backend
from boardenvs.report import Document, ReportTable
from boardenvs.utils.files import safe_name, write_atomically
from boardenvs.utils.version import processor, version

# The files that `write_results` writes into a folder.
WRITTEN = ("results.json", "report.md", "report.html", "*/ratings.svg", "*/cost.svg")
_COUNTS = ("wins", "draws", "losses")


def write_results(results: Results, folder: Path | str) -> list[str]:
    """Write results.json, report.md, report.html and the pictures; return what could not be made,
    and why.
    """
    folder = Path(folder)
    write_atomically(folder / "results.json", json.dumps(document(results), indent=1).encode())
    report = compose(results)
    report.write(folder)
    return report.missing


# ---- results.json --------------------------------------------------------------------------------


def document(results: Results) -> dict[str, Any]:
    """Return the results as JSON values: equal for equal settings, except for "timings"."""
    return {
        "settings": results.settings.to_json(),
        "versions": {
            "python": platform.python_version(),
            "backend": get_backend(),
            **{name: version(name) for name in ("numpy", "numba")},
        },
        "ratings": {
            "model": "Bradley-Terry, draws as half wins, Elo scale",
            "prior_drawn_games": PRIOR,
            "bootstrap_replicates": REPLICATES,
        },
        "tables": {table.name: _table(table) for table in results.tables},
        "pairings": [_pairing(played) for played in results.played],
        "notes": results.notes,
        "timings": {
            "players_cpu_seconds": round(
                sum(s.all_cpu_seconds for _, match in matches(results.played) for s in match.stats),
                1,
            ),
            "processor": processor(),
            "cores": os.cpu_count(),
            "cpu_ms_per_move": {
                table.name: {
                    label: _rounded(standing.stats.ms_per_move, 4)
                    for label, standing in table.standings.items()
                }
                for table in results.tables
            },
        },
    }


def _table(table: Crosstable) -> dict[str, Any]:
    ratings, rows = table.ratings, []
    for i, (label, standing) in enumerate(table.standings.items()):
        rated = (ratings.rating[i], ratings.low[i], ratings.high[i])
        rating, *interval = _rounded(rated if standing.plays else [None] * 3, 1)
        rows.append(
            {
                "entrant": label,
                "rating": rating,
                "interval": interval,
                "score": _rounded(standing.score, 4),
                **dict(zip(_COUNTS, standing.counts, strict=True)),
                "forfeits": standing.stats.forfeits,
            }
        )
    return {
        "scale": table.scale,
        "anchors": list(ratings.anchors),
        "ratings": rows,
    }


def _pairing(played: Played) -> dict[str, Any]:
    pairing, match = played
    head = dict(zip(("game", "first", "second"), pairing.key, strict=True))
    if match is None:
        return {**head, "void": VOID}
    return {
        **head,
        "score": _rounded(match.score, 4),
        "interval": _rounded(match.interval, 4),
        **dict(zip(_COUNTS, match.counts, strict=True)),
        "by_role_of_first": match.by_role,
        "mean_plies": _rounded(match.mean_plies, 2),
        "distinct_openings": match.openings,
        "forfeits": [stats.forfeits for stats in match.stats],
        "messages": [stats.message for stats in match.stats],
    }


def _rounded(value: Any, digits: int) -> Any:
    """Return a number or a sequence of numbers for JSON, which has no infinity and no NaN."""
    if isinstance(value, Sequence | np.ndarray):
        return [_rounded(x, digits) for x in value]
    if value is None or not np.isfinite(value):
        return None
    return round(float(value), digits) + 0.0  # no negative zero


# ---- the report ----------------------------------------------------------------------------------


def compose(results: Results) -> Document:
    """Return the report for people."""
    settings = results.settings
    drawn = settings.opening_plies.items()
    plies = "; ".join(f"{game} {low} to {high}" for game, (low, high) in drawn)
    total = sum(match.games for _, match in matches(results.played))
    report = Document("Arena")
    report.text(
        f"{len(settings.entrants)} entrants, {total:,} games played. Every pairing plays "
        f"{settings.pairs} openings of random plies ({plies}), each twice with roles swapped; seed "
        f"{settings.seed}."
    )
    report.text(
        "Ratings are Elo points of a Bradley-Terry fit in which a draw is half a win: 400 points "
        "are odds of 10 to 1. The ratings of anchors are those of the game's published rating "
        "pool, so all are on the scale of `boardenvs rate`; where fewer than two anchors took "
        "part, and over all games, they are relative. "
        f"A prior of {PRIOR:g} drawn game per entrant keeps them finite. All intervals are 95 %: "
        f"those of ratings come from {REPLICATES:,} bootstrap samples of pairs of games. CPU times "
        "are of one core, without an agent's first batch of a match."
    )
    for table in results.widest_first:
        _add_table(report, table)
    if results.notes:
        report.heading("Notes")
        report.bullets(map(_escaped, results.notes))
    report.text("Versions and times are in results.json.")
    return report


def _add_table(report: Document, table: Crosstable) -> None:
    """Add the section on a crosstable."""
    from boardenvs.arena import pictures

    folder = safe_name(table.name)
    report.heading(title(table))
    report.picture(f"{folder}/ratings.svg", "Ratings", partial(pictures.ratings, table))
    report.table(_standings_table(table))
    report.picture(f"{folder}/cost.svg", "Rating over CPU time", partial(pictures.cost, table))
    report.text("Points of the row against the column:")
    report.table(_points_table(table))


def _standings_table(table: Crosstable) -> ReportTable:
    return ReportTable(
        [
            {
                "": str(i + 1),
                "entrant": f"`{label}`",
                table.scale: rating_text(table, i),
                "95 %": interval_text(table, i),
                "score": f"{standing.score:.1%}",
                "won drawn lost": " ".join(map(str, standing.counts)),
                "CPU/move": time_text(standing.stats.ms_per_move),
            }
            for i, (label, standing) in enumerate(table.standings.items())
        ]
    )


def _points_table(table: Crosstable) -> ReportTable:
    numbers = [str(i + 1) for i in range(len(table.entrants))]
    return ReportTable(
        [
            {
                "": number,
                "entrant": f"`{label}`",
                **dict(zip(numbers, map(_points, counts.tolist()), strict=True)),
            }
            for number, label, counts in zip(numbers, table.entrants, table.counts, strict=True)
        ]
    )


def _points(counts: Sequence[int]) -> str:
    """Return the points of these wins, draws and losses, such as "62½"; a dot without games."""
    won, drawn, _ = counts
    whole, half = divmod(2 * won + drawn, 2)
    return f"{whole or '' if half else whole}{'½' * half}" if sum(counts) else "·"


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*|\[\]])", r"\\\1", text).replace("<", "&lt;")


# ---- texts of report, pictures and terminal ------------------------------------------------------


def title(table: Crosstable) -> str:
    """Return a table's name for people."""
    return "All games" if table.name == OVERALL else game_title(table.name)


def game_title(text: str) -> str:
    """Return a game's text for people: "Lines of Action", "Wolf and Sheep (rules=described)"."""
    game, _, parameters = text.partition(":")
    if game not in games.GAMES:  # a game of a module
        return text
    return games.make(game).title + (f" ({parameters})" if parameters else "")


def rating_text(table: Crosstable, i: int) -> str:
    """Return a rating in whole points."""
    return _whole(table.ratings.rating[i]) if table.standings[table.entrants[i]].plays else "none"


def interval_text(table: Crosstable, i: int) -> str:
    """Return the interval of a rating, such as "85 to 170"."""
    low, high = table.ratings.low[i], table.ratings.high[i]
    if not table.standings[table.entrants[i]].plays:
        return "forfeited all"
    if table.entrants[i] in table.ratings.anchors:
        return "anchor"
    if np.isinf(low) and np.isinf(high):
        return "unknown"
    if np.isinf(low):
        return f"below {_whole(high)}"
    return f"above {_whole(low)}" if np.isinf(high) else f"{_whole(low)} to {_whole(high)}"


def _whole(value: float) -> str:
    return f"{round(value)}".replace("-", "\N{MINUS SIGN}")
