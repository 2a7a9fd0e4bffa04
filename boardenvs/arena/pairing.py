"""A pairing of a tournament, two entrants that meet in one game, and how pairings are played."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from boardenvs.agents import Agent, agent_for
from boardenvs.agents.base import cpu_elsewhere, games_at_once, report_of
from boardenvs.agents.history import History, with_history
from boardenvs.arena.executor import NOBODY, Executor
from boardenvs.arena.match import MatchInProgress, draw_openings, parts_of, play_match
from boardenvs.arena.match_result import MatchResult
from boardenvs.arena.played import Key, Played
from boardenvs.arena.player import Faults
from boardenvs.game.contract import Game
from boardenvs.game.openings import Openings
from boardenvs.game.state import IntArray, State, take
from boardenvs.utils.imports import describe

FIRST, SECOND = 1, 2  # whose code is running, or NOBODY's


@dataclass(frozen=True)
class Entrant:
    """A player of a tournament: its label, and a source for `boardenvs.agents.as_agent`."""

    label: str
    source: object


@dataclass(frozen=True)
class Part:
    """Some openings of a pairing, by number."""

    rows: range
    openings: Openings


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
    part: Part | None = None  # the openings to play; None: all

    @property
    def key(self) -> Key:
        """Its identity in a tournament."""
        return self.game, self.first.label, self.second.label

    def play(self, running: Callable[[int], None] = lambda side: None) -> Played:
        """Play it; an entrant that cannot be made forfeits all games.

        `running` is called with the side whose code is about to run, NOBODY for the arena's own.
        """
        wall, cpu = time.monotonic(), time.process_time()
        agents: list[Agent] = []
        for side, entrant in ((FIRST, self.first), (SECOND, self.second)):
            running(side)
            try:
                agents.append(_Announced(agent_for(self.rules, entrant.source), side, running))
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # as in a match
                return self.forfeited(side, f"cannot be made: {describe(error)}")
        running(NOBODY)
        match = self._play(agents)
        return Played(*self.key, match, time.monotonic() - wall, time.process_time() - cpu)

    def _play(self, agents: Sequence[Agent]) -> MatchResult:
        plies, seed, part = self.opening_plies, self.seed, self.part
        if part is None:
            first, second = agents
            return play_match(self.rules, first, second, self.pairs, opening_plies=plies, seed=seed)
        match = MatchInProgress(self.rules, part.openings, part.rows.start)
        match.play([range(len(part.rows))], agents, seed)
        return match.result()

    def forfeited(self, side: int, message: str) -> Played:
        """The result if one side loses all games unplayed; with NOBODY it is void."""
        if side == NOBODY:
            return Played(*self.key, None, void=message)
        pairs = self.pairs if self.part is None else len(self.part.rows)
        faults = [Faults(), Faults()]
        faults[side - 1].add(2 * pairs, message)
        match = MatchResult(
            scores=np.full((2, pairs), float(side == SECOND)),
            forfeits=np.full((2, pairs), side, np.int8),
            mean_plies=0.0,
            openings=self.pairs,
            faults=(faults[0], faults[1]),
        )
        return Played(*self.key, match)

    def run(self, shared: None, running: Callable[[int], None]) -> Played:
        """Play it, as a task of an executor."""
        return self.play(running)

    def lost(self, side: int) -> Played:
        return self.forfeited(side, "the process died, twice")


@dataclass(frozen=True)
class _Announced:
    """An agent that calls `running` before and after its code."""

    agent: Agent
    side: int
    running: Callable[[int], None]

    @property
    def cpu_seconds(self) -> float:
        return cpu_elsewhere(self.agent)

    @property
    def games_at_once(self) -> int:
        return games_at_once(self.agent)

    def report(self) -> dict[str, float]:
        return report_of(self.agent)

    def act(
        self,
        game: Game,
        state: State,
        rng: np.random.Generator,
        history: History | None = None,
    ) -> IntArray:
        self.running(self.side)
        chosen = with_history(self.agent.act, history)(game, state, rng)
        self.running(NOBODY)
        return chosen


def play_pairings(
    pairings: Sequence[Pairing], *, workers: int | None = 0
) -> Generator[Played, None, None]:
    """Play pairings, and yield each result as it comes.

    Without `workers` they are played here, in their order; otherwise in this number of processes.
    The results are the same.

    If processes die twice over a pairing (see `Executor`), the entrant whose code was running
    forfeits all games; if it was no entrant's, the pairing is void. When the iteration ends early,
    the processes end too. Errors are the executor's.
    """
    with Executor(workers) as executor:
        for _, played in executor.run(pairings):
            yield played


def play_in_parts(
    pairing: Pairing,
    executor: Executor,
    progress: Callable[[MatchInProgress], None] = lambda match: None,
) -> MatchResult:
    """Play a pairing as `play_match` does, by processes; `progress` is called after each part.

    RuntimeError if a part is void.
    """
    drawn = draw_openings(pairing.rules, pairing.pairs, pairing.opening_plies, pairing.seed)
    match = MatchInProgress(pairing.rules, drawn)
    parts = [
        Part(rows, Openings(take(drawn.state, rows), drawn.actions[rows]))
        for rows in parts_of(pairing.pairs)
    ]
    tasks = [replace(pairing, part=part) for part in parts]
    for number, played in executor.run(tasks):
        if played.match is None:
            raise RuntimeError(f"a part of the match could not be played: {played.void}")
        match.add(parts[number].rows, played.match)
        progress(match)
    return match.result()
