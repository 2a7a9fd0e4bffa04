"""Functions compiled together with the rules of a game, and so is written in what Python and Numba
understand alike: see `boardenvs.kernel.loops`.

- `position` is a move on a position, for all that follows.
- Alpha-beta: `alphabeta` is the search, with what Python calls; `moves` the successors and their
  order, `transposition` the table, `memory` all that it works in; `values` the values
  of positions, by the end of the game, by the heuristic or by the tables of `tuples`.
- The exact end of games that fill up: `endgame`, and `last_squares` for the last few.
- Monte Carlo trees: `simulations` is the loop, with what Python calls; `policies` select in the
  `tree`: UCT, PUCT and Gumbel.
"""
