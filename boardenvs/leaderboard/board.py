"""A leaderboard's folder: games.jsonl with all games that count, and report.html, report.md and
pictures, which are made of these games alone.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from boardenvs.arena.estimate import rating_of
from boardenvs.arena.match import MatchResult
from boardenvs.arena.pairing import Played
from boardenvs.arena.player import Faults
from boardenvs.arena.pools import rating_pool
from boardenvs.arena.ratings import Z95, Ratings
from boardenvs.arena.report import PAGES, table_parts, write_pages
from boardenvs.arena.results import Crosstable
from boardenvs.game.contract import Game
from boardenvs.games import spec_of
from boardenvs.leaderboard.games import Counting, Games, by_game, files_of
from boardenvs.records.jsonl import write_record
from boardenvs.utils.files import is_unused, one_process_at_a_time, replacing

GAMES = "games.jsonl"
WRITTEN = (GAMES, *PAGES)

Pairs = Sequence[tuple[Counting, Counting]]


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
    paths = [path for source in sources for path in files_of(source)]
    folder.mkdir(parents=True, exist_ok=True)
    with one_process_at_a_time(folder / f"{GAMES}.lock"):
        games = Games()
        if kept.exists():
            games.read(kept)
        before, already = len(games.pairs), games.known
        for path in paths:
            games.read(path)
        new = [game.record for pair in games.pairs[before:] for game in pair]
        if new or not kept.exists():
            content = kept.read_bytes() if kept.exists() else b""
            with replacing(kept) as file:
                file.write(content + b"\n" * (content[-1:] not in (b"", b"\n")))
                file.writelines(f"{write_record(record)}\n".encode() for record in new)
        tables = tuple(_table(game, pairs) for game, pairs in by_game(games.pairs).items())
        lacking = write_pages(folder, tables, lambda pictures: _markdown(tables, pictures))
    return Added(len(new), games.known - already, games.refused, tables, lacking)


def _table(game: Game, pairs: Pairs) -> Crosstable:
    """The ratings of who played a game, among the anchors that they met."""
    met: dict[str, dict[str, list[tuple[Counting, Counting]]]] = defaultdict(dict)
    for pair in pairs:
        met[pair[0].player].setdefault(pair[0].anchor, []).append(pair)
    pool, played = rating_pool(game), list[Played]()
    rows: list[tuple[float, float, float, str]] = []
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
    rating, low_ends, high_ends, labels = zip(*rows, strict=True)
    ratings = Ratings(
        entrants=labels,
        anchor=pool.anchors[0].agent,
        rating=np.array(rating),
        low=np.array(low_ends),
        high=np.array(high_ends),
        above=np.full((len(rows), len(rows)), np.nan),
    )
    return Crosstable(spec_of(game), game.roles, ratings, tuple(played))


def _match(pairs: Pairs) -> MatchResult:
    """The games of a player against an anchor as a match."""
    games = [game for pair in pairs for game in pair]
    counts: dict[str, float] = defaultdict(float)
    for game in games:
        for name, amount in game.counted.items():
            counts[name] += amount
    moves, seconds = round(counts.pop("moves", 0)), counts.pop("cpu_seconds", 0.0)
    forfeits = sum(game.forfeit for game in games)
    faults = Faults(forfeits, None, 0, moves, moves, seconds, dict(counts))
    return MatchResult(
        scores=np.array([[game.score for game in row] for row in zip(*pairs, strict=True)]),
        forfeits=np.array(
            [[int(game.forfeit) for game in row] for row in zip(*pairs, strict=True)]
        ),
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
