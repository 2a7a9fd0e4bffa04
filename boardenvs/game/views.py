"""The board as a network sees it: under a symmetry of the game, and as the mover does.

In some games the sides differ by a symmetry of the board alone, the `mover_symmetry`. A network
sees their positions as if the first role were to move, and so learns one side in place of two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import accumulate
from operator import and_, or_
from typing import TYPE_CHECKING, Any

import numpy as np

from boardenvs.board.bitboard import move
from boardenvs.board.symmetry import Symmetry, shifts_of
from boardenvs.game.state import Array, IntArray, State, concat
from boardenvs.kernel import Bits, nonzero, spread
from boardenvs.kernel.wide import Wide, join, split

if TYPE_CHECKING:
    from boardenvs.game.game import Game


class Views:
    """The views of a game: view k is `game.symmetries[k]`. In a game with a `mover_symmetry` there
    are as many again: first that, and then the symmetry.
    """

    def __init__(self, game: Game) -> None:
        self._game, mover = game, game.mover_symmetry
        images = [game.action_images(symmetry) for symmetry in game.symmetries]
        if mover is not None:
            images += [image[game.action_images(mover)] for image in images]
        self.images: IntArray = np.stack(images)  # (V, A): of each action
        self.of_second = len(images) - len(game.symmetries)  # the second role's first view
        self.originals: IntArray = np.argsort(images, axis=1)  # (V, A): of each image

    def of_movers(self, state: State, symmetries: IntArray | int = 0) -> IntArray:
        """Return the view of each position's mover under these of the symmetries, (B,) intp."""
        return state.to_move * np.intp(self.of_second) + symmetries

    def by_movers(self, state: State, symmetries: IntArray | int = 0) -> tuple[State, IntArray]:
        """Return the positions as their movers see them, and the views `of_movers`, (B,)."""
        views = self.of_movers(state, symmetries)
        return (self.seen(state, views) if views.any() else state), views

    def seen(self, state: State, views: IntArray) -> State:
        """Return the positions under these views, (B,), without checks of either; in views of the
        `mover_symmetry` the first role is to move.
        """
        game = self._game
        new = game.empty(len(views))
        inputs = [*state.words, state.legal_bits, views.astype(np.uint8)]
        game.kernels.view.batch(inputs, [*new.words, new.legal_bits])
        to_move = state.to_move * (views < len(game.symmetries))
        return State(new.words, new.legal_bits, to_move, *state[3:])


def reorder(policy: Array, places: IntArray, views: IntArray) -> Array:
    """Replace values of actions (B, A) by those at the places (V, A) of each row's view: by the
    `originals` of a policy on the board as it is seen, by the `images` the other way.
    """
    for view in np.unique(views[views > 0]):  # three times faster than take_along_axis
        rows = np.flatnonzero(views == view)
        policy[rows] = policy[rows].take(places[view], axis=1)
    return policy


def over_symmetries(
    evaluate: Callable[[Game, State], tuple[Array, Array]], game: Game, state: State
) -> tuple[Array, Array]:
    """Return the means of the probabilities (B, A) and values (B,) of a `search.Evaluator` over the
    symmetries of the game.
    """
    count = len(game.symmetries)
    views = np.arange(count).repeat(len(state.ply))
    policy, values = evaluate(game, game.views.seen(concat([state] * count), views))
    policy, shape = reorder(np.array(policy), game.views.images, views), (count, len(state.ply), -1)
    # Sorted, so that all images of a position have the same means, bit for bit.
    policy, values = (np.sort(x.reshape(shape), axis=0).mean(axis=0) for x in (policy, values))
    return policy, values[:, 0]


def view(game: Game, *inputs: Bits) -> list[Bits]:
    """Return the words of a position and of its legal actions, given these and the view."""
    *words, number = inputs
    boards = [words]
    if game.mover_symmetry is not None:
        boards.append(_image(game, game.mover_symmetry, words))
    views = [_image(game, symmetry, board) for board in boards for symmetry in game.symmetries]
    flags = [spread(nonzero(number ^ k) ^ 1) for k in range(len(views))]
    columns = zip(*views, strict=True)
    return [reduce(or_, map(and_, column, flags)) for column in columns]


def _image(game: Game, symmetry: Symmetry, words: Sequence[Bits]) -> list[Bits]:
    """Return the images of the words of a position and of its legal actions."""
    size, images, squares = len(game.word_names), game.action_images(symmetry), symmetry.squares
    legal: Any = Wide(words[size:])
    sizes = *game.action_sizes, 1
    turned: list[Bits] = []
    for start, count in zip(accumulate(sizes, initial=0), sizes, strict=False):
        own = images[start : start + count].tolist()
        if [image - own[0] for image in own] == [square - squares[0] for square in squares]:
            part = split(legal >> start & (1 << count) - 1, game.board.words)
            moved: Any = Wide(split(symmetry.apply(join(part)), len(legal.words)))
            turned.append(moved << own[0] - squares[0])
        else:
            shifts = shifts_of(enumerate(own, start))
            turned += [move(legal & bits, by) for by, bits in shifts.items()]
    return [*game.image(symmetry, words[:size]), *reduce(or_, turned).words]
