"""Records of a match's games."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from boardenvs.game.contract import Game
from boardenvs.game.rules import WIN
from boardenvs.records.record import Record

if TYPE_CHECKING:
    from boardenvs.arena.match_result import MatchResult


def record_match(
    game: Game, match: MatchResult, players: tuple[str, str], *, cpu: bool = False
) -> list[Record]:
    """Return the finished games of a match that `play_match` returned.

    The two games of an opening follow one another. info has the number of the `opening`, from 1,
    the player that forfeited as `forfeit`, and as `per_game` the mean counts of a game: tokens,
    illegal replies.
    cpu: add moves and CPU seconds, which vary from run to run. ValueError if the match has no
    actions because it was read from a journal.
    """
    if match.actions is None:
        raise ValueError("the match has no actions: a journal does not keep them")
    per_game = _per_game(match, players, cpu)
    found: list[Record] = []
    for opening, seat in itertools.product(range(match.scores.shape[1]), (0, 1)):
        score = float(match.scores[seat, opening])  # of the first player, in this role
        if math.isnan(score):
            continue
        actions, forfeited = match.actions[seat, opening], match.forfeits[seat, opening]
        info: dict[str, Any] = {"opening": opening + 1}
        if forfeited:
            info["forfeit"] = players[forfeited - 1]
        if per_game:
            info["per_game"] = per_game
        goal = WIN * score, WIN * (1 - score)
        if seat == 1:
            goal = goal[::-1]
        names = players if seat == 0 else players[::-1]
        plies = tuple(actions[actions >= 0].tolist())
        found.append(Record(game, plies, goal=goal, players=names, info=info))
    return found


def _per_game(
    match: MatchResult, players: tuple[str, str], cpu: bool
) -> dict[str, dict[str, float]]:
    games = max(1, int(np.isfinite(match.scores).sum()))
    found = {}
    for player, faults in zip(players, match.faults, strict=True):
        counted = dict(faults.counts)
        if cpu:
            counted |= {"moves": faults.moves, "cpu_seconds": faults.all_cpu_seconds}
        if counted:
            found[player] = {name: round(amount / games, 6) for name, amount in counted.items()}
    return found
