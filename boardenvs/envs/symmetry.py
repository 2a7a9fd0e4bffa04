"""A symmetry of the game on each board: the policy sees every kind of position from all sides.

Where a board looks the same to the rules when it is turned or mirrored, the policy should play
the same on it. Each game is played under a symmetry drawn when it begins: what the policy sees is
transformed, and its action is transformed back. As the policy itself acts on what it sees, the
samples are on-policy, unlike transformed copies of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from boardenvs.game.contract import Game
from boardenvs.game.state import IntArray, State, take
from boardenvs.kernel.layout import pack_bits


class BoardSymmetries:
    """One of `game.symmetries` for each of `size` boards; the identity until `draw`."""

    def __init__(self, game: Game, size: int) -> None:
        self.chosen: IntArray = np.zeros(size, np.int64)  # indices of game.symmetries
        self._game, self._symmetries = game, game.symmetries
        images = np.stack([game.action_images(s) for s in game.symmetries])
        self._originals = np.argsort(images, axis=1)  # (S, A): of an action seen, the one meant

    def draw(self, rows: IntArray, rng: np.random.Generator) -> None:
        """A uniformly random symmetry for each of these boards."""
        self.chosen = self.chosen.copy()  # who keeps the array that was keeps its values
        self.chosen[rows] = rng.integers(len(self._symmetries), size=len(rows))

    def seen(self, state: State, chosen: IntArray | None = None) -> State:
        """The positions as the policy sees them, under the symmetries `chosen` (B,), by default
        those of the boards.
        """
        seen = take(state, np.arange(len(state.ply)))
        chosen = self.chosen if chosen is None else chosen
        for index, symmetry in enumerate(self._symmetries):
            rows = np.flatnonzero(chosen == index)
            words = self._game.image(symmetry, [word[rows] for word in state.words])
            for image, word in zip(seen.words, words, strict=True):
                image[rows] = word
            legal = self._game.legal(take(state, rows))[:, self._originals[index]]
            seen.legal_bits[rows] = pack_bits(legal)
        return seen

    def meant(self, actions: IntArray) -> IntArray:
        """The actions on the boards, (B,), of those chosen on what was seen."""
        originals: Any = self._originals[self.chosen, actions]
        return originals  # type: ignore[no-any-return]
