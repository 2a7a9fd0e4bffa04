"""Which recorded games count on a leaderboard: those that keep to the rules, are over, and were
played against a published anchor, from both sides of an opening. Results are the rules', whatever a
record claims.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from boardenvs.arena.pools import rating_pool
from boardenvs.game.contract import Game
from boardenvs.game.rules import LOSS, WIN
from boardenvs.games import spec_of
from boardenvs.records.batch import Verdict, check
from boardenvs.records.bounds import MAX_MEMORY
from boardenvs.records.jsonl import read_each
from boardenvs.records.record import Record, positions
from boardenvs.utils.checks import cut, quote
from boardenvs.utils.decoding import decode

_BATCH = 2000  # games checked at once
_NAME = re.compile("[^`]{1,200}")  # which pages show between two of these
_ALONE = "the opening's other game, roles swapped, is missing"

# What players tell of a game; nobody can check it.
Counted: TypeAlias = dict[
    Literal[
        "moves", "cpu_seconds", "cost", "prompt_tokens", "completion_tokens",
        "move", "illegal", "unparsable", "ambiguous", "forfeits",
    ],
    Annotated[float, Field(ge=0, le=1e12)],
]  # fmt: skip

Key: TypeAlias = tuple[str, tuple[str, str], tuple[int, ...]]  # the game, its players and actions


class RefusedError(ValueError):
    """A game that does not count; the message says why."""


@dataclass(frozen=True)
class Counting:
    """A game that counts, once the other game of its opening does."""

    record: Record
    player: str
    role: int  # the player's
    anchor: str
    counted: Mapping[str, float]  # what the player told of it
    score: float = 0.0  # the player's, 0 to 1
    forfeit: bool = False  # by the player

    @property
    def key(self) -> Key:
        """Equal for the same game handed in twice."""
        assert self.record.players is not None
        return spec_of(self.record.game), self.record.players, self.record.actions


@dataclass
class Games:
    """The games of several files that count, and why the others do not."""

    pairs: list[tuple[Counting, Counting]] = field(default_factory=list)  # the player's roles 0, 1
    known: int = 0  # games that were among them already
    refused: dict[tuple[Path, str], list[int]] = field(default_factory=dict)  # lines by reason
    _keys: set[Key] = field(default_factory=set)

    def read(self, path: Path) -> None:
        """Take the games of a file of JSON lines; ValueError where it cannot be read to its end."""
        alone: dict[object, tuple[int, Counting]] = {}  # whose other game is not found yet
        each = read_each(path, MAX_MEMORY)
        while batch := list(itertools.islice(each, _BATCH)):
            counting = [
                (line, game)
                for line, found in batch
                if (game := self._seated(path, line, found)) is not None
            ]
            verdicts = check([game.record for _, game in counting])
            for (line, seated), verdict in zip(counting, verdicts, strict=True):
                try:
                    game = judge(seated, verdict)
                except RefusedError as error:
                    self._refuse(path, str(error), line)
                else:
                    self._pair(path, line, game, alone)
        for line, _ in alone.values():
            self._refuse(path, _ALONE, line)

    def _seated(self, path: Path, line: int, found: Record | ValueError) -> Counting | None:
        if isinstance(found, Record):
            try:
                return seat(found)
            except RefusedError as error:
                found = error
        self._refuse(path, str(found), line)
        return None

    def _pair(
        self, path: Path, line: int, game: Counting, alone: dict[object, tuple[int, Counting]]
    ) -> None:
        """Put a game beside the other one of its opening."""
        opening = game.record.game, game.player, game.anchor, str(game.record.info.get("opening"))
        other_line, other = alone.pop(opening, (0, None))
        if other is None or other.role == game.role:
            if other is not None:
                self._refuse(path, _ALONE, other_line)
            alone[opening] = line, game
        elif not {game.key, other.key}.isdisjoint(self._keys):
            self.known += 2
        else:
            self._keys |= {game.key, other.key}
            self.pairs.append((other, game) if game.role else (game, other))

    def _refuse(self, path: Path, why: str, line: int) -> None:
        self.refused.setdefault((path, why), []).append(line)


def seat(record: Record) -> Counting:
    """Who plays whom, before the rules are asked; RefusedError where that does not count."""
    if record.start is not None:
        raise RefusedError("it does not begin at the game's start")
    if record.players is None:
        raise RefusedError("it does not say who played")
    for name in record.players:
        if not _NAME.fullmatch(name) or not name.isprintable():
            raise RefusedError(
                f"{quote(name)} is no name of a player: it must be 1 to 200 printable characters, "
                "none of them `"
            )
    game = spec_of(record.game)
    try:
        anchors = {anchor.agent for anchor in rating_pool(record.game).anchors}
    except ValueError:
        raise RefusedError(f"there is no rating pool of {game}") from None
    are_anchors = [name in anchors for name in record.players]
    if are_anchors[0] == are_anchors[1]:
        which = "both players are anchors" if are_anchors[0] else "no player is an anchor"
        raise RefusedError(f"{which} of the rating pool of {game}")
    role = are_anchors.index(False)
    player, anchor = record.players[role], record.players[1 - role]
    try:
        told = decode(dict[str, Counted], record.info.get("per_game", {}), "per_game")
    except ValueError as error:
        raise RefusedError(f"its per_game: {error}") from None
    counted = {str(name): amount for name, amount in told.get(player, {}).items()}
    return Counting(record, player, role, anchor, counted)


def judge(game: Counting, verdict: Verdict) -> Counting:
    """The game with its score, by what the rules say; RefusedError where it does not count."""
    if verdict.error is not None:
        raise RefusedError(cut(verdict.error, 200))
    info, role, goal = game.record.info, game.role, verdict.goal
    if goal is None:
        _check_forfeit(game)
        return replace(game, forfeit=True)
    if "forfeit" in info:
        raise RefusedError("it says that a player forfeited, but the game is over by the rules")
    return replace(game, score=(goal[role] - LOSS) / (WIN - LOSS))


def _check_forfeit(game: Counting) -> None:
    """RefusedError but where the player, whose turn it is, forfeited a game that is not over: an
    anchor forfeits none.
    """
    record, said = game.record, game.record.info.get("forfeit")
    if said is None:
        raise RefusedError("it is not over")
    if said not in (game.player, record.game.roles[game.role]):
        raise RefusedError(f"{quote(said)} forfeited it: only what the player forfeits counts")
    if list(positions(record))[-1].to_move != game.role:
        raise RefusedError(f"{quote(said)} forfeited it, whose turn it is not")
    if record.goal is not None and record.goal[game.role] != LOSS:
        raise RefusedError(f"{quote(said)} forfeited it, but its goal is no loss")


def files_of(path: Path) -> list[Path]:
    """The files with games of a tournament's folder, or the file itself."""
    if not path.is_dir():
        return [path]
    found = sorted((path / "games").glob("*.jsonl"))
    if not found:
        raise ValueError(f"{path} has no games/*.jsonl: it is not the folder of a tournament")
    return found


def by_game(pairs: list[tuple[Counting, Counting]]) -> dict[Game, list[tuple[Counting, Counting]]]:
    """The pairs of each game, those with the most first."""
    found: dict[Game, list[tuple[Counting, Counting]]] = {}
    for pair in pairs:
        found.setdefault(pair[0].record.game, []).append(pair)
    return dict(sorted(found.items(), key=lambda entry: -len(entry[1])))
