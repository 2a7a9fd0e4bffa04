"""The rules of a game compiled: what follows from them on words, for one board and for a batch."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import reduce

from boardenvs.board import bitboard
from boardenvs.game.rules import Rules
from boardenvs.kernel import ALL, Bits, Kernel, less, nonzero, popcount, spread, trace, when


class Kernels:
    """The rules of one game, each compiled on first use for one board and for a batch."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._check_tables()
        legal = rules.action_planes + 1
        planes = len(trace(rules.planes, 4, "batch").outputs)
        self.begin = Kernel(self._begin, 4, "begin", (legal, 1))
        self.advance = Kernel(self._advance, 5, "advance", (1, 1, legal, 1))
        self.ply = Kernel(self._ply, 5, "ply", (1, 1, legal, 1, -planes, -legal))
        self.arrive = Kernel(self._arrive, 5, "arrive")
        self.transition = Kernel(
            self._transition, (1, 1, legal, 1, 1, 1, 1, 1), "transition", (1, 1, legal, *[1] * 7)
        )
        self.place = Kernel(self._place, 3, "place")
        self.stable = Kernel(rules.stable, 2, "stable")
        self.sample = Kernel(self._sample, (legal, 1), "sample")
        self.is_legal = Kernel(self._is_legal, (legal, 1), "is_legal")
        self.points = Kernel(rules.points, 3, "points")
        self.planes = Kernel(rules.planes, 4, "planes", (-planes,))
        self.observe = Kernel(self._observe, (1, 1, 1, 1, legal), "observe", (-planes, -legal))
        self.evaluate = Kernel(rules.evaluate if rules.has_heuristic else _even, 4, "evaluate")
        self.features = Kernel(self._features, 4, "features")

    def _check_tables(self) -> None:
        """ValueError where a Table of `play` ends before the last action: machine code does not
        look whether an element is there.
        """
        try:
            self._rules.play(*self._rules.setup(), self._rules.noop)
        except IndexError as error:
            raise ValueError(
                f"{self._rules.id}: play of action {self._rules.noop}, noop: {error}; one that is "
                f"indexed by actions needs {self._rules.num_actions}"
            ) from error

    def _begin(self, own: Bits, opp: Bits, to_move: Bits, ply: Bits) -> tuple[Bits, ...]:
        """The legal actions, noop as last word, and whether the game is over."""
        moves = self._rules.moves(own, opp, to_move)
        live = self._rules.over(own, opp, moves, to_move, ply) ^ 1
        some = moves[0]
        for word in moves[1:]:
            some = some | word
        legal = [word & spread(live) for word in moves]
        return (*legal, live & (nonzero(some) ^ 1), live ^ 1)

    def _advance(
        self, own: Bits, opp: Bits, to_move: Bits, ply: Bits, action: Bits
    ) -> tuple[Bits, ...]:
        mine, theirs = self._rules.play(own, opp, action)
        return (theirs, mine, *self._begin(theirs, mine, to_move ^ 1, ply + 1))

    def _ply(
        self, own: Bits, opp: Bits, to_move: Bits, ply: Bits, action: Bits
    ) -> tuple[Bits, ...]:
        """`_advance` and then `_observe`, of the side then to move."""
        own, opp, *legal, over = self._advance(own, opp, to_move, ply, action)
        return (
            own,
            opp,
            *legal,
            over,
            *self._observe(own, opp, to_move ^ 1, ply + 1 & ALL, *legal),
        )

    def _arrive(
        self, own: Bits, opp: Bits, to_move: Bits, ply: Bits, action: Bits
    ) -> tuple[Bits, Bits, Bits]:
        """`_advance` without the legal actions: much less work where `over` does not need them."""
        theirs, mine, *_, terminated = self._advance(own, opp, to_move, ply, action)
        return theirs, mine, terminated

    def _transition(self, own: Bits, opp: Bits, *rest: Bits) -> tuple[Bits, ...]:
        """A row's step in a batch: its state, its action and whether it waits for its next game.

        Gives the state after it, and then the flags terminated, truncated and illegal and, as a
        signed number, the reward to the mover: 1, 0 or -1. An illegal action loses; it changes
        nothing, and nor does a row that waits.
        """
        *legal, to_move, ply, terminated, action, waits = rest
        plays = self._is_legal(*legal, action) & (waits ^ 1)
        illegal = (plays | waits) ^ 1
        here = spread(plays)
        # Tables may end at noop: what is no action must not be looked up.
        taken = _choose(here, action, self._rules.noop)
        theirs, mine, *moves, over = self._advance(own, opp, to_move, ply, taken)
        truncated: Bits = 0
        if self._rules.max_plies is not None:
            truncated = less(ply + 1 & ALL, self._rules.max_plies) ^ 1
            truncated = truncated & (over ^ 1) & plays
        ended = over & plays
        sign = when(ended | truncated, self._mover_won, theirs, mine, to_move ^ 1)
        return (
            _choose(here, theirs, own),
            _choose(here, mine, opp),
            *(_choose(here, new, old) for new, old in zip(moves, legal, strict=True)),
            to_move ^ plays,
            ply + plays,
            _choose(here, over, terminated),
            ended | illegal,
            truncated,
            illegal,
            sign - illegal,
        )

    def _mover_won(self, own: Bits, opp: Bits, to_move: Bits) -> Bits:
        """The reward at the end to the side that has moved: 1, 0 or, as a signed number, -1."""
        theirs, mine = self._rules.points(own, opp, to_move)
        return (less(theirs, mine) - less(mine, theirs)) & ALL

    def _is_legal(self, *words: Bits) -> Bits:
        """The flag 1 where the action, the last word, is one of the legal ones, the others."""
        *legal, action = words
        index = action >> 6
        while len(legal) > 1:  # halves the words by each binary digit of the index
            odd = spread(index & 1)
            pairs = [_choose(odd, b, a) for a, b in zip(legal[::2], legal[1::2], strict=False)]
            legal, index = pairs + legal[2 * len(pairs) :], index >> 1
        return (legal[0] >> (action & 63)) & less(action, self._rules.num_actions)

    def _observe(
        self, own: Bits, opp: Bits, to_move: Bits, ply: Bits, *legal: Bits
    ) -> Sequence[Bits]:
        """The planes, and the legal actions as they are given."""
        return (*self._rules.planes(own, opp, to_move, ply), *legal)

    def _features(self, own: Bits, opp: Bits, to_move: Bits, ply: Bits) -> Sequence[Bits]:
        """The numbers of the features; of a game that has none a 0 that nobody reads."""
        features = self._rules.features(own, opp, to_move, ply)
        return [feature.number for feature in features.values()] or [0]

    def _place(self, own: Bits, opp: Bits, action: Bits) -> tuple[Bits, Bits]:
        """The squares alone, of the side then to move first."""
        mine, theirs = self._rules.play(own, opp, action)
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


def _choose(mask: Bits, a: Bits, b: Bits) -> Bits:
    """The bits of `a` where the mask has ones, else those of `b`."""
    return b ^ ((a ^ b) & mask)


def _even(own: Bits, opp: Bits, to_move: Bits, ply: Bits) -> tuple[int, int]:
    """The heuristic of games that have none: every position that is not over is worth 0."""
    return 0, 0
