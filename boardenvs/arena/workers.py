"""Playing pairings: in this process, in others, any of which may die, or on a cluster."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from boardenvs.arena.executor import Executor
from boardenvs.arena.match import MatchResult
from boardenvs.arena.pairing import Pairing, Played


def play_pairings(
    pairings: Sequence[Pairing], *, workers: int | None = None, address: str | None = None
) -> Generator[Played, None, None]:
    """Play pairings, and yield each result as it comes; to resume, leave out those already played.

    Without `workers` they are played here, in their order; otherwise in this number of processes,
    or on the Ray cluster at `address`. The results are the same.

    If processes die twice over a pairing (see `Executor`), the entrant whose code was running
    forfeits all games; if it was no entrant's, the pairing is void. When the iteration ends early,
    the processes end too. Errors are the executor's.
    """
    with Executor(workers, address) as executor:
        for _, played in play_by(executor, pairings):
            yield played


def play_by(
    executor: Executor, pairings: Sequence[Pairing]
) -> Generator[tuple[int, Played], None, None]:
    """Play pairings by an executor that exists; yield each one's number and result."""
    tasks = [replace(pairing, strict=executor.elsewhere) for pairing in pairings]
    return executor.run(tasks)


# ---- a match in parts ----------------------------------------------------------------------------

_MOST_PARTS = 1000


@dataclass(frozen=True)
class MatchInParts:
    """A match that is played in parts."""

    total: int  # games
    parts: dict[int, MatchResult] = field(default_factory=dict)  # those that are over

    @property
    def over(self) -> int:
        """How many games are over."""
        return sum(match.games for match in self.parts.values())

    def result(self) -> MatchResult:
        """The match so far: the openings whose games are over."""
        return MatchResult.joined([self.parts[number] for number in sorted(self.parts)])


def play_in_parts(
    pairing: Pairing,
    executor: Executor,
    progress: Callable[[MatchInParts], None] = lambda match: None,
) -> MatchResult:
    """Play a pairing as up to 1,000 parts, each of a few openings; `progress` is called after each.

    The result depends on the pairing alone. Players that draw no random numbers play as in
    `pairing.play`; the others draw others in each part. RuntimeError if a part is void.
    """
    ends = [round(x) for x in np.linspace(0, pairing.pairs, min(pairing.pairs, _MOST_PARTS) + 1)]
    tasks = [replace(pairing, part=part) for part in itertools.pairwise(ends)]
    match = MatchInParts(2 * pairing.pairs)
    for number, played in play_by(executor, tasks):
        if played.match is None:
            raise RuntimeError(f"a part of the match could not be played: {played.void}")
        match.parts[number] = played.match
        progress(match)
    return match.result()
