"""Which openings tell who is the better player."""

from __future__ import annotations

import numpy as np

from boardenvs.game.contract import Game, stack
from boardenvs.game.state import BoolArray, State
from boardenvs.tablebase import Tablebase


def same_winner(game: Game, state: State) -> BoolArray:
    """Whether the side that wins from the start with perfect play still does, (B,) bool.

    A random ply of a sheep often gives the game away, and what follows then tells little about the
    players. All True for a game without a tablebase, where this is not known.
    """
    if not Tablebase.covers(game):
        return np.ones(len(state.ply), np.bool_)
    table = Tablebase.load(game)
    start = stack([game.start()])
    (expected, _), (values, _) = table.lookup(start), table.lookup(state)
    same: BoolArray = np.where(state.to_move == start.to_move, values, -values) == expected
    return same


def note_on_openings(game: Game) -> str:
    """What is said beside results of matches whose openings `same_winner` chose: a sentence, empty
    where it leaves none out.
    """
    return "Only openings are played that do not change who wins." if Tablebase.covers(game) else ""
