"""The published scale of each game: reference players with ratings, and where others stand on it.

`scale` reads it, `place` finds the rating of any player by games against the references, and
`python -m boardenvs.arena.scale` makes it anew: `make` has the references meet in a round robin,
and `levels` finds the players `level:1` to `level:10` at even steps of it.
"""
