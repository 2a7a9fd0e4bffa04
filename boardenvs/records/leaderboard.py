"""A leaderboard in a folder: games of anybody against the published anchors, and a page of ratings.

    added = add(Path("runs/board"), [Path("runs/arena/games/othello.jsonl")])
    print(added.new, added.refused)

The folder has games.jsonl with all games that count: those that keep to the rules, are over, and
were played against a published anchor, from both sides of an opening. Results are the rules',
whatever a record claims. report.html, report.md and pictures are made of these games alone.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import numpy as np
from pydantic import Field

from boardenvs.arena.estimate import rating_of
from boardenvs.arena.match import MatchResult
from boardenvs.arena.pairing import Played
from boardenvs.arena.player import Faults
from boardenvs.arena.pools import rating_pool
from boardenvs.arena.ratings import Z95, Ratings
from boardenvs.arena.report import PAGES, table_parts, write_pages
from boardenvs.arena.results import Crosstable
from boardenvs.game.contract import Game
from boardenvs.game.rules import LOSS, WIN
from boardenvs.games import spec_of
from boardenvs.records.batch import Verdict, check
from boardenvs.records.jsonl import MAX_MEMORY, read_each, write_record
from boardenvs.records.record import Record, positions
from boardenvs.utils.checks import cut, quote
from boardenvs.utils.decoding import decode
from boardenvs.utils.files import is_unused, one_process_at_a_time, replacing

GAMES = "games.jsonl"
WRITTEN = (GAMES, *PAGES)

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


@dataclass(frozen=True)
class Counting:
    """A game that counts, once the other game of its opening does."""

    record: Record
    player: str
    role: int  # the player's
    anchor: str
    counted: Counted  # what the player told of it
    score: float  # the player's, 0 to 1
    forfeit: bool  # by the player

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for the same game handed in twice."""
        return spec_of(self.record.game), self.record.players, self.record.actions


Pair: TypeAlias = tuple[Counting, Counting]  # the games of an opening: the player's roles 0 and 1


@dataclass(frozen=True)
class Added:
    """What came of adding games."""

    new: int  # games
    known: int  # games that were on the board already, or twice among those added
    refused: Mapping[tuple[Path, str], Sequence[int]]  # lines, by file and reason
    tables: tuple[Crosstable, ...]  # of each game
    lacking: Sequence[str]  # what could not be written and why


def add(folder: Path, sources: Sequence[Path]) -> Added:
    """Add the games of files, or of tournaments' folders, to the leaderboard in a folder, and write
    its page anew.

    The board's games are in the folder before the page is written, all of them or none. Of several
    processes that add, one waits for the other. ValueError where a file cannot be read, or where
    the folder is none of a leaderboard.
    """
    kept = folder / GAMES
    if not kept.exists() and not is_unused(folder, (*WRITTEN, f"{GAMES}.lock")):
        raise ValueError(f"{folder} is not used: it has files but no {GAMES}")
    paths = [path for source in sources for path in _files_of(source)]
    folder.mkdir(parents=True, exist_ok=True)
    with one_process_at_a_time(folder / f"{GAMES}.lock"):
        games = _Games()
        content = b""
        if kept.exists():
            games.read(kept)
            content = kept.read_bytes()
        before, already = len(games.pairs), games.known
        for path in paths:
            games.read(path)
        new = [game.record for pair in games.pairs[before:] for game in pair]
        if new or not kept.exists():
            with replacing(kept) as file:
                file.write(content + b"\n" * (content[-1:] not in (b"", b"\n")))
                file.writelines(f"{write_record(record)}\n".encode() for record in new)
        by_game: dict[Game, list[Pair]] = defaultdict(list)
        for pair in games.pairs:
            by_game[pair[0].record.game].append(pair)
        most_first = sorted(by_game.items(), key=lambda entry: -len(entry[1]))
        tables = tuple(_table(game, pairs) for game, pairs in most_first)
        lacking = write_pages(folder, tables, lambda pictures: _markdown(tables, pictures))
    return Added(len(new), games.known - already, games.refused, tables, lacking)


def _files_of(path: Path) -> list[Path]:
    """The files with games of a tournament's folder, or the file itself."""
    if not path.is_dir():
        return [path]
    found = sorted((path / "games").glob("*.jsonl"))
    if not found:
        raise ValueError(f"{path} has no games/*.jsonl: it is not the folder of a tournament")
    return found


# ---- which games count ---------------------------------------------------------------------------


@dataclass
class _Games:
    """The games of several files that count, and why the others do not."""

    pairs: list[Pair] = field(default_factory=list)
    known: int = 0  # games that were among them already
    refused: dict[tuple[Path, str], list[int]] = field(default_factory=lambda: defaultdict(list))
    _keys: set[tuple[object, ...]] = field(default_factory=set)

    def read(self, path: Path) -> None:
        """Take the games of a file of JSON lines; ValueError where it cannot be read to its end."""
        alone: dict[object, tuple[int, Counting]] = {}  # whose other game is not found yet
        each = read_each(path, MAX_MEMORY)
        while batch := list(itertools.islice(each, _BATCH)):
            verdicts = iter(check([found for _, found in batch if isinstance(found, Record)]))
            for line, found in batch:
                try:
                    if not isinstance(found, Record):
                        raise found
                    game = judge(found, next(verdicts))
                except ValueError as error:
                    self.refused[path, str(error)].append(line)
                else:
                    self._pair(path, line, game, alone)
        for line, _ in alone.values():
            self.refused[path, _ALONE].append(line)

    def _pair(
        self, path: Path, line: int, game: Counting, alone: dict[object, tuple[int, Counting]]
    ) -> None:
        """Put a game beside the other one of its opening."""
        opening = game.record.game, game.player, game.anchor, str(game.record.info.get("opening"))
        other_line, other = alone.pop(opening, (0, None))
        if other is None or other.role == game.role:
            if other is not None:
                self.refused[path, _ALONE].append(other_line)
            alone[opening] = line, game
        elif not {game.key, other.key}.isdisjoint(self._keys):
            self.known += 2
        else:
            self._keys |= {game.key, other.key}
            self.pairs.append((other, game) if game.role else (game, other))


def judge(record: Record, verdict: Verdict) -> Counting:
    """The game with its score, by what the rules say; ValueError where it does not count."""
    if record.start is not None:
        raise ValueError("it does not begin at the game's start")
    if record.players is None:
        raise ValueError("it does not say who played")
    for name in record.players:
        if not _NAME.fullmatch(name) or not name.isprintable():
            raise ValueError(
                f"{quote(name)} is no name of a player: it must be 1 to 200 printable characters, "
                "none of them `"
            )
    game = spec_of(record.game)
    try:
        anchors = {anchor.agent for anchor in rating_pool(record.game).anchors}
    except ValueError:
        raise ValueError(f"there is no rating pool of {game}") from None
    are_anchors = [name in anchors for name in record.players]
    if are_anchors[0] == are_anchors[1]:
        which = "both players are anchors" if are_anchors[0] else "no player is an anchor"
        raise ValueError(f"{which} of the rating pool of {game}")
    role = are_anchors.index(False)
    player, anchor = record.players[role], record.players[1 - role]
    try:
        told = decode(dict[str, Counted], record.info.get("per_game", {}), "per_game")
    except ValueError as error:
        raise ValueError(f"its per_game: {error}") from None
    if verdict.error is not None:
        raise ValueError(cut(verdict.error, 200))
    score = 0.0
    if verdict.goal is None:
        _check_forfeit(record, player, role)
    elif "forfeit" in record.info:
        raise ValueError("it says that a player forfeited, but the game is over by the rules")
    else:
        score = (verdict.goal[role] - LOSS) / (WIN - LOSS)
    return Counting(record, player, role, anchor, told.get(player, {}), score, verdict.goal is None)


def _check_forfeit(record: Record, player: str, role: int) -> None:
    """ValueError but where the player, whose turn it is, forfeited a game that is not over: an
    anchor forfeits none.
    """
    said = record.info.get("forfeit")
    if said is None:
        raise ValueError("it is not over")
    if said not in (player, record.game.roles[role]):
        raise ValueError(f"{quote(said)} forfeited it: only what the player forfeits counts")
    if list(positions(record))[-1].to_move != role:
        raise ValueError(f"{quote(said)} forfeited it, whose turn it is not")
    if record.goal is not None and record.goal[role] != LOSS:
        raise ValueError(f"{quote(said)} forfeited it, but its goal is no loss")


# ---- ratings -------------------------------------------------------------------------------------


def _table(game: Game, pairs: Sequence[Pair]) -> Crosstable:
    """The ratings of who played a game, among the anchors that they met."""
    met: dict[str, dict[str, list[Pair]]] = defaultdict(lambda: defaultdict(list))
    for pair in pairs:
        met[pair[0].player][pair[0].anchor].append(pair)
    pool, played = rating_pool(game), list[Played]()
    rows: list[tuple[float, float, float, str]] = []  # a rating, its interval's ends, and whose
    for player, against in met.items():
        matches = {anchor: _match(ones) for anchor, ones in against.items()}
        found = rating_of(pool, matches)
        low, high = found.low, found.high
        ends = -math.inf if low is None else low, math.inf if high is None else high
        rows.append((found.rating, *ends, player))
        played += [Played(spec_of(game), player, *entry) for entry in matches.items()]
    for anchor in pool.anchors:
        if any(anchor.agent in against for against in met.values()):
            width = Z95 * anchor.error
            rows.append((anchor.rating, anchor.rating - width, anchor.rating + width, anchor.agent))
    rows.sort(reverse=True)
    rating, *interval = np.array([row[:3] for row in rows]).T
    labels, unknown = tuple(row[3] for row in rows), np.full((len(rows), len(rows)), np.nan)
    ratings = Ratings(labels, pool.anchors[0].agent, rating, interval[0], interval[1], unknown)
    return Crosstable(spec_of(game), game, ratings, tuple(played))


def _match(pairs: Sequence[Pair]) -> MatchResult:
    """The games of a player against an anchor as a match."""
    games = [game for pair in pairs for game in pair]
    counts = Counter[str]()
    for game in games:
        counts.update(game.counted)
    moves, seconds = round(counts.pop("moves", 0)), float(counts.pop("cpu_seconds", 0))
    forfeits = np.array([[int(game.forfeit) for game in pair] for pair in pairs]).T
    faults = Faults(int(forfeits.sum()), None, 0, moves, moves, seconds, dict(counts))
    return MatchResult(
        scores=np.array([[game.score for game in pair] for pair in pairs]).T,
        forfeits=forfeits,
        mean_plies=float(np.mean([len(game.record.actions) for game in games])),
        openings=len(pairs),
        faults=(faults, Faults.none()),
    )


def _markdown(tables: Sequence[Crosstable], has_pictures: bool) -> str:
    games = sum(match.match.games for table in tables for match in table.played if match.match)
    parts = [
        "# Leaderboard\n",
        f"{games:,} games against the published anchors, each opening from both sides. Results are "
        "those that the rules give. Ratings are Elo points above random play, the anchors' being "
        "fixed; intervals are of 95 %, over openings, with the errors of the anchors' own. What "
        "replies were wrong, CPU time, tokens and cost are what players told.\n",
    ]
    for table in tables:
        parts += table_parts(table, has_pictures)
    return "\n".join(parts)
