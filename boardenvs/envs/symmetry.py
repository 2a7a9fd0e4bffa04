"""What a policy sees of each board: a symmetry of the game, and perhaps the mover's view.

Where a board looks the same to the rules when it is turned or mirrored, the policy should play
the same on it. Each game is played under a symmetry drawn when it begins: what the policy sees is
transformed, and its action is transformed back. As the policy itself acts on what it sees, the
samples are on-policy, unlike transformed copies of them.
"""

from __future__ import annotations

import numpy as np

from boardenvs.game.game import Game
from boardenvs.game.state import IntArray, State


class BoardSymmetries:
    """One of `game.symmetries` for each of `size` boards; the identity until `draw`. With
    `mover_view` each board is also turned as its mover sees it; see `game/views.py`.
    """

    def __init__(self, game: Game, size: int, mover_view: bool = False) -> None:
        self.chosen: IntArray = np.zeros(size, np.int64)  # indices of game.symmetries
        self._game, self._mover_view = game, mover_view

    def draw(self, rows: IntArray, rng: np.random.Generator) -> None:
        """A uniformly random symmetry for each of these boards."""
        self.chosen = self.chosen.copy()  # a caller may still hold the previous array
        self.chosen[rows] = rng.integers(len(self._game.symmetries), size=len(rows))

    def seen(self, state: State, chosen: IntArray | None = None) -> State:
        """Return the positions as the policy sees them, under the symmetries `chosen` (B,), by
        default the current symmetries of the boards.
        """
        chosen = self.chosen if chosen is None else chosen
        return self._game.views.seen(state, self._views(state, chosen))

    def meant(self, state: State, actions: IntArray) -> IntArray:
        """Return the actions in these positions of the boards, (B,), of those chosen on what was
        seen.
        """
        return self._game.views.originals[self._views(state, self.chosen), actions]

    def _views(self, state: State, chosen: IntArray) -> IntArray:
        return self._game.views.of_movers(state, chosen) if self._mover_view else chosen
