"""Playing pairings: in this process, in others, any of which may die, or on a cluster."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import replace

import numpy as np

from boardenvs.arena.executor import Executor
from boardenvs.arena.match import MatchResult
from boardenvs.arena.pairing import Pairing, Played


def play_pairings(
    pairings: Sequence[Pairing],
    *,
    workers: int | None = 0,
    address: str | None = None,
    known: Iterable[Played] = (),
) -> Generator[Played, None, None]:
    """Play pairings, and yield each result as it comes; to resume, leave out those already played.

    Without `workers` they are played here, in their order; otherwise in this number of processes,
    on the Ray cluster at `address` if one is given. The pairings that took longest in the results
    that are already `known` go first. The results are the same.

    If processes die twice over a pairing (see `Executor`), the entrant whose code was running
    forfeits all games; if it was no entrant's, the pairing is void. When the iteration ends early,
    the processes end too. Errors are the executor's.
    """
    with Executor(workers, address) as executor:
        for _, played in play_by(executor, pairings, known):
            yield played


def play_by(
    executor: Executor, pairings: Sequence[Pairing], known: Iterable[Played] = ()
) -> Generator[tuple[int, Played], None, None]:
    """Play pairings by an executor that exists; yield each one's number and result."""
    costs: dict[tuple[str, str], float] = {}
    for played in known:
        costs |= _costs(played)

    def cost(pairing: Pairing) -> float:
        """CPU seconds that the entrants took before; unknown ones may cost most."""
        return sum(costs.get((pairing.game, label), math.inf) for label in pairing.key[1:])

    tasks = [replace(pairing, strict=executor.elsewhere) for pairing in pairings]
    for number, played in executor.run(tasks, cost=cost):
        costs |= _costs(played)
        yield number, played


def _costs(played: Played) -> dict[tuple[str, str], float]:
    """The CPU seconds that each entrant took in the game."""
    if played.match is None:
        return {}
    return {
        (played.game, label): faults.all_cpu_seconds
        for label, faults in zip(played.key[1:], played.match.faults, strict=True)
    }


# ---- a match in parts ----------------------------------------------------------------------------

_MOST_PARTS = 1000


class MatchInParts:
    """The results of a match that is played in parts."""

    def __init__(self, total: int) -> None:
        self.total = total  # games
        self._found: dict[int, MatchResult] = {}

    @property
    def over(self) -> int:
        """How many games are over."""
        return sum(match.games for match in self._found.values())

    def add(self, number: int, played: Played) -> None:
        """Add a part by its number; RuntimeError if it is void."""
        if played.match is None:
            raise RuntimeError(f"a part of the match could not be played: {played.void}")
        self._found[number] = played.match

    def result(self) -> MatchResult:
        """The match so far: the openings whose games are over."""
        return MatchResult.joined([self._found[number] for number in sorted(self._found)])


def play_in_parts(
    pairing: Pairing,
    executor: Executor,
    progress: Callable[[MatchInParts], None] = lambda parts: None,
) -> MatchResult:
    """Play a pairing as up to 1,000 parts, each of a few openings; `progress` is called after each.

    The result depends on the pairing alone. Players that draw no random numbers play as in
    `pairing.play`; the others draw others in each part.
    """
    ends = [round(x) for x in np.linspace(0, pairing.pairs, min(pairing.pairs, _MOST_PARTS) + 1)]
    tasks = [replace(pairing, part=part) for part in itertools.pairwise(ends)]
    parts = MatchInParts(2 * pairing.pairs)
    for number, played in play_by(executor, tasks):
        parts.add(number, played)
        progress(parts)
    return parts.result()
