"""One pairing of a tournament in one game: played from a seed of its own, and kept as JSON."""

from __future__ import annotations

import hashlib
import random
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from boardenvs.agents import Agent, as_agent
from boardenvs.agents.base import HistoryAgent
from boardenvs.arena.playing.match import MatchResult, play_match
from boardenvs.arena.playing.openings import same_winner
from boardenvs.arena.playing.player import Conduct
from boardenvs.game.contract import Game
from boardenvs.game.state import FloatArray, IntArray, State
from boardenvs.utils.checks import field_of, is_number, is_text, is_whole
from boardenvs.utils.imports import describe

NOBODY, FIRST, SECOND = 0, 1, 2  # whose code is running

# The result of a game for the first entrant, in JSON: won, drawn, lost, and by forfeit of either.
_WON, _DRAWN, _LOST, _FORFEITED, _GIVEN = "WDLFG"
_SCORES = {_WON: 1.0, _DRAWN: 0.5, _LOST: 0.0, _FORFEITED: 0.0, _GIVEN: 1.0}
_FORFEITS = {_FORFEITED: FIRST, _GIVEN: SECOND}


@dataclass(frozen=True)
class Entrant:
    """Who takes part: the label in tables, and what `boardenvs.agents.as_agent` makes it of."""

    label: str
    source: object


@dataclass(frozen=True)
class Job:
    """A match to play. The seed is the tournament's; random choices depend on it, on the game's
    text and on the two labels, and on nothing else that is played.

    The game goes to the process that plays it as an object, since that process may not know the
    text: a program can register games of its own.
    """

    game: str  # its text, see `boardenvs.games.parse`
    rules: Game
    first: Entrant
    second: Entrant
    pairs: int
    opening_plies: tuple[int, int]
    seed: int

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it from the other jobs of a tournament."""
        return self.game, self.first.label, self.second.label

    def play(self, running: Callable[[int], None] = lambda side: None) -> Played:
        """Play it; an entrant that cannot even be made forfeits all games.

        `running` is told whose code is about to run, NOBODY where it is the arena's.
        """
        wall, cpu = time.monotonic(), time.process_time()
        text = "\n".join((str(self.seed), *self.key))
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")
        _seed_global_generators(seed)
        agents: list[Agent] = []
        for side, entrant in ((FIRST, self.first), (SECOND, self.second)):
            running(side)
            try:
                agents.append(_announced(as_agent(entrant.source), side, running))
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
            keep=same_winner,
            seed=seed,
        )
        return Played(*self.key, match, time.monotonic() - wall, time.process_time() - cpu)

    def forfeited(self, side: int, message: str) -> Played:
        """All games lost by one side without being played; those of NOBODY are void."""
        if side == NOBODY:
            return Played(*self.key, None, void=message)
        shape = (2, self.pairs)
        guilty, other = Conduct(forfeits=2 * self.pairs, message=message), Conduct()
        match = MatchResult(
            scores=np.full(shape, float(side == SECOND)),
            forfeits=np.full(shape, side, np.int8),
            mean_plies=0.0,
            openings=self.pairs,
            conduct=(guilty, other) if side == FIRST else (other, guilty),
        )
        return Played(*self.key, match)


@dataclass(frozen=True)
class Played:
    """A job's result."""

    game: str
    first: str
    second: str
    match: MatchResult | None  # None where it is void
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    void: str = ""  # why

    @property
    def key(self) -> tuple[str, str, str]:
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
            "conduct": [asdict(conduct) for conduct in self.match.conduct],
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
        match = MatchResult(
            scores=np.array([[_SCORES[c] for c in row] for row in rows]),
            forfeits=np.array([[_FORFEITS.get(c, 0) for c in row] for row in rows], np.int8),
            mean_plies=_amount(values, "mean_plies"),
            openings=_count(values, "openings"),
            conduct=_conducts(field_of(values, "conduct", _is_pair, "a list of two objects")),
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
        self.running(self.side)
        actions = self.agent.act(game, state, rng)
        self.running(NOBODY)
        return actions


@dataclass(frozen=True)
class _AnnouncedHistoryAgent(_Announced):
    """The same of an agent that asks how games came about."""

    agent: HistoryAgent

    def act_after(
        self, game: Game, state: State, actions: IntArray, rng: np.random.Generator
    ) -> IntArray:
        self.running(self.side)
        chosen = self.agent.act_after(game, state, actions, rng)
        self.running(NOBODY)
        return chosen


def _announced(agent: Agent, side: int, running: Callable[[int], None]) -> _Announced:
    if isinstance(agent, HistoryAgent):
        return _AnnouncedHistoryAgent(agent, side, running)
    return _Announced(agent, side, running)


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


def _conducts(pair: Sequence[Mapping[str, Any]]) -> tuple[Conduct, Conduct]:
    first, second = (
        Conduct(
            **{key: _count(values, key) for key in ("forfeits", "repeats", "moves", "timed_moves")},
            message=field_of(
                values, "message", lambda x: x is None or is_text(x), "a text or null"
            ),
            cpu_seconds=_amount(values, "cpu_seconds"),
        )
        for values in pair
    )
    return first, second


def _count(values: Mapping[str, Any], key: str) -> int:
    count: int = field_of(values, key, lambda x: is_whole(x, 0, 1 << 62), "a whole number from 0")
    return count


def _amount(values: Mapping[str, Any], key: str) -> float:
    return float(field_of(values, key, lambda x: is_number(x, 0, 1e15), "a number from 0 to 1e15"))


def _seed_global_generators(seed: int) -> None:
    """Have agents that draw from a library's own generator repeat themselves too."""
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002  # it is theirs, not ours
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(seed % 2**63)
