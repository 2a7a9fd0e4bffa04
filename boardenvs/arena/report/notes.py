"""What the readers of a tournament's figures should know about them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from boardenvs.arena.tournament.results import Crosstable, Results, matches

_STRENGTH = re.compile(r"(\w+):(\w+)=(\d+)")


def notes(results: Results) -> list[str]:
    """Who was left out and why, forfeits, faults, and figures to take with care."""
    return [*_left_out(results), *_played(results), *_ratings(results)]


def ladders(table: Crosstable) -> dict[str, list[str]]:
    """The entrants that differ in one number, such as "alphabeta:depth=4", ascending, by what the
    number is: {"alphabeta depth": ["alphabeta:depth=1", ...]}.
    """
    found: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for label in table.entrants:
        if match := _STRENGTH.fullmatch(label):
            name, key, number = match.groups()
            found[f"{name} {key}"].append((int(number), label))
    return {
        name: [label for _, label in sorted(steps)] for name, steps in found.items() if steps[1:]
    }


def _left_out(results: Results) -> Iterator[str]:
    left_out = results.plan.left_out
    for entrant in results.settings.entrants:
        games = [game for game, reasons in left_out.items() if entrant.label in reasons]
        if games:
            reason = left_out[games[0]][entrant.label]
            yield f"{entrant.label} does not play {', '.join(games)}: {reason}"
    overall = results.tables[-1]
    absent = [e.label for e in results.settings.entrants if e.label not in overall.entrants]
    if len(results.tables) > 1 and absent:
        yield f"not in the table over all games, since not in every game: {', '.join(absent)}"


def _played(results: Results) -> Iterator[str]:
    for played in results.played:
        where = f"{played.first} against {played.second} in {played.game}"
        if played.match is None:
            yield f"{where} is void: {played.void}"
            continue
        for label, conduct in zip((played.first, played.second), played.match.conduct, strict=True):
            if note := conduct.explain(label, played.match.games, f" of {where}"):
                yield note
    few = {p.game: m.openings for p, m in matches(results.played) if m.openings < m.games // 2}
    for game, openings in few.items():
        yield (
            f"{game} has only {openings} distinct openings of its {results.settings.pairs}: "
            "repeated ones narrow the intervals more than they should"
        )


def _ratings(results: Results) -> Iterator[str]:
    for table in results.tables:
        ratings = table.ratings
        if results.settings.anchor not in (None, ratings.anchor):
            yield (
                f"{table.name} is rated from {ratings.anchor}, its weakest: "
                f"{results.settings.anchor} does not play it"
            )
        for label, low, high in zip(ratings.entrants, ratings.low, ratings.high, strict=True):
            if not np.isfinite(low):
                yield f"{table.name}: {label} may be weaker by any amount, its games do not say"
            if not np.isfinite(high):
                yield f"{table.name}: {label} may be stronger by any amount, its games do not say"
