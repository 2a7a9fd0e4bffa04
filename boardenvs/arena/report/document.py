"""The results of a tournament as JSON values."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from boardenvs.arena.playing.match import MatchResult
from boardenvs.arena.report.notes import ladders, notes
from boardenvs.arena.tournament.job import Played
from boardenvs.arena.tournament.ratings import PRIOR, REPLICATES
from boardenvs.arena.tournament.results import Crosstable, Results
from boardenvs.kernel import get_backend
from boardenvs.utils.version import processor, version

_PACKAGES = ("numpy", "numba")


def document(results: Results) -> dict[str, Any]:
    """The results as JSON values: the same for the same settings, but for "timings"."""
    return {
        "settings": results.settings.to_json(),
        "versions": {
            "python": platform.python_version(),
            "backend": get_backend(),
            **{name: version(name) for name in _PACKAGES},
        },
        "ratings": {
            "model": "Bradley-Terry, draws as half wins, Elo scale",
            "prior_drawn_games": PRIOR,
            "bootstrap_replicates": REPLICATES,
        },
        "tables": {table.name: _table(table) for table in results.tables},
        "pairings": [_pairing(played) for played in results.played],
        "notes": notes(results),
        "timings": {
            "cpu_seconds": round(sum(p.cpu_seconds for p in results.played), 1),
            "processor": processor(),
            "cores": os.cpu_count(),
            "cpu_ms_per_move": {
                table.name: {
                    label: _rounded(standing.ms_per_move, 4)
                    for label, standing in table.standings.items()
                }
                for table in results.tables
            },
            "pairing_seconds": [round(p.seconds, 2) for p in results.played],
        },
    }


def _table(table: Crosstable) -> dict[str, Any]:
    ratings = table.ratings
    rows = []
    for i, label in enumerate(table.entrants):
        standing = table.standings[label]
        rows.append(
            {
                "entrant": label,
                "rating": _rounded(ratings.rating[i], 1),
                "interval": [_rounded(ratings.low[i], 1), _rounded(ratings.high[i], 1)],
                "score": _rounded(standing.score, 4),
                **_counts(standing.counts),
                "forfeits": standing.forfeits,
                "by_role": {
                    role: _counts(counts)
                    for role, counts in zip(table.roles, standing.by_role, strict=True)
                },
            }
        )
    return {
        "anchor": ratings.anchor,
        "ratings": rows,
        "scores": [[_rounded(x, 4) for x in row] for row in table.scores],
        "above": [[_rounded(x, 4) for x in row] for row in ratings.above],
        "ladders": ladders(table),
    }


def _pairing(played: Played) -> dict[str, Any]:
    head = {"game": played.game, "first": played.first, "second": played.second}
    match = played.match
    if match is None:
        return {**head, "void": played.void}
    shares = [_interval(share) for share in match.share_intervals]
    return {
        **head,
        "score": _rounded(match.score, 4),
        "interval": _interval(match.interval),
        **_counts((match.wins, match.draws, match.losses)),
        "share_intervals": dict(zip(("wins", "draws", "losses"), shares, strict=True)),
        "by_role_of_first": [_counts(counts) for counts in match.by_role],
        "mean_plies": _rounded(match.mean_plies, 2),
        "distinct_openings": match.openings,
        **_faults(match),
    }


def _faults(match: MatchResult) -> dict[str, Any]:
    return {
        "forfeits": [conduct.forfeits for conduct in match.conduct],
        "asked_again": [conduct.repeats for conduct in match.conduct],
        "messages": [conduct.message for conduct in match.conduct],
    }


def _counts(counts: Sequence[int]) -> dict[str, int]:
    return dict(zip(("wins", "draws", "losses"), counts, strict=True))


def _interval(ends: Iterable[float]) -> list[float | None]:
    return [_rounded(end, 4) for end in ends]


def _rounded(value: float | None, digits: int) -> float | None:
    """Rounded for JSON, which has no infinity and no NaN."""
    if value is None or not np.isfinite(value):
        return None
    return round(float(value), digits) + 0.0  # no negative zero
