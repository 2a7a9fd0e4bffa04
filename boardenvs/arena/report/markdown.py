"""The results of a tournament as a report in Markdown."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

from boardenvs.arena.report.document import document
from boardenvs.arena.report.notes import ladders, notes
from boardenvs.arena.report.text import interval_text, points_text, rating_text, time_text, title
from boardenvs.arena.tournament.ratings import PRIOR, REPLICATES
from boardenvs.arena.tournament.results import Crosstable, Results, matches
from boardenvs.tablebase import Tablebase
from boardenvs.utils.files import file_name


def markdown(results: Results, has_pictures: bool) -> str:
    """The report for people."""
    settings = results.settings
    drawn = settings.openings.items()
    plies = "; ".join(f"{game} {low} to {high}" for game, (low, high) in drawn)
    solved = ", ".join(
        game for game in settings.openings if Tablebase.covers(results.plan.games[game])
    )
    total = sum(match.games for _, match in matches(results.played))
    parts = [
        "# Arena\n",
        f"{len(settings.entrants)} entrants, {total:,} games played. Every pairing plays "
        f"{settings.pairs} openings of random plies ({plies}), each twice with roles swapped; seed "
        f"{settings.seed}."
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


def _section(table: Crosstable, has_pictures: bool) -> list[str]:
    parts = [f"## {title(table)}\n"]
    if has_pictures:
        parts.append(f"![Ratings]({picture_path(table, 'ratings')})\n")
    parts += [*_ladder_table(table), "", *_step_table(table)]
    if has_pictures:
        parts.append(f"![Scores]({picture_path(table, 'heatmap')})\n")
    return [*parts, *_crosstable(table), ""]


def _ladder_table(table: Crosstable) -> Iterable[str]:
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
        standing = table.standings[label]
        above = f"{ratings.above[i, i + 1]:.1%}" if i + 1 < len(table.entrants) else ""
        yield _row(
            [
                str(i + 1),
                f"`{label}`",
                rating_text(table, i),
                interval_text(table, i),
                above,
                f"{standing.score:.1%}",
                _three(standing.counts),
                *(_three(counts) for counts in standing.by_role),
                time_text(standing.ms_per_move),
            ]
        )


def _step_table(table: Crosstable) -> Iterable[str]:
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


def _crosstable(table: Crosstable) -> Iterable[str]:
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


def picture_path(table: Crosstable, kind: str) -> str:
    """Where the report looks for a picture, within the tournament's folder."""
    return f"{file_name(table.name)}/{kind}.png"
