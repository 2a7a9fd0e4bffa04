"""The exact solutions of Wolf and Sheep and of tic-tac-toe: each position's winner, and how soon.

`numbering` gives every position a number, `build` solves a game whose moves lead from number to
number and stores the result on disk, and `Tablebase` looks positions up. Connect Four is solved by
search instead: `connect_four` finds results, by `dropping` and a book of openings.
"""

from boardenvs.game.game import Game
from boardenvs.tablebase import connect_four
from boardenvs.tablebase.table import SolvedMoves, Tablebase, won_positions


def is_solved(game: Game) -> bool:
    """Return whether every position of the game has an exact result, by table or search."""
    return Tablebase.covers(game) or connect_four.covers(game)


__all__ = ["SolvedMoves", "Tablebase", "is_solved", "won_positions"]
