"""Makes the exams of the Othello family: endgames whose every move is solved to the last disc."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from boardenvs.exams.games import PLAYERS, Distinct, play_games, positions_of
from boardenvs.exams.questions import Question
from boardenvs.game.contract import Game, Position
from boardenvs.search import Limits, search_position

EMPTIES = (8, 10, 12, 14)
_EACH = 30  # positions of each number of empty squares and player
_PAIRS = 400  # of games of a player, which are enough


def endgames(game: Game, seed: int) -> Iterator[Question]:
    """Positions in which some moves give the win or the draw away and others do not, one a game."""
    distinct = Distinct(game)
    for player in PLAYERS:
        lines = iter(play_games(game, player, _PAIRS, 0.0, seed))
        for empties in EMPTIES:
            yield from itertools.islice(_of_games(game, lines, empties, distinct), _EACH)


def _of_games(
    game: Game, lines: Iterator[list[int]], empties: int, distinct: Distinct
) -> Iterator[Question]:
    for line in lines:
        question = _question(game, positions_of(game, line), empties)
        if question is not None and distinct.is_new(question.position):
            yield question


def _question(game: Game, positions: list[Position], empties: int) -> Question | None:
    of_size = (p for p in positions if _empty_squares(game, p) == empties)
    position = next((p for p in of_size if len(p.legal_actions()) > 1), None)
    if position is None:
        return None
    found = search_position(position, Limits(endgame=empties))
    values = {move.action: int(move.value or 0) for move in found.moves}
    assert all(move.outcome for move in found.moves), "no limit but the end"
    signs = np.sign(list(values.values()))
    if signs.max() == signs.min():
        return None
    return Question(f"{empties} empty squares", position, values)


def _empty_squares(game: Game, position: Position) -> int:
    return 64 - (position.own | position.opp | game.holes).bit_count()
