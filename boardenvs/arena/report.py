"""The results of a tournament as files: results.json for programs and a report for people."""

from __future__ import annotations

import itertools
import json
import os
import platform
import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from boardenvs import games
from boardenvs.arena.pairing import Played
from boardenvs.arena.player import Faults, time_text
from boardenvs.arena.ratings import PRIOR, REPLICATES
from boardenvs.arena.results import OVERALL, Crosstable, Results, matches
from boardenvs.kernel import get_backend
from boardenvs.report import Document, ReportTable
from boardenvs.utils.files import file_name, write_atomically
from boardenvs.utils.version import processor, version

# The files that `write_results` writes into a folder.
WRITTEN = (
    "results.json",
    "report.md",
    "report.html",
    "*/ratings.svg",
    "*/cost.svg",
    "*/heatmap.svg",
)
_COUNTS = ("wins", "draws", "losses")
_MISREAD = ("illegal", "unparsable", "ambiguous")  # replies


def write_results(results: Results, folder: Path | str, extra: Sequence[str] = ()) -> list[str]:
    """Write results.json, report.md, report.html and the pictures; what could not be made, and why.

    `extra` is HTML for the end of report.html.
    """
    folder = Path(folder)
    write_atomically(folder / "results.json", json.dumps(document(results), indent=1).encode())
    report = compose(results)
    for markup in extra:
        report.html(markup)
    report.write(folder)
    return report.missing


# ---- results.json --------------------------------------------------------------------------------


def document(results: Results) -> dict[str, Any]:
    """The results as JSON values: equal for equal settings, except for "timings"."""
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
            "cpu_seconds": round(sum(p.cpu_seconds for p in results.played), 1),
            "processor": processor(),
            "cores": os.cpu_count(),
            "cpu_ms_per_move": {
                table.name: {
                    label: _rounded(standing.faults.ms_per_move, 4)
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
        rated = (ratings.rating[i], ratings.low[i], ratings.high[i])
        rating, *interval = _rounded(rated if standing.plays else [None] * 3, 1)
        roles = zip(table.roles, standing.by_role, strict=True)
        rows.append(
            {
                "entrant": label,
                "rating": rating,
                "interval": interval,
                "score": _rounded(standing.score, 4),
                **_counts(standing.counts),
                "forfeits": standing.faults.forfeits,
                "by_role": {role: _counts(counts) for role, counts in roles},
            }
        )
    return {
        "anchor": ratings.anchor,
        "ratings": rows,
        "scores": _rounded(table.scores, 4),
        "above": _rounded(ratings.above, 4),
        "ladders": table.ladders,
    }


def _pairing(played: Played) -> dict[str, Any]:
    head = {"game": played.game, "first": played.first, "second": played.second}
    match = played.match
    if match is None:
        return {**head, "void": played.void}
    return {
        **head,
        "score": _rounded(match.score, 4),
        "interval": _rounded(match.interval, 4),
        **_counts((match.wins, match.draws, match.losses)),
        "share_intervals": dict(zip(_COUNTS, _rounded(match.share_intervals, 4), strict=True)),
        "by_role_of_first": [_counts(counts) for counts in match.by_role],
        "mean_plies": _rounded(match.mean_plies, 2),
        "distinct_openings": match.openings,
        "forfeits": [faults.forfeits for faults in match.faults],
        "asked_again": [faults.repeats for faults in match.faults],
        "messages": [faults.message for faults in match.faults],
    }


def _counts(counts: Sequence[int]) -> dict[str, int]:
    return dict(zip(_COUNTS, counts, strict=True))


def _rounded(value: Any, digits: int) -> Any:
    """A number or a sequence of numbers for JSON, which has no infinity and no NaN."""
    if isinstance(value, Sequence | np.ndarray):
        return [_rounded(x, digits) for x in value]
    if value is None or not np.isfinite(value):
        return None
    return round(float(value), digits) + 0.0  # no negative zero


# ---- the report ----------------------------------------------------------------------------------


def compose(results: Results) -> Document:
    """The report for people."""
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
        f"Ratings are Elo points of a Bradley-Terry fit in which a draw is half a win, with the "
        f"anchor at 0: 400 points are odds of 10 to 1. A prior of {PRIOR:g} drawn game per entrant "
        f"keeps them finite. All intervals are 95 %: those of ratings come from {REPLICATES:,} "
        f"bootstrap samples of pairs of games, those of scores are Wilson's over pairs. “Above "
        f"next” is the share of these samples in which the entrant is rated above the one below "
        f"it. CPU times are of one core, without an agent's first batch of a match."
    )
    for table in results.widest_first:
        _add_table(report, table)
    if results.notes:
        report.heading("Notes")
        report.bullets(map(_escaped, results.notes))
    made = document(results)
    versions = ", ".join(f"{name} {value}" for name, value in made["versions"].items() if value)
    timings = made["timings"]
    report.heading("Made with")
    report.text(
        f"boardenvs {made['settings']['boardenvs']}, {versions}; {timings['cpu_seconds']:,.0f} CPU "
        f"seconds on {timings['cores']} cores of {timings['processor']}"
    )
    return report


def _add_table(report: Document, table: Crosstable) -> None:
    """The section on a crosstable."""
    from boardenvs.arena import pictures

    folder = file_name(table.name)
    report.heading(title(table))
    report.picture(f"{folder}/ratings.svg", "Ratings", partial(pictures.ratings, table))
    report.table(_ladder_table(table))
    for line in _steps(table):
        report.text(line)
    report.picture(f"{folder}/cost.svg", "Rating over CPU time", partial(pictures.cost, table))
    report.picture(f"{folder}/heatmap.svg", "Scores", partial(pictures.heatmap, table))
    report.text("Points of the row against the column:")
    report.table(_points_table(table))


def _ladder_table(table: Crosstable) -> ReportTable:
    above = np.diagonal(table.ratings.above, 1)
    rows = []
    for i, (label, standing) in enumerate(table.standings.items()):
        counts = (" ".join(map(str, three)) for three in (standing.counts, *standing.by_role))
        names = ("won drawn lost", *(f"as {side}" for side in table.sides))
        rows.append(
            {
                "": str(i + 1),
                "entrant": f"`{label}`",
                "rating": rating_text(table, i),
                "95 %": interval_text(table, i),
                "above next": f"{above[i]:.1%}" if i < len(above) and above[i] >= 0 else "",
                "score": f"{standing.score:.1%}",
                **dict(zip(names, counts, strict=True)),
                "CPU/move": time_text(standing.faults.ms_per_move),
                **_counted(standing.faults),
            }
        )
    return ReportTable(rows)


def _counted(faults: Faults) -> dict[str, str]:
    """Columns about a player that reads its moves from replies: the shares of wrong ones, and what
    they cost. The cells of other players are empty.
    """
    counts, moves = faults.counts, max(1, faults.moves)
    replies = sum(counts.get(kind, 0) for kind in ("move", *_MISREAD))
    tokens = sum(counts.get(kind, 0) for kind in ("prompt_tokens", "completion_tokens"))
    cost = counts.get("cost", 0)
    return {
        **{kind: f"{counts.get(kind, 0) / replies:.1%}" if replies else "" for kind in _MISREAD},
        "tokens/move": f"{tokens / moves:,.0f}" if tokens else "",
        "cost": f"{cost:.2f}" if cost else "",
    }


def _steps(table: Crosstable) -> Iterator[str]:
    """The gain in rating of each step of a strength, and how sure it is."""
    index = {label: i for i, label in enumerate(table.entrants)}
    for name, labels in table.ladders.items():
        steps = []
        for weaker, stronger in itertools.pairwise(labels):
            i, j = index[stronger], index[weaker]
            gain = table.ratings.rating[i] - table.ratings.rating[j]
            number = stronger.rpartition("=")[2]
            steps.append(f"{number}: {gain:+.0f} (above in {table.ratings.above[i, j]:.1%})")
        yield f"{name}, from {labels[0].rpartition('=')[2]} to {', to '.join(steps)}"


def _points_table(table: Crosstable) -> ReportTable:
    numbers = [str(i + 1) for i in range(len(table.entrants))]
    return ReportTable(
        [
            {
                "": number,
                "entrant": f"`{label}`",
                **dict(zip(numbers, map(_points, counts.sum(axis=1).tolist()), strict=True)),
            }
            for number, label, counts in zip(numbers, table.entrants, table.counts, strict=True)
        ]
    )


def _points(counts: Sequence[int]) -> str:
    """The points of these wins, draws and losses, such as "62½"; a dot without games."""
    won, drawn, _ = counts
    whole, half = divmod(2 * won + drawn, 2)
    return f"{whole or '' if half else whole}{'½' * half}" if sum(counts) else "·"


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*|\[\]])", r"\\\1", text).replace("<", "&lt;")


# ---- texts of report, pictures and terminal ------------------------------------------------------


def title(table: Crosstable) -> str:
    """A table's name for people."""
    return "All games" if table.name == OVERALL else game_title(table.name)


def game_title(text: str) -> str:
    """A game's text for people: "Lines of action", "Wolf and sheep (rules=described)"."""
    game, _, parameters = text.partition(":")
    if game not in games.GAMES:  # a game of a module
        return text
    return game.replace("_", " ").capitalize() + (f" ({parameters})" if parameters else "")


def rating_text(table: Crosstable, i: int) -> str:
    """A rating in whole points."""
    return _whole(table.ratings.rating[i]) if table.standings[table.entrants[i]].plays else "none"


def interval_text(table: Crosstable, i: int) -> str:
    """The interval of a rating, such as "85 to 170"."""
    low, high = table.ratings.low[i], table.ratings.high[i]
    if not table.standings[table.entrants[i]].plays:
        return "forfeited all"
    if table.entrants[i] == table.ratings.anchor:
        return "anchor"
    if np.isinf(low) and np.isinf(high):
        return "unknown"
    if np.isinf(low):
        return f"below {_whole(high)}"
    return f"above {_whole(low)}" if np.isinf(high) else f"{_whole(low)} to {_whole(high)}"


def _whole(value: float) -> str:
    return f"{round(value)}".replace("-", "\N{MINUS SIGN}")
