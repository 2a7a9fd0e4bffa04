"""Functions that are compiled together with the rules of a game, and so are written in what Python
and Numba both understand: see `boardenvs.kernel.loops`.

- `position` is a move on a position, for all the others.
- Alpha-beta: `alphabeta` is the search, with the functions that Python calls; `nodes` has its
  working memory, the values of positions and the order of moves; `transposition` is the table, and
  `tuples` the tables of a learnt evaluation.
- The exact end of games that fill up: `endgame`.
- Monte Carlo trees: `simulations` is the loop, with the functions that Python calls; `policies`
  select in the `tree`: UCT and Gumbel.
"""
