"""What a tournament came to: a table for each game and one over all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from boardenvs.arena.playing.match import MatchResult
from boardenvs.arena.tournament.job import Played
from boardenvs.arena.tournament.ratings import Ratings, rate
from boardenvs.arena.tournament.settings import Plan, Settings
from boardenvs.game.state import FloatArray

OVERALL = "overall"


@dataclass
class Standing:
    """How an entrant stands in a crosstable."""

    by_role: list[list[int]] = field(default_factory=lambda: [[0, 0, 0], [0, 0, 0]])
    forfeits: int = 0
    cpu_seconds: float = 0.0  # on the timed moves, see `boardenvs.arena.playing.player.Conduct`
    timed_moves: int = 0

    @property
    def counts(self) -> tuple[int, int, int]:
        """Wins, draws and losses."""
        won, drawn, lost = (sum(counts) for counts in zip(*self.by_role, strict=True))
        return won, drawn, lost

    @property
    def games(self) -> int:
        return sum(self.counts)

    @property
    def score(self) -> float:
        won, drawn, _ = self.counts
        return (won + drawn / 2) / max(1, self.games)

    @property
    def ms_per_move(self) -> float | None:
        """CPU milliseconds that it thought about a move; None where nothing was timed."""
        return 1000 * self.cpu_seconds / self.timed_moves if self.timed_moves else None


@dataclass(frozen=True)
class Crosstable:
    """Everybody's results against everybody, in one game, or in all by those who play them all."""

    name: str  # the game's text, or OVERALL
    roles: tuple[str, str]  # "first" and "second" over all games
    ratings: Ratings
    played: tuple[Played, ...]

    @property
    def entrants(self) -> tuple[str, ...]:
        """The strongest first."""
        return self.ratings.entrants

    @cached_property
    def standings(self) -> dict[str, Standing]:
        """By entrant."""
        standings = {label: Standing() for label in self.entrants}
        for played, match in matches(self.played):
            for side, label in enumerate((played.first, played.second)):
                standing, conduct = standings[label], match.conduct[side]
                for role, counts in enumerate(match.by_role):
                    seen = counts if side == 0 else counts[::-1]
                    own = standing.by_role[role ^ side]
                    own[:] = [x + y for x, y in zip(own, seen, strict=True)]
                standing.forfeits += conduct.forfeits
                standing.cpu_seconds += conduct.cpu_seconds
                standing.timed_moves += conduct.timed_moves
        return standings

    @cached_property
    def counts(self) -> FloatArray:
        """Wins, draws and losses of i against j, (k, k, 3), in the order of `entrants`."""
        index = {label: i for i, label in enumerate(self.entrants)}
        counts = np.zeros((len(index), len(index), 3))
        for played, match in matches(self.played):
            i, j = index[played.first], index[played.second]
            counts[i, j] += (match.wins, match.draws, match.losses)
            counts[j, i] += (match.losses, match.draws, match.wins)
        return counts

    @property
    def scores(self) -> FloatArray:
        """Mean scores of i against j, (k, k), NaN where they did not meet."""
        won, drawn, _ = np.moveaxis(self.counts, -1, 0)
        total = self.counts.sum(axis=-1)
        with np.errstate(invalid="ignore"):
            scores: FloatArray = (won + drawn / 2) / total
        return scores


@dataclass(frozen=True)
class Results:
    """A tournament that is over."""

    settings: Settings
    plan: Plan
    tables: tuple[Crosstable, ...]  # by game, then OVERALL where several games were played
    played: tuple[Played, ...]

    @property
    def widest_first(self) -> list[Crosstable]:
        """The table over all games, where there is one, and then those of the games."""
        return sorted(self.tables, key=lambda table: table.name != OVERALL)


def matches(played: Iterable[Played]) -> Iterable[tuple[Played, MatchResult]]:
    """The results that are not void."""
    return ((p, p.match) for p in played if p.match is not None)


def summarise(settings: Settings, plan: Plan, played: Sequence[Played]) -> Results:
    """The tables of these results, which are all of the plan's."""
    tables = []
    for name, players in plan.players.items():
        if len(players) > 1:
            of_game = [p for p in played if p.game == name]
            tables.append(_table(settings, name, plan.games[name].roles, players, of_game))
    everywhere = [
        entrant.label
        for entrant in settings.entrants
        if all(entrant.label in table.entrants for table in tables)
    ]
    if len(tables) > 1 and len(everywhere) > 1:
        between = [p for p in played if {p.first, p.second} <= set(everywhere)]
        tables.append(_table(settings, OVERALL, ("first", "second"), everywhere, between))
    return Results(settings, plan, tuple(tables), tuple(played))


def _table(
    settings: Settings,
    name: str,
    roles: tuple[str, str],
    players: Sequence[str],
    played: Sequence[Played],
) -> Crosstable:
    scores: dict[tuple[str, str], list[FloatArray]] = {}
    for p, match in matches(played):
        scores.setdefault((p.first, p.second), []).append(match.pair_scores)
    anchor = settings.anchor if settings.anchor in players else None
    return Crosstable(name, roles, rate(players, scores, anchor, settings.seed), tuple(played))
