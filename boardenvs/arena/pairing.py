"""One pairing of a contest: two entrants who meet in one game, and what came of it, as JSON too."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from boardenvs.agents import Agent, as_agent
from boardenvs.agents.base import act_after
from boardenvs.arena.match import MatchResult, play_match
from boardenvs.arena.player import Faults
from boardenvs.game.contract import Game
from boardenvs.game.state import FloatArray, IntArray, State
from boardenvs.utils.checks import field_of, is_number, is_text, is_whole
from boardenvs.utils.imports import describe

NOBODY, FIRST, SECOND = 0, 1, 2  # whose code is running

# The result of a game for the first entrant, in JSON: won, drawn, lost, and by forfeit of either.
_WON, _DRAWN, _LOST, _FORFEITED, _GIVEN = "WDLFG"
_SCORES = {_WON: 1.0, _DRAWN: 0.5, _LOST: 0.0, _FORFEITED: 0.0, _GIVEN: 1.0}
_FORFEITS = {_FORFEITED: FIRST, _GIVEN: SECOND}

Key = tuple[str, str, str]


@dataclass(frozen=True)
class Entrant:
    """Who takes part: the label in tables, and what `boardenvs.agents.as_agent` makes it of."""

    label: str
    source: object


@dataclass(frozen=True)
class Pairing:
    """A match to play, in this process or another.

    The game goes to the process that plays it as an object, since that process may not know the
    text: a program can register games of its own.
    """

    game: str  # its text, see `boardenvs.games.parse`
    rules: Game
    first: Entrant
    second: Entrant
    pairs: int  # of games: openings, each played twice
    opening_plies: tuple[int, int]
    seed: int

    @property
    def key(self) -> Key:
        """What tells it from the other pairings of a contest."""
        return self.game, self.first.label, self.second.label

    def play(self, running: Callable[[int], None] = lambda side: None) -> Played:
        """Play it; an entrant that cannot even be made forfeits all games.

        `running` is told whose code is about to run, NOBODY where it is the arena's.
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
                return self.forfeited(side, f"cannot be made: {describe(error)}")
        running(NOBODY)
        match = play_match(
            self.rules,
            agents[0],
            agents[1],
            self.pairs,
            opening_plies=self.opening_plies,
            seed=self.seed,
        )
        return Played(*self.key, match, time.monotonic() - wall, time.process_time() - cpu)

    def forfeited(self, side: int, message: str) -> Played:
        """All games lost by one side without being played; those of NOBODY are void."""
        if side == NOBODY:
            return Played(*self.key, None, void=message)
        shape = (2, self.pairs)
        faults = [Faults(), Faults()]
        faults[side - 1].add(2 * self.pairs, message)
        match = MatchResult(
            scores=np.full(shape, float(side == SECOND)),
            forfeits=np.full(shape, side, np.int8),
            mean_plies=0.0,
            openings=self.pairs,
            faults=(faults[0], faults[1]),
        )
        return Played(*self.key, match)


@dataclass(frozen=True)
class Played:
    """What came of a pairing."""

    game: str
    first: str
    second: str
    match: MatchResult | None  # None where it is void
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    void: str = ""  # why

    @property
    def key(self) -> Key:
        return self.game, self.first, self.second

    def without_actions(self) -> Played:
        """The same, without the games' actions, which the journal does not keep either."""
        match = self.match
        return self if match is None else replace(self, match=replace(match, actions=None))

    def to_json(self) -> dict[str, Any]:
        """The result as JSON values; `from_json` reads them back."""
        head: dict[str, Any] = {"game": self.game, "first": self.first, "second": self.second}
        if self.match is None:
            return {**head, "void": self.void}
        return {
            **head,
            "games": _letters(self.match.scores, self.match.forfeits),
            "mean_plies": self.match.mean_plies,
            "openings": self.match.openings,
            "faults": [asdict(faults) for faults in self.match.faults],
            "seconds": round(self.seconds, 3),
            "cpu_seconds": round(self.cpu_seconds, 3),
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Played:
        """ValueError where the values are no result."""
        game, first, second = (
            str(field_of(values, key, is_text, "a text")) for key in ("game", "first", "second")
        )
        if "void" in values:
            void = field_of(values, "void", is_text, "a text")
            return cls(game, first, second, None, void=void)
        rows = field_of(values, "games", _are_games, f"two texts, as long, of {', '.join(_SCORES)}")
        one, other = map(_faults, field_of(values, "faults", _is_pair, "a list of two objects"))
        match = MatchResult(
            scores=np.array([[_SCORES[c] for c in row] for row in rows]),
            forfeits=np.array([[_FORFEITS.get(c, 0) for c in row] for row in rows], np.int8),
            mean_plies=_amount(values, "mean_plies"),
            openings=_count(values, "openings"),
            faults=(one, other),
        )
        seconds, cpu_seconds = (_amount(values, key) for key in ("seconds", "cpu_seconds"))
        return cls(game, first, second, match, seconds, cpu_seconds)


@dataclass(frozen=True)
class _Announced:
    """An agent that says when its code runs."""

    agent: Agent
    side: int
    running: Callable[[int], None]

    def act(self, game: Game, state: State, rng: np.random.Generator) -> IntArray:
        return self.act_after(game, state, np.empty((len(state.ply), 0), np.int16), rng)

    def act_after(
        self, game: Game, state: State, actions: IntArray, rng: np.random.Generator
    ) -> IntArray:
        self.running(self.side)
        chosen = act_after(self.agent, game, state, actions, rng)
        self.running(NOBODY)
        return chosen


def _letters(scores: FloatArray, forfeits: IntArray) -> list[str]:
    names = {1.0: _WON, 0.5: _DRAWN, 0.0: _LOST}
    by_forfeit = {side: letter for letter, side in _FORFEITS.items()}
    return [
        "".join(by_forfeit.get(f) or names[s] for s, f in zip(*row, strict=True))
        for row in zip(scores.tolist(), forfeits.tolist(), strict=True)
    ]


def _are_games(rows: Any) -> bool:
    """Whether these are the results of a match's games, as `_letters` writes them."""
    texts = isinstance(rows, list) and len(rows) == 2 and all(map(is_text, rows))
    return texts and len(rows[0]) == len(rows[1]) > 0 and set("".join(rows)) <= set(_SCORES)


def _is_pair(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(isinstance(x, dict) for x in value)


def _faults(values: Mapping[str, Any]) -> Faults:
    return Faults(
        **{key: _count(values, key) for key in ("forfeits", "repeats", "moves", "timed_moves")},
        message=field_of(values, "message", lambda x: x is None or is_text(x), "a text or null"),
        cpu_seconds=_amount(values, "cpu_seconds"),
    )


def _count(values: Mapping[str, Any], key: str) -> int:
    count: int = field_of(values, key, lambda x: is_whole(x, 0, 1 << 62), "a whole number from 0")
    return count


def _amount(values: Mapping[str, Any], key: str) -> float:
    return float(field_of(values, key, lambda x: is_number(x, 0, 1e15), "a number from 0 to 1e15"))
