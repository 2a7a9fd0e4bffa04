"""The exact solution of Wolf and Sheep, both rules: who wins every position, and how soon.

`numbering` gives every position a number, `build` solves a game whose moves lead from number to
number and keeps the result on disk, and `Tablebase` answers for positions.
"""

from boardenvs.tablebase.table import Count, Moves, Tablebase, new_positions, won_positions

__all__ = ["Count", "Moves", "Tablebase", "new_positions", "won_positions"]
