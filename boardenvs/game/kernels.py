"""The rules of a game compiled: what follows from them on words, for one board and for a batch."""

from __future__ import annotations

import operator
from functools import reduce
from typing import TYPE_CHECKING

from boardenvs.board import bitboard
from boardenvs.kernel import Bits, Kernel, less, nonzero, popcount, spread

if TYPE_CHECKING:
    from boardenvs.game.contract import Game


class Kernels:
    """The rules of one game, each compiled on first use for one board and for a batch."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self.begin = Kernel(self._begin, 4, "begin")
        self.advance = Kernel(self._advance, 5, "advance")
        self.arrive = Kernel(self._arrive, 5, "arrive")
        self.place = Kernel(self._place, 3, "place")
        self.stable = Kernel(game.stable, 2, "stable")
        self.sample = Kernel(self._sample, game.action_planes + 2, "sample")
        self.points = Kernel(game.points, 3, "points")
        self.planes = Kernel(game.planes, 4, "planes")
        self.evaluate = Kernel(game.evaluate if game.has_heuristic else _even, 4, "evaluate")

    def _begin(self, own: Bits, opp: Bits, to_move: Bits, ply: Bits) -> tuple[Bits, ...]:
        """The legal actions, noop as last word, and whether the game is over."""
        moves = self._game.moves(own, opp, to_move)
        live = self._game.over(own, opp, moves, to_move, ply) ^ 1
        some = moves[0]
        for word in moves[1:]:
            some = some | word
        legal = [word & spread(live) for word in moves]
        return (*legal, live & (nonzero(some) ^ 1), live ^ 1)

    def _advance(
        self, own: Bits, opp: Bits, to_move: Bits, ply: Bits, action: Bits
    ) -> tuple[Bits, ...]:
        mine, theirs = self._game.play(own, opp, action)
        return (theirs, mine, *self._begin(theirs, mine, to_move ^ 1, ply + 1))

    def _arrive(
        self, own: Bits, opp: Bits, to_move: Bits, ply: Bits, action: Bits
    ) -> tuple[Bits, Bits, Bits]:
        """`_advance` without the legal actions: much less work where `over` does not need them."""
        theirs, mine, *_, terminated = self._advance(own, opp, to_move, ply, action)
        return theirs, mine, terminated

    def _place(self, own: Bits, opp: Bits, action: Bits) -> tuple[Bits, Bits]:
        """The squares alone, of the side then to move first."""
        mine, theirs = self._game.play(own, opp, action)
        return theirs, mine

    def _sample(self, *words: Bits) -> Bits:
        """A uniform choice of a set bit of all words but the last, which is random.

        The action is where the k-th set bit is, k from 0, and k is the high word of the product
        of the random bits and the count: https://arxiv.org/abs/1805.10941.
        """
        *legal, random = words
        counts = [popcount(word) for word in legal]
        total = reduce(operator.add, counts)
        legal[-1] = legal[-1] | (nonzero(total) ^ 1)  # noop where nothing is legal
        k = ((random >> 32) * total) >> 32
        chosen, action, beyond = legal[0], 0, 1
        for word, before, count in zip(legal[1:], legal, counts, strict=False):
            beyond = (less(k, count) ^ 1) & beyond
            mask = spread(beyond)
            chosen = chosen ^ ((word ^ before) & mask)
            k = k - (count & mask)
            action = action + (beyond << 6)
        return action + bitboard.select(chosen, k)


def _even(own: Bits, opp: Bits, to_move: Bits, ply: Bits) -> tuple[int, int]:
    """The heuristic of games that have none: every position that is not over is worth 0."""
    return 0, 0
