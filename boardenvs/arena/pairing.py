"""One pairing of a tournament: two entrants that meet in one game, and its result, also as JSON."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any

import numpy as np
from pydantic import AfterValidator

from boardenvs.agents import Agent, as_agent
from boardenvs.agents.base import act_after, cpu_elsewhere, report_of
from boardenvs.arena.executor import NOBODY
from boardenvs.arena.match import MatchResult, draw_openings, play_openings, play_part
from boardenvs.arena.player import Amount, Count, Faults
from boardenvs.game.contract import Game
from boardenvs.game.errors import StopPlayError
from boardenvs.game.state import IntArray, State
from boardenvs.utils.decoding import decode
from boardenvs.utils.imports import describe

FIRST, SECOND = 1, 2  # whose code is running, or NOBODY's

# A letter of JSON for each game: the first entrant's score, and which side forfeited.
_OUTCOMES = {
    "W": (1.0, NOBODY),
    "D": (0.5, NOBODY),
    "L": (0.0, NOBODY),
    "F": (0.0, FIRST),
    "G": (1.0, SECOND),
}

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
    noise: float = 0.0  # the share of plies that are random
    part: tuple[int, int] | None = None  # the openings to play, from and to; None: all
    strict: bool = False  # whether an entrant that cannot be made here ends the tournament

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
                agents.append(_Announced(as_agent(entrant.source), side, running))
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # as in a match
                if self.strict:
                    raise StopPlayError(
                        f"{entrant.label} cannot be made on {platform.node()}, though it could "
                        f"where the command runs: {describe(error)}. Files and modules that "
                        "players are made of must be on every node, in the same place"
                    ) from error
                return self.forfeited(side, f"cannot be made: {describe(error)}")
        running(NOBODY)
        game, seed, noise = self.rules, self.seed, self.noise
        openings, rng = draw_openings(game, self.pairs, self.opening_plies, seed)
        if self.part is None:
            match = play_openings(game, agents, openings, rng, noise)
        else:
            match = play_part(game, agents, openings, self.part, seed, noise)
        return Played(*self.key, match, time.monotonic() - wall, time.process_time() - cpu)

    def forfeited(self, side: int, message: str) -> Played:
        """The result if one side loses all games unplayed; with NOBODY it is void."""
        if side == NOBODY:
            return Played(*self.key, None, void=message)
        pairs = self.pairs if self.part is None else self.part[1] - self.part[0]
        shape = (2, pairs)
        faults = [Faults(), Faults()]
        faults[side - 1].add(2 * pairs, message)
        match = MatchResult(
            scores=np.full(shape, float(side == SECOND)),
            forfeits=np.full(shape, side, np.int8),
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
class Played:
    """The result of a pairing."""

    game: str
    first: str
    second: str
    match: MatchResult | None  # None if it is void
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    void: str = ""  # why

    @property
    def key(self) -> Key:
        return self.game, self.first, self.second

    def without_actions(self) -> Played:
        """A copy without the games' actions, which the journal does not keep either."""
        match = self.match
        return self if match is None else replace(self, match=replace(match, actions=None))

    def to_json(self) -> dict[str, Any]:
        """The result as JSON values; `from_json` reads them back."""
        head: dict[str, Any] = {"game": self.game, "first": self.first, "second": self.second}
        if self.match is None:
            return {**head, "void": self.void}
        letters = {outcome: letter for letter, outcome in _OUTCOMES.items()}
        rows = zip(self.match.scores.tolist(), self.match.forfeits.tolist(), strict=True)
        return {
            **head,
            "games": ["".join(letters[game] for game in zip(*row, strict=True)) for row in rows],
            "mean_plies": self.match.mean_plies,
            "openings": self.match.openings,
            "faults": [_faults_to_json(faults) for faults in self.match.faults],
            "seconds": round(self.seconds, 3),
            "cpu_seconds": round(self.cpu_seconds, 3),
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any], pairs: int) -> Played:
        """Read what `to_json` wrote; ValueError if it is not a result of `pairs` pairs of games."""
        if "void" in values:
            void = decode(_Void, values, "a result")
            return cls(void.game, void.first, void.second, None, void=void.void)
        found = decode(_Games, values, "a result")
        if len(found.games[0]) != pairs:
            raise ValueError(
                f"it has {len(found.games[0])} pairs of games: the tournament's pairings have "
                f"{pairs}"
            )
        outcomes = np.array([[_OUTCOMES[letter] for letter in row] for row in found.games])
        match = MatchResult(
            scores=outcomes[..., 0],
            forfeits=outcomes[..., 1].astype(np.int8),
            mean_plies=found.mean_plies,
            openings=found.openings,
            faults=found.faults,
        )
        key = found.game, found.first, found.second
        return cls(*key, match, found.seconds, found.cpu_seconds)


def _faults_to_json(faults: Faults) -> dict[str, Any]:
    values = asdict(faults)
    return values if faults.counts else {k: v for k, v in values.items() if k != "counts"}


def _are_games(rows: tuple[str, str]) -> tuple[str, str]:
    if not len(rows[0]) == len(rows[1]) > 0 or not set("".join(rows)) <= set(_OUTCOMES):
        raise ValueError(f"it must be two texts, as long, of {', '.join(_OUTCOMES)}")
    return rows


@dataclass
class _Line:
    """The head of a journal's line."""

    game: str
    first: str
    second: str


@dataclass
class _Void(_Line):
    void: str


@dataclass
class _Games(_Line):
    games: Annotated[tuple[str, str], AfterValidator(_are_games)]
    mean_plies: Amount
    openings: Count
    faults: tuple[Faults, Faults]
    seconds: Amount
    cpu_seconds: Amount


@dataclass(frozen=True)
class _Announced:
    """An agent that calls `running` before and after its code."""

    agent: Agent
    side: int
    running: Callable[[int], None]

    @property
    def cpu_seconds(self) -> float:
        return cpu_elsewhere(self.agent)

    def report(self) -> dict[str, float]:
        return report_of(self.agent)

    def act(self, game: Game, state: State, rng: np.random.Generator) -> IntArray:
        return self.act_after(game, state, np.empty((len(state.ply), 0), np.int16), rng)

    def act_after(
        self, game: Game, state: State, actions: IntArray, rng: np.random.Generator
    ) -> IntArray:
        self.running(self.side)
        chosen = act_after(self.agent, game, state, actions, rng)
        self.running(NOBODY)
        return chosen
