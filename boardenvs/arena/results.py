"""The results of a tournament: a crosstable for each game and one over all games, and notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from boardenvs.arena.match import note_on_openings
from boardenvs.arena.pairing import Played, matches
from boardenvs.arena.player import PlayerStats
from boardenvs.arena.pools import published_ratings
from boardenvs.arena.ratings import Ratings, rate
from boardenvs.arena.tournament_settings import Plan, TournamentSettings
from boardenvs.game.rules import WIN
from boardenvs.game.state import FloatArray, IntArray
from boardenvs.records.record import Record

OVERALL = "overall"
VOID = "its process died twice, in no player's code"
_ZERO = "random"  # rated 0 where ratings are relative, if it takes part


@dataclass(frozen=True)
class Standing:
    """An entrant's games in a crosstable."""

    counts: tuple[int, int, int]  # wins, draws and losses
    stats: PlayerStats

    @property
    def games(self) -> int:
        return sum(self.counts)

    @property
    def score(self) -> float:
        won, drawn, _ = self.counts
        return (won + drawn / 2) / max(1, self.games)

    @property
    def plays(self) -> bool:
        """Whether it played on in some game; otherwise its rating means nothing."""
        return self.stats.forfeits < self.games or not self.games


@dataclass(frozen=True)
class Crosstable:
    """The results of all against all in one game, or in all games for entrants that play all."""

    name: str  # the game's text, or OVERALL
    ratings: Ratings
    played: tuple[Played, ...]

    @property
    def scale(self) -> str:
        """The name of ratings: "rating" on the scale of the game's pool, else "relative"."""
        return "rating" if len(self.ratings.anchors) > 1 else "relative"

    @property
    def entrants(self) -> tuple[str, ...]:
        """The strongest first."""
        return self.ratings.entrants

    @cached_property
    def standings(self) -> dict[str, Standing]:
        """Those of each entrant."""
        stats: dict[str, list[PlayerStats]] = {label: [] for label in self.entrants}
        for pairing, match in matches(self.played):
            for label, part in zip(pairing.labels, match.stats, strict=True):
                stats[label].append(part)
        return {
            label: Standing((won, drawn, lost), PlayerStats.sum(stats[label]))
            for label, (won, drawn, lost) in zip(
                self.entrants, self.counts.sum(axis=1).tolist(), strict=True
            )
        }

    @cached_property
    def counts(self) -> IntArray:
        """The wins, draws and losses of i against j, (k, k, 3), by index of `entrants`."""
        index = {label: i for i, label in enumerate(self.entrants)}
        counts = np.zeros((len(index), len(index), 3), np.int64)
        for pairing, match in matches(self.played):
            i, j = map(index.__getitem__, pairing.labels)
            counts[i, j] += match.counts
            counts[j, i] += match.counts[::-1]
        return counts


@dataclass(frozen=True)
class Results:
    """A tournament that is over."""

    settings: TournamentSettings
    plan: Plan
    tables: tuple[Crosstable, ...]  # by game, then OVERALL where several games were played
    played: tuple[Played, ...]

    @property
    def widest_first(self) -> list[Crosstable]:
        """The table over all games, if there is one, then the others."""
        return sorted(self.tables, key=lambda table: table.name != OVERALL)

    @property
    def dead(self) -> list[str]:
        """Entrants that forfeited all games of a table."""
        standings = (pair for table in self.tables for pair in table.standings.items())
        return list(dict.fromkeys(label for label, standing in standings if not standing.plays))

    @property
    def notes(self) -> list[str]:
        """Sentences on entrants that were left out, on faults, and on doubtful numbers."""
        return [*_left_out(self), *_played(self), *_ratings(self)]


def summarise(settings: TournamentSettings, plan: Plan, played: Sequence[Played]) -> Results:
    """Return the tables of the results of all pairings of a plan."""
    tables = []
    by_name = [e.label for e in settings.entrants if e.source == e.label]
    for name, game in plan.games.items():
        players = [e.label for e in settings.entrants if e.label not in plan.left_out[name]]
        if len(players) > 1:
            anchors = published_ratings(game, set(players) & set(by_name))
            of_game = [p for p in played if p.pairing.game == name]
            tables.append(_table(name, players, of_game, anchors, settings.seed))
    everywhere = [
        entrant.label
        for entrant in settings.entrants
        if all(entrant.label in table.entrants for table in tables)
    ]
    if len(tables) > 1 and len(everywhere) > 1:
        between = [p for p in played if set(p.pairing.labels) <= set(everywhere)]
        tables.append(_table(OVERALL, everywhere, between, {}, settings.seed))
    return Results(settings, plan, tuple(tables), tuple(played))


def rate_pairings(
    entrants: Sequence[str],
    records: Iterable[Record],
    anchors: Mapping[str, float] | None = None,
    seed: int = 0,
) -> Ratings:
    """Return the ratings of entrants by their games; see `boardenvs.arena.ratings.rate`.

    The games of two entrants with the same `opening` in their info are drawn together.
    """
    points: dict[tuple[str, str], dict[object, FloatArray]] = {}
    for number, record in enumerate(records):
        if record.goal and record.players:
            first, second = sorted(record.players)
            opening = record.game, record.info.get("opening", -number)
            goal = record.goal[:: 1 if record.players[0] == first else -1]
            openings = points.setdefault((first, second), {})
            openings[opening] = openings.get(opening, np.zeros(2)) + np.array(goal) / WIN
    pairs = {players: [np.array([*openings.values()])] for players, openings in points.items()}
    return rate(entrants, pairs, anchors or {}, seed)


def _table(
    name: str,
    players: Sequence[str],
    played: Sequence[Played],
    anchors: Mapping[str, float],
    seed: int,
) -> Crosstable:
    anchors = anchors or dict.fromkeys({_ZERO} & set(players), 0.0)
    pairs: dict[tuple[str, str], list[FloatArray]] = {}
    for pairing, match in matches(played):
        pairs.setdefault(pairing.labels, []).append(match.pair_points)
    return Crosstable(name, rate(players, pairs, anchors, seed), tuple(played))


def _left_out(results: Results) -> Iterator[str]:
    left_out = results.plan.left_out
    labels = [entrant.label for entrant in results.settings.entrants]
    for label in labels:
        reasons = {game: why[label] for game, why in left_out.items() if label in why}
        if reasons:
            yield f"{label} does not play {', '.join(reasons)}: {next(iter(reasons.values()))}"
    absent = [label for label in labels if label not in results.tables[-1].entrants]
    if len(results.tables) > 1 and absent:
        yield f"not in the table over all games, since not in every game: {', '.join(absent)}"


def _played(results: Results) -> Iterator[str]:
    for name, game in results.plan.games.items():
        if note := note_on_openings(game):
            yield f"{name}: {note}"
    for pairing, match in results.played:
        where = f"{' against '.join(pairing.labels)} in {pairing.game}"
        if match is None:
            yield f"{where} is void: {VOID}"
            continue
        for label, stats in zip(pairing.labels, match.stats, strict=True):
            if fault := stats.explain(label, match.games, f" of {where}"):
                yield fault
    few = {p.game: m.openings for p, m in matches(results.played) if m.openings < m.games // 2}
    for text, openings in few.items():
        yield (
            f"{text} has only {openings} distinct openings of its {results.settings.pairs}: "
            "repeated ones narrow the intervals more than they should"
        )


def _ratings(results: Results) -> Iterator[str]:
    for table in results.tables:
        ratings = table.ratings
        if table.scale == "relative":
            yield (
                f"{table.name}: ratings are relative to {ratings.anchors[0]}, not those of `rate`, "
                "since fewer than two anchors of one rating pool took part"
            )
        for label, standing in table.standings.items():
            if not standing.plays:
                yield f"{table.name}: {label} forfeited all its games and is not rated"
