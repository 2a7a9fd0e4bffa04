"""The openings that tournaments play from."""

from __future__ import annotations

import numpy as np

from boardenvs.game.contract import Game
from boardenvs.game.state import BoolArray, State, stack
from boardenvs.tablebase import Tablebase

# Random plies (low, high) by game: enough for distinct openings, and few against a game's length.
OPENING_PLIES = {
    "othello": (6, 10),
    "othello_holes": (6, 10),
    "reversi": (6, 10),
    "wolf_and_sheep": (0, 6),
    "lines_of_action": (4, 8),
}
_OTHERS = (4, 8)


def opening_plies(game: Game) -> tuple[int, int]:
    """The random plies that a game's openings have where nothing else is asked for."""
    return OPENING_PLIES.get(game.id, _OTHERS)


def undecided(game: Game, state: State) -> BoolArray:
    """Whether the opening has left open what play decides, (B,) bool.

    Where a game is solved, as Wolf and Sheep is, these are the positions that the role still wins
    that wins from the start: a sheep's random ply often gives the game away, and then the players
    would show nothing. Of all other games they are all.
    """
    if not is_solved(game):
        return np.ones(len(state.ply), np.bool_)
    table = Tablebase.load(game)
    start = stack([game.start()])
    (expected, _), (values, _) = table.lookup(start), table.lookup(state)
    same: BoolArray = np.where(state.to_move == start.to_move, values, -values) == expected
    return same


def is_solved(game: Game) -> bool:
    """Whether it is known of every position who wins it."""
    try:
        Tablebase.check_game(game)
    except ValueError:
        return False
    return True
