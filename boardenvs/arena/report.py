"""The results of a tournament as files: results.json, report.md and pictures."""

from __future__ import annotations

import importlib.util
import itertools
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from boardenvs import games
from boardenvs.arena.book import is_solved
from boardenvs.arena.document import document
from boardenvs.arena.notes import ladders, notes
from boardenvs.arena.ratings import PRIOR, REPLICATES
from boardenvs.arena.results import Results, Table, matches
from boardenvs.arena.text import interval_text, points_text, rating_text, time_text, title
from boardenvs.utils.files import write_atomically

_PICTURES = ("ratings", "crosstable", "heatmap")


def write_results(results: Results, folder: Path) -> list[str]:
    """Write everything; returns what could not be written and why."""
    write_atomically(folder / "results.json", json.dumps(document(results), indent=1).encode())
    has_pictures = importlib.util.find_spec("matplotlib") is not None
    write_atomically(folder / "report.md", markdown(results, has_pictures).encode())
    if not has_pictures:
        return ['no pictures, since matplotlib is missing: pip install "boardenvs[arena]"']
    from boardenvs.arena import plots

    for table in results.tables:
        for kind, draw in zip(
            _PICTURES, (plots.ratings, plots.crosstable, plots.heatmap), strict=True
        ):
            path = folder / _picture(table, kind)
            path.parent.mkdir(exist_ok=True)
            write_atomically(path, draw(table))
    return []


def markdown(results: Results, has_pictures: bool) -> str:
    """The report for people."""
    settings = results.settings
    drawn = settings.openings.items()
    plies = "; ".join(f"{game} {low} to {high}" for game, (low, high) in drawn)
    solved = ", ".join(game for game in settings.openings if is_solved(games.parse(game)))
    total = sum(match.games for _, match in matches(results.played))
    parts = [
        "# Arena\n",
        f"{len(settings.entrants)} entrants, {len(settings.openings)} games, {total:,} games "
        f"played. Every pairing plays {settings.pairs} openings of random plies ({plies}), each "
        f"twice with roles swapped; seed {settings.seed}."
        + (f" Of {solved} only openings are played that do not change who wins." if solved else "")
        + "\n",
        f"Ratings are Elo points of a Bradley-Terry fit in which a draw is half a win, with the "
        f"anchor at 0: 400 points are odds of 10 to 1. A prior of {PRIOR:g} drawn game an entrant "
        f"keeps them finite. Intervals are of 95 %: those of ratings come from {REPLICATES:,} "
        f"bootstrap samples of pairs of games, those of scores are Wilson's over pairs. “Above "
        f"next” is the share of these samples in which the entrant is rated above the one below "
        f"it. CPU times are of one core, without an agent's first batch of a match.\n",
    ]
    for table in results.widest_first:
        parts += _section(table, has_pictures)
    found = notes(results)
    if found:
        parts += ["## Notes\n", *(f"- {_escaped(note)}" for note in found), ""]
    parts += ["## Made with\n", _made_with(results)]
    return "\n".join(parts)


def _section(table: Table, has_pictures: bool) -> list[str]:
    parts = [f"## {title(table)}\n"]
    if has_pictures:
        parts.append(f"![Ratings]({_picture(table, 'ratings')})\n")
    parts += [*_ladder_table(table), "", *_step_table(table)]
    if has_pictures:
        parts.append(f"![Win rates]({_picture(table, 'heatmap')})\n")
    return [*parts, *_crosstable(table), ""]


def _ladder_table(table: Table) -> Iterable[str]:
    roles = [f"as {role}" for role in table.roles]
    ratings = table.ratings
    yield _row(
        [
            "",
            "entrant",
            "rating",
            "95 %",
            "above next",
            "score",
            "won drawn lost",
            *roles,
            "CPU/move",
        ]
    )
    yield _row(["--:", ":--", *["--:"] * (6 + len(roles))])
    for i, label in enumerate(table.entrants):
        record = table.records[label]
        above = f"{ratings.above[i, i + 1]:.1%}" if i + 1 < len(table.entrants) else ""
        yield _row(
            [
                str(i + 1),
                f"`{label}`",
                rating_text(table, i),
                interval_text(table, i),
                above,
                f"{record.score:.1%}",
                _three(record.counts),
                *(_three(counts) for counts in record.by_role),
                time_text(record.ms_per_move),
            ]
        )


def _step_table(table: Table) -> Iterable[str]:
    """How much each step of a strength is worth, and how sure that it is an improvement."""
    index = {label: i for i, label in enumerate(table.entrants)}
    for name, labels in ladders(table).items():
        steps = []
        for weaker, stronger in itertools.pairwise(labels):
            i, j = index[stronger], index[weaker]
            gain = table.ratings.rating[i] - table.ratings.rating[j]
            number = stronger.rpartition("=")[2]
            steps.append(f"{number}: {gain:+.0f} (above in {table.ratings.above[i, j]:.1%})")
        yield f"{name}, from {labels[0].rpartition('=')[2]} to {', to '.join(steps)}\n"


def _crosstable(table: Table) -> Iterable[str]:
    everyone = range(len(table.entrants))
    numbers = [str(i + 1) for i in everyone]
    yield "Points of the row against the column:\n"
    yield _row(["", "entrant", *numbers])
    yield _row(["--:", ":--", *["--:"] * len(numbers)])
    for i, label in enumerate(table.entrants):
        yield _row(
            [numbers[i], f"`{label}`", *(points_text(table, i, j) for j in range(len(numbers)))]
        )


def _made_with(results: Results) -> str:
    made = document(results)
    versions = ", ".join(f"{name} {value}" for name, value in made["versions"].items() if value)
    timings = made["timings"]
    return (
        f"boardenvs {made['settings']['boardenvs']}, {versions}; {timings['cpu_seconds']:,.0f} CPU "
        f"seconds on {timings['cores']} cores of {timings['processor']}\n"
    )


def _three(counts: Sequence[int]) -> str:
    return " ".join(map(str, counts))


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")


def _picture(table: Table, kind: str) -> str:
    return f"{table.name.replace(':', '_').replace('=', '_').replace(',', '_')}/{kind}.png"
