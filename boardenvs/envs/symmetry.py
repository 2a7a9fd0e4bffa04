"""A symmetry of the game on each board: the policy sees every kind of position from all sides.

Where a board looks the same to the rules when it is turned or mirrored, the policy should play
the same on it. Each game is played under a symmetry drawn when it begins: what the policy sees is
transformed, and its action is transformed back. As the policy itself acts on what it sees, the
samples are on-policy, unlike transformed copies of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from boardenvs.game.game import Game
from boardenvs.game.state import IntArray, State, take
from boardenvs.kernel.layout import pack_bits
from boardenvs.utils.checks import quote


class BoardSymmetries:
    """One of `game.symmetries` for each of `size` boards; the identity until `draw`."""

    def __init__(self, game: Game, size: int) -> None:
        self.chosen: IntArray = np.zeros(size, np.int64)  # indices of game.symmetries
        self._game, self._symmetries = game, game.symmetries
        images = np.stack([game.action_images(s) for s in game.symmetries])
        self.originals = np.argsort(images, axis=1)  # (S, A): of an action seen, the one meant
        # (S, P): the image of each part of the actions, where all have an action a square in a word
        self._parts: IntArray | None = None
        if set(game.action_sizes) == {64} and game.board.size == 64:
            parts = images[:, :-1:64] // 64
            squares = np.array([symmetry.squares for symmetry in game.symmetries])
            turned = 64 * parts[:, :, None] + squares[:, None]
            if np.array_equal(turned.reshape(len(images), -1), images[:, :-1]):
                self._parts = parts

    def draw(self, rows: IntArray, rng: np.random.Generator) -> None:
        """A uniformly random symmetry for each of these boards."""
        self.chosen = self.chosen.copy()  # a caller may still hold the previous array
        self.chosen[rows] = rng.integers(len(self._symmetries), size=len(rows))

    def seen(self, state: State, chosen: IntArray | None = None) -> State:
        """Return the positions as the policy sees them, under the symmetries `chosen` (B,), by
        default the current symmetries of the boards.
        """
        images = take(state, np.arange(self._game.check_state(state)))
        chosen = np.asarray(self.chosen if chosen is None else chosen)
        largest = chosen.astype(np.uint64).max(initial=0)  # or one below 0
        if chosen.shape != images.ply.shape or largest >= len(self._symmetries):
            raise ValueError(f"{quote(chosen)} are no symmetries of {len(images.ply)} boards")
        for index, symmetry in enumerate(self._symmetries):
            rows = np.flatnonzero(chosen == index)
            words = self._game.image(symmetry, [word[rows] for word in state.words])
            for image, word in zip(images.words, words, strict=True):
                image[rows] = word
            if self._parts is not None:  # half the time of what serves all games
                moves = symmetry.apply(state.legal_bits[rows, :-1])  # the last word is noop
                images.legal_bits[rows[:, None], self._parts[index]] = moves
            else:
                legal = self._game.legal(take(state, rows))[:, self.originals[index]]
                images.legal_bits[rows] = pack_bits(legal)
        return images

    def meant(self, actions: IntArray) -> IntArray:
        """Return the actions on the boards, (B,), of those chosen on what was seen."""
        originals: Any = self.originals[self.chosen, actions]
        return originals  # type: ignore[no-any-return]
