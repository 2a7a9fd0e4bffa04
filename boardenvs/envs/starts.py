"""The positions that new games begin with."""

from __future__ import annotations

import numpy as np

from boardenvs.game.contract import Game
from boardenvs.game.openings import check_plies, random_openings
from boardenvs.game.state import IntArray, State, put, take

# Random openings are played this many at a time: a batch large enough to be cheap a game.
_STOCK = 4096


class Starts:
    """The game's start, or positions after a number of random plies drawn from `opening_plies`
    (low, high), or, where `given`, its rows, drawn uniformly.

    ValueError where `opening_plies` is no range, or `given` is empty or holds a game that is over.
    """

    def __init__(self, game: Game, opening_plies: tuple[int, int], given: State | None) -> None:
        if given is not None and (not len(given.ply) or game.is_over(given).any()):
            raise ValueError("starts must hold one or more positions in which the game is not over")
        check_plies(opening_plies, "opening_plies")
        self._game = game
        self._opening_plies = opening_plies
        self._given = given
        self._start = game.start()
        self.clear()

    def clear(self) -> None:
        """Forget the openings in stock, which another generator may have played."""
        self.stock = self._game.init(0)

    def put(self, state: State, rows: IntArray, rng: np.random.Generator) -> None:
        """Begin anew in these rows of a state."""
        if self._given is None and self._opening_plies[1] == 0:
            for array, value in zip(state, self._start[:-1], strict=True):
                array[rows] = value
        else:
            put(state, rows, self.draw(len(rows), rng))

    def draw(self, count: int, rng: np.random.Generator) -> State:
        """`count` positions; those after random plies come from the stock."""
        if self._given is not None:
            return take(self._given, rng.integers(len(self._given.ply), size=count))
        if self._opening_plies[1] == 0:
            return self._game.init(count)
        if len(self.stock.ply) < count:
            size = max(_STOCK, count)
            self.stock = random_openings(self._game, size, self._opening_plies, rng)
        drawn = take(self.stock, np.arange(count))
        self.stock = take(self.stock, slice(count, None))
        return drawn
