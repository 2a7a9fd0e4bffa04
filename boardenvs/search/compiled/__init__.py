"""What is compiled together with the rules of a game, and so is written in what Python and Numba
understand alike: see `boardenvs.kernel.loops`.

- Alpha-beta: `root` is what Python calls; `alphabeta` the search below the root and `endgame` its
  last few squares; `moves` the successors and their order, `transposition` the table, `values`
  what a position is worth.
- Monte Carlo trees: `simulations` is what Python calls; `mcts` selects and backs up in the `tree`,
  and `playout` plays random games.
- `position` is a move on a position, for both.
"""
