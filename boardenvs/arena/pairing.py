"""A pairing of a tournament, two entrants that meet in one game, and how pairings are played."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from boardenvs.agents import agent_for
from boardenvs.arena.executor import FIRST, NOBODY, SECOND, Executor, note_running, seed_libraries
from boardenvs.arena.match import DIED, play_match
from boardenvs.arena.match_result import MatchResult, forfeited
from boardenvs.arena.recorder import record_match
from boardenvs.game.game import Game
from boardenvs.records.record import Record
from boardenvs.utils.imports import describe

Key = tuple[str, str, str]


@dataclass(frozen=True)
class Entrant:
    """A player of a tournament: its label, and a source for `boardenvs.agents.as_agent`."""

    label: str
    source: object


@dataclass(frozen=True)
class Pairing:
    """A match to play, in this process or another.

    `rules` is sent to another process as an object, since a program can register games of its own.
    """

    game: str  # its text, see `boardenvs.games.parse`
    rules: Game
    first: Entrant
    second: Entrant
    pairs: int  # of games: openings, each played twice
    opening_plies: tuple[int, int]
    seed: int

    @property
    def labels(self) -> tuple[str, str]:
        """The labels of its entrants."""
        return self.first.label, self.second.label

    @property
    def key(self) -> Key:
        """Its identity in a tournament."""
        return self.game, *self.labels

    def run(self) -> MatchResult | None:
        """Play it; an entrant that cannot be made forfeits all games."""
        agents = []
        seed_libraries(self.seed)
        for side, entrant in ((FIRST, self.first), (SECOND, self.second)):
            note_running(side)
            try:
                agents.append(agent_for(self.rules, entrant.source))
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # as in a match
                return forfeited(self.pairs, side, f"cannot be made: {describe(error)}")
        note_running(NOBODY)
        seed_libraries(self.seed)  # torch too, if they have imported it
        a, b = agents
        return play_match(
            self.rules, a, b, self.pairs, opening_plies=self.opening_plies, seed=self.seed
        )

    def lost(self, side: int) -> MatchResult | None:
        """Return the match if its process died twice, the last time in the code of this side."""
        return None if side == NOBODY else forfeited(self.pairs, side, DIED)


class Played(NamedTuple):
    """A pairing that was played."""

    pairing: Pairing
    match: MatchResult | None  # None: it is void, since its process died twice in no entrant's code

    @property
    def records(self) -> list[Record]:
        """Its games."""
        pairing, match = self
        return record_match(pairing.rules, match, pairing.labels) if match else []


def matches(played: Iterable[Played]) -> Iterator[tuple[Pairing, MatchResult]]:
    """Yield the pairings that are not void, with their matches."""
    return ((pairing, match) for pairing, match in played if match)


def play_pairings(
    pairings: Sequence[Pairing], *, workers: int | None = 0
) -> Generator[Played, None, None]:
    """Play pairings, and yield each result as it comes.

    Without `workers` they are played here, in their order; otherwise in this number of processes.
    The results are the same: each pairing seeds the generators of Python, NumPy and torch, from
    which players may draw, here those of your program.

    If processes die twice over a pairing (see `Executor`), the entrant whose code was running
    forfeits all games; if it was no entrant's, the pairing is void. When the iteration ends early,
    the processes end too. Errors are the executor's.
    """
    with Executor(workers) as executor:
        for number, match in executor.run(pairings):
            yield Played(pairings[number], match)
