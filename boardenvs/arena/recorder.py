"""Matches as records of games, and back."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from boardenvs.arena.match_result import MatchResult
from boardenvs.arena.player import Count, PlayerStats
from boardenvs.game.game import Game
from boardenvs.game.rules import WIN
from boardenvs.records.record import Record
from boardenvs.utils.decoding import decode

Players = tuple[str, str]


@dataclass
class _Totals:
    """What the last record of a match has in addition, in its info."""

    openings: Count  # distinct ones
    stats: tuple[PlayerStats, PlayerStats]


def record_match(game: Game, match: MatchResult, players: Players) -> list[Record]:
    """Return the finished games of a match that `play_match` returned.

    The two games of an opening follow one another. info has the number of the `opening`, from 1,
    and the player that forfeited as `forfeit`; that of the last game also has the number of
    distinct `openings`, and as `stats` of both players what they did in all games: their forfeits,
    CPU seconds and own counts, such as tokens and illegal replies.
    """
    records = []
    for opening, seat in itertools.product(range(match.scores.shape[1]), (0, 1)):
        score = float(match.scores[seat, opening])  # of the first player, in this role
        if math.isnan(score):
            continue
        actions, forfeited = match.actions[seat, opening], match.forfeits[seat, opening]
        info: dict[str, Any] = {"opening": opening + 1}
        if forfeited:
            info["forfeit"] = players[forfeited - 1]
        goal, names = (WIN * score, WIN * (1 - score)), players
        if seat:
            goal, names = goal[::-1], names[::-1]
        records.append(Record(game, tuple(actions[actions >= 0].tolist()), None, goal, names, info))
    if records:
        info |= asdict(_Totals(match.openings, match.stats))
    return records


def match_of(records: Sequence[Record], players: Players) -> MatchResult:
    """Return the match of `record_match`, without its actions; ValueError if it is another."""
    pairs = len(records) // 2
    info = {key: records[-1].info.get(key) for key in ("openings", "stats")}
    totals = decode(_Totals, info, "info")
    layout = [(k // 2 + 1, players[:: -1 if k % 2 else 1]) for k in range(2 * pairs)]
    goals = np.array([record.goal or (np.nan, np.nan) for record in records])
    scores = np.stack([goals[::2, 0], goals[1::2, 1]]) / WIN
    sides, losers = (None, *players), [record.info.get("forfeit") for record in records]
    if (
        [(record.info.get("opening"), record.players) for record in records] != layout
        or any(record.game != records[0].game for record in records)
        or any(loser not in sides for loser in losers)
        or [stats.forfeits for stats in totals.stats] != [losers.count(name) for name in players]
        or np.isnan(scores).any()
    ):
        raise ValueError("the openings, players, results or forfeits of its games do not fit")
    return MatchResult(
        scores=scores,
        forfeits=np.array([sides.index(loser) for loser in losers], np.int8).reshape(-1, 2).T,
        mean_plies=float(np.mean([len(record.actions) for record in records])),
        openings=totals.openings,
        stats=totals.stats,
        actions=np.empty((2, pairs, 0), np.int32),
    )
