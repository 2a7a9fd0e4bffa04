"""Makes the exam of Lines of Action: forced wins and only defences, proven by search."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from boardenvs.exams.games import PLAYERS, Distinct, play_games, positions_of, shuffled
from boardenvs.exams.questions import Question
from boardenvs.game.contract import Game, Position, stack
from boardenvs.game.perft import successors
from boardenvs.game.rules import WIN
from boardenvs.game.state import BoolArray, IntArray, State, take
from boardenvs.search import Limits, search_position

_WINS = (1, 3, 5)  # plies
_EACH = 80  # positions of each kind
_PAIRS = 150  # of games of a player
_NOISE = 0.1  # share of random plies, lest all games end alike
_MOST = 0.25  # of the moves may be right


def wins_and_defences(game: Game, seed: int) -> Iterator[Question]:
    """Positions with a win in so many plies, and such with one move that does not lose at once."""
    games = [line for player in PLAYERS for line in play_games(game, player, _PAIRS, _NOISE, seed)]
    distinct = Distinct(game)
    finders: list[tuple[str, Callable[[list[Position]], tuple[Position, list[int]] | None]]] = [
        (
            f"win in {plies} {'ply' if plies == 1 else 'plies'}",
            lambda p, plies=plies: _win(game, p, plies),  # type: ignore[misc]
        )
        for plies in _WINS
    ]
    finders.append(("only defence", lambda p: _only_defence(game, p)))
    for number, (kind, find) in enumerate(finders):
        count = 0
        for line in shuffled(games, seed + number):
            found = find(positions_of(game, line))
            if found is not None and distinct.is_new(found[0]):
                position, right = found
                values = {a: int(a in right) for a in position.legal_actions()}
                yield Question(kind, position, values)
                count += 1
            if count == _EACH:
                break


def _win(game: Game, positions: list[Position], plies: int) -> tuple[Position, list[int]] | None:
    """The position so many plies before the end, if these are what the fastest win takes, and the
    moves with which it takes no more.
    """
    if len(positions) <= plies:
        return None
    position = positions[-plies]
    found = search_position(position, Limits(depth=plies))
    if found.outcome != "win" or found.plies != plies:
        return None
    right = [m.action for m in found.moves if m.outcome == "win" and m.plies == plies]
    return (position, right) if len(right) <= _MOST * len(found.moves) else None


def _only_defence(game: Game, positions: list[Position]) -> tuple[Position, list[int]] | None:
    """The last position in which one move alone does not lose, at once or by the next ply, and
    in which none wins at once.
    """
    rows, actions, after = successors(game, stack(positions))
    mover = 1 - after.to_move
    wins = _won_by(game, after, mover)
    safe = ~wins & ~_won_by(game, after, 1 - mover)
    replying = np.flatnonzero(~game.is_over(after))
    replied_to, _, replied = successors(game, take(after, replying))
    safe[replying[replied_to[_won_by(game, replied, 1 - replied.to_move)]]] = False
    count = len(positions)
    right, chances = (np.bincount(rows[x], minlength=count) for x in (safe, wins))
    moves = np.bincount(rows, minlength=count)
    found = np.flatnonzero((right == 1) & (chances == 0) & (moves > 1))
    if not found.size:
        return None
    row = int(found[-1])
    return positions[row], actions[safe & (rows == row)].tolist()


def _won_by(game: Game, state: State, roles: IntArray) -> BoolArray:
    """Where the game is over and won by that role, (B,) bool."""
    result = game.results(state)[np.arange(len(roles)), roles]
    won: BoolArray = game.is_over(state) & (result == WIN)
    return won
