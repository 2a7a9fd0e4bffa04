"""What is compiled together with the rules of a game, and so is written in what Python and Numba
understand alike: see `boardenvs.kernel.loops`.

- Alpha-beta: `root` is what Python calls; `alphabeta` the search below the root, `moves` the
  successors and their order, `transposition` the table, `memory` all that it works in; `values`
  what the end of a game is worth, `judging` what other positions are, by the heuristic or by the
  tables of `tuples`.
- The exact end of games that fill up: `end_root` is what Python calls, `endgame` the search and
  `last_squares` its last few squares; `end_moves` puts moves in order, `bounds` are what the table
  holds.
- Monte Carlo trees: `simulations` is what Python calls; `mcts` selects and backs up in the `tree`,
  `guessing` says what to judge beside the next leaf, `subtree` takes a part of a tree for the next
  move, and `playout` plays random games. `gumbel` is the search that learning improves policies
  by, in the same trees.
- `position` is a move on a position, for both.
"""
