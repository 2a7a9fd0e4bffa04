"""The result of a pairing, also as JSON for a journal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any

import numpy as np
from pydantic import AfterValidator, ConfigDict

from boardenvs.arena.match_result import MatchResult
from boardenvs.arena.player import Amount, Count, Faults
from boardenvs.utils.decoding import decode

# A letter of JSON for each game: the first entrant's score, and who forfeited: 1 the first, 2 the
# second.
_OUTCOMES = {"W": (1.0, 0), "D": (0.5, 0), "L": (0.0, 0), "F": (0.0, 1), "G": (1.0, 2)}

Key = tuple[str, str, str]


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
            "faults": [asdict(faults) for faults in self.match.faults],
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
        forfeits = ["".join(found.games).count(letter) for letter in "FG"]
        if (given := [faults.forfeits for faults in found.faults]) != forfeits:
            raise ValueError(f"forfeits are {given}: those of its games are {forfeits}")
        if not 1 <= found.openings <= pairs:
            raise ValueError(f"openings is {found.openings}: it must be 1 to {pairs}")
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


def matches(played: Iterable[Played]) -> Iterator[tuple[Played, MatchResult]]:
    """The pairings that are not void, with their matches."""
    return ((p, p.match) for p in played if p.match is not None)


def _are_games(rows: tuple[str, str]) -> tuple[str, str]:
    if not len(rows[0]) == len(rows[1]) > 0 or not set("".join(rows)) <= set(_OUTCOMES):
        raise ValueError(f"it must be two texts, as long, of {', '.join(_OUTCOMES)}")
    return rows


@dataclass
class _Line:
    """The head of a journal's line."""

    __pydantic_config__ = ConfigDict(extra="forbid")

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
