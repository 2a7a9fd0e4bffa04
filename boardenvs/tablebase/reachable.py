"""The positions of Wolf and Sheep that games from the start can reach."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from boardenvs.game.contract import Game
from boardenvs.game.perft import successors
from boardenvs.game.state import BoolArray, State, concat, take
from boardenvs.tablebase.numbering import COUNT, numbers
from boardenvs.tablebase.table import Tablebase


@lru_cache(maxsize=4)
def won(game: Game, role: int) -> State:
    """Those that are won for the role, which is to move."""
    table = Tablebase.load(game)
    seen: BoolArray = np.zeros(COUNT, np.bool_)
    found, level = [], game.init(1)
    while len(level.ply):
        level = new_positions(game, level, seen)
        value, _ = table.lookup(level)
        found.append(take(level, (level.to_move == role) & (value > 0)))
        level = successors(game, level)[2]
    return concat(found)


def new_positions(game: Game, state: State, seen: BoolArray) -> State:
    """One row of each position that is neither over nor `seen`, (COUNT,); from now on these are."""
    state = take(state, ~game.is_over(state))
    keys, first = np.unique(numbers(game, state), return_index=True)
    new = ~seen[keys]
    seen[keys] = True
    return take(state, first[new])
