"""The rules of a game compiled: what follows from them on words, for one board and for a batch."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Sequence
from functools import reduce
from itertools import chain
from typing import Any

from boardenvs.board import bitboard
from boardenvs.game.rules import BEFORE, Rules, turned
from boardenvs.kernel import ALL, Bits, Kernel, less, nonzero, popcount, spread, when
from boardenvs.kernel.flow import matches
from boardenvs.kernel.wide import WIDTH, pack, split
from boardenvs.utils.checks import quote, unknown
from boardenvs.utils.splitmix import GOLDEN, mix


class Kernels:
    """The rules of one game, each compiled on first use for one board and for a batch."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self.moves = by_name(rules, rules.moves, "to_move")
        self._play = by_name(rules, rules.play, "to_move", "action")
        before = [BEFORE + name for name in (*rules.squares, *rules.numbers)]
        self._again = by_name(rules, rules.again, "to_move", "action", *before)
        self._known = by_name(rules, rules.known, "to_move")
        self.over = self._with_repeats(rules.over, "moves", "to_move", "ply")
        self._points = self._with_repeats(rules.points, "to_move")
        self._points_of = self._asking_repeats(rules.points, "to_move")
        self._planes = self._with_repeats(rules.planes, "to_move", "ply")
        self._evaluate = self._with_repeats(rules.evaluate, "to_move", "ply")
        self._kinds = by_name(rules, rules.kinds)
        self.named_features = by_name(rules, rules.features, "to_move", "ply")
        self._check_returns()
        self.num_planes = len(self._planes(*rules.start_words(), 0, 0))
        self.num_kinds = len(self._kinds(*rules.start_words()))
        size, legal = len(rules.word_names), rules.legal_words
        # Those of the history are one array.
        words = (*(1,) * rules.known_words, *[rules.history] * bool(rules.history))
        planes, actions = self.num_planes * rules.board.size, rules.num_actions
        given = (*words, 1, 1, 1)
        self.begin = Kernel(self._begin, (*words, 1, 1), "begin", (legal, 1))
        self.step_words = Kernel(self._step_words, given, "step_words", (*words, legal, 1, 1))
        self.step_observe = Kernel(
            self._step_observe, given, "step_observe", (*words, legal, 1, 1, -planes, -actions)
        )
        self.step_words_no_legal = Kernel(
            self._step_words_no_legal, given, "step_words_no_legal", (*words, 1, 1)
        )
        self.step_batch = Kernel(
            self._step_batch,
            (*words, legal, *[1] * 5),
            "step_batch",
            (*words, legal, *[1] * 7),
        )
        self.step_words_only = Kernel(self._step_words_only, size + 1, "step_words_only")
        self.stable = Kernel(by_name(rules, rules.stable), words, "stable")
        self.sample = Kernel(self._sample, (legal, 1), "sample")
        self.is_legal = Kernel(self._is_legal, (legal, 1), "is_legal")
        self.points = Kernel(self._points, (*words, 1), "points")
        self.planes = Kernel(self._seen, (*words, 1, 1), "planes", (-planes,))
        self.observe = Kernel(self._observe, (*words, 1, 1, legal), "observe", (-planes, -actions))
        evaluate = self._evaluate if rules.has_heuristic else _even
        self.evaluate = Kernel(evaluate, (*words, 1, 1), "evaluate")
        self.forcing = Kernel(self._forcing, (*words, 1, legal), "forcing", (legal,))
        self.features = Kernel(self._features, (*words, 1, 1), "features")
        self.kinds = Kernel(self._kinds_in_words, words, "kinds")
        self.digit = Kernel(self._digit, size + 1, "digit")
        self.changed = Kernel(self._changed, 2 * size, "changed")
        self.turned = Kernel(self._turned, size, "turned")
        self.pieces = Kernel(self._pieces, words, "pieces")

    def _check_returns(self) -> None:
        """ValueError if a rule returns another number of words than it must, or `play` has a Table
        that is too short for the last action: machine code does not check the index.
        """
        rules, start = self._rules, self._rules.start_words()
        size, parts = len(rules.squares) + len(rules.numbers), len(rules.action_sizes)
        self._check_tuple("moves", self.moves(*start, 0), parts)
        try:
            played = self._play(*start, 0, rules.noop)
        except IndexError as error:
            raise ValueError(
                f"{rules.id}: play of action {rules.noop}, noop: {error}; one that is "
                f"indexed by actions needs {rules.num_actions}"
            ) from error
        self._check_tuple("play", played, size)
        self._check_tuple("points", self._points(*start, 0), 2)
        self._check_tuple("planes", self._planes(*start, 0, 0), 0)
        if rules.has_heuristic:
            self._check_tuple("evaluate", self._evaluate(*start, 0, 0), 2)

    def _check_tuple(self, rule: str, returned: Any, count: int) -> None:
        """ValueError for what is no tuple or list of this number of words; 0 is any number."""
        if not isinstance(returned, (tuple, list)) or len(returned) != (count or len(returned)):
            raise ValueError(
                f"{self._rules.id}: {rule} returns {quote(returned)}: it must be a tuple of "
                f"{count or 'the'} words"
            )

    def _with_repeats(self, rule: Callable[..., Any], *given: str) -> Callable[..., Any]:
        """`by_name`, with `repeats` where a game has a history and the rule asks for it."""
        size = len(self._rules.word_names)
        on_words, to_move = self._asking_repeats(rule, *given), size + given.index("to_move")
        return lambda *words: on_words(*words, self._repeats(*words[:size], words[to_move]))

    def _asking_repeats(self, rule: Callable[..., Any], *given: str) -> Callable[..., Any]:
        """`by_name`, with the number of `repeats` as the last value, which a rule may ignore."""
        asked = inspect.signature(rule).parameters.values()
        named = any(p.name == "repeats" for p in asked)  # 0 without a history
        every = self._rules.history and any(p.kind is p.VAR_POSITIONAL for p in asked)
        if named or every:
            return by_name(self._rules, rule, *given, "repeats")
        on_words = by_name(self._rules, rule, *given)
        return lambda *words: on_words(*words[:-1])

    def _repeats(self, *given: Bits) -> Bits:
        """How many of the remembered positions are this one, given words and to_move."""
        past = given[self._rules.known_words : -1]
        return matches(self._known_by(*given), past) if past else 0

    def _known_by(self, *given: Bits) -> Bits:
        """A hash of the position, never 0: of its words, each mixed as SplitMix64 does."""
        width = self._rules.board.words
        words = chain.from_iterable(split(x, width) for x in self._known(*given))
        return reduce(operator.xor, (mix(x ^ k * GOLDEN & ALL) for k, x in enumerate(words))) | 1

    def _begin(self, *given: Bits) -> tuple[Bits, ...]:
        """The words of the legal actions, and 1 if the game is over, given words, to_move, ply."""
        *words, to_move, ply = given
        parts = self.moves(*words, to_move)
        live = self.over(*words, parts, to_move, ply) ^ 1
        moves = pack(parts, self._rules.action_sizes)
        legal = [word & spread(live) for word in moves]
        noop = live & (nonzero(reduce(operator.or_, moves)) ^ 1)
        place, shift = divmod(self._rules.noop, 64)
        if place < len(legal):
            noop = legal.pop() | noop << shift
        return (*legal, noop, live ^ 1)

    def _step_words(self, *given: Bits) -> tuple[Bits, ...]:
        """Play a legal action, given words, to_move, ply and the action.

        Returns the words as the side then to move sees them, the words of its legal actions, which
        side it is, and 1 if the game is over.
        """
        *words, to_move, ply, action = given
        played = self._rules.split(self._play(*words, to_move, action))
        after, then = self._passed_on(words, played, to_move, action)
        if self._rules.history:
            past = words[self._rules.known_words :]
            after = (*after, self._known_by(*words, to_move), *past[:-1])
        *legal, over = self._begin(*after, then, ply + 1)
        return (*after, *legal, then, over)

    def _passed_on(
        self, before: Sequence[Bits], played: Sequence[Bits], to_move: Bits, action: Bits
    ) -> tuple[Sequence[Bits], Bits]:
        """The words after a move as the side then to move sees them, and which side it is."""
        rules = self._rules
        others = turned(rules.word_names[: rules.known_words], played)
        if rules.alternates:
            return others, to_move ^ 1
        past = [0] * rules.history
        again = self._again(*played, *past, to_move, action, *rules.join(before))
        words = [
            mine if mine is theirs else _choose(spread(again), mine, theirs)
            for mine, theirs in zip(played, others, strict=True)
        ]
        return words, to_move ^ 1 ^ again

    def _step_observe(self, *given: Bits) -> tuple[Bits, ...]:
        """`_step_words` and then `_observe`, of the side then to move."""
        after = self._step_words(*given)
        words, legal, to_move = self._parts(after[:-1])
        ply = given[-2] + 1 & ALL
        return (*after, *self._observe(*words, to_move, ply, *legal))

    def _parts(self, words: Sequence[Bits]) -> tuple[Sequence[Bits], Sequence[Bits], Any]:
        """Split into the words of a position, of its legal actions, and the rest."""
        size = len(self._rules.word_names)
        end = size + self._rules.legal_words
        rest = words[end:]
        return words[:size], words[size:end], rest[0] if len(rest) == 1 else rest

    def _step_words_no_legal(self, *given: Bits) -> tuple[Bits, ...]:
        """`_step_words` without legal actions: far less work if `over` does not need them."""
        words, _, rest = self._parts(self._step_words(*given))
        return (*words, *rest)

    def _step_batch(self, *given: Bits) -> tuple[Bits, ...]:
        """A row's step in a batch: its state, its action and whether it waits for its next game.

        Gives the state after it, and then the flags terminated, truncated and illegal and, as a
        signed number, the reward to the mover: 1, 0 or -1. An illegal action loses; it changes
        nothing, and nor does a row that waits, except that its history, too, moves on.
        """
        words, legal, (to_move, ply, terminated, action, waits) = self._parts(given)
        waits, idle = nonzero(waits), nonzero(waits | terminated)  # bytes, perhaps above 1
        plays = self._is_legal(*legal, action) & (idle ^ 1)
        illegal = (plays | waits) ^ 1
        here = spread(plays)
        # Tables may end at noop: what is no action must not be looked up.
        taken = _choose(here, action, self._rules.noop)
        after = self._step_words(*words, to_move, ply, taken)
        new, moves, (then, over) = self._parts(after)
        truncated: Bits = 0
        if self._rules.max_plies is not None:
            truncated = less(ply + 1 & 0xFFFF_FFFF, self._rules.max_plies) ^ 1
            truncated = truncated & (over ^ 1) & plays
        ended = over & plays
        mover = () if self._rules.alternates else (to_move,)
        repeats, size = self._repeats(*new, then), self._rules.known_words
        sign = when(ended | truncated, self._mover_won, *new[:size], then, repeats, *mover)
        moved = to_move ^ plays if self._rules.alternates else _choose(here, then, to_move)
        return (
            *(_choose(here, b, a) for a, b in zip(words[:size], new, strict=False)),
            *new[size:],
            *(_choose(here, b, a) for a, b in zip(legal, moves, strict=True)),
            moved,
            ply + plays,
            _choose(here, over, terminated),
            ended | illegal,
            truncated,
            illegal,
            sign - illegal,
        )

    def _mover_won(self, *given: Bits) -> Bits:
        """The reward at the end to the side that has moved: 1, 0 or, as a signed number, -1.

        Takes the words without history, to_move, repeats and, where it may be the one to move, the
        side that has moved.
        """
        size = self._rules.known_words
        then, repeats, *movers = given[size:]
        past = [0] * self._rules.history
        theirs, mine = self._points_of(*given[:size], *past, then, repeats)
        for mover in movers:
            same = spread(then ^ mover ^ 1)
            mine, theirs = _choose(same, theirs, mine), _choose(same, mine, theirs)
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

    def _observe(self, *given: Bits) -> Sequence[Bits]:
        """The planes, and the legal actions as they are given."""
        seen = len(self._rules.word_names) + 2
        return (*self._seen(*given[:seen]), *given[seen:])

    def _seen(self, *given: Bits) -> Sequence[Bits]:
        """The planes, one after the other."""
        planes = self._planes(*given)
        return pack(planes, (self._rules.board.size,) * len(planes))

    def _features(self, *given: Bits) -> Sequence[Bits]:
        """The numbers of the features; of a game that has none a 0 that nobody reads."""
        features = self.named_features(*given)
        return [feature.number for feature in features.values()] or [0]

    def _forcing(self, *given: Bits) -> Sequence[Bits]:
        """The words of the forcing legal moves, given words, to_move and all legal ones."""
        size = len(self._rules.word_names) + 1
        parts = by_name(self._rules, self._rules.forcing, "to_move")(*given[:size])
        forcing = [*pack(parts, self._rules.action_sizes), 0]
        return [a & b for a, b in zip(given[size:], forcing, strict=False)]

    def _kinds_in_words(self, *words: Bits) -> Sequence[Bits]:
        """The words of each kind's squares, one kind after the other."""
        width = self._rules.board.words
        return [word for squares in self._kinds(*words) for word in split(squares, width)]

    def _digit(self, *given: Bits) -> Bits:
        """The kind of piece on a square, from 1, or 0 if empty, given words and the square."""
        *words, square = given
        width = self._rules.board.words
        total: Bits = 0
        for k, squares in enumerate(self._kinds(*words), start=1):
            parts = [
                word >> (square & 63) & spread(nonzero(square >> 6 ^ place) ^ 1)
                if width > 1
                else word >> square
                for place, word in enumerate(split(squares, width))
            ]
            total = total + (reduce(operator.or_, parts) & 1) * k
        return total

    def _changed(self, *given: Bits) -> Sequence[Bits]:
        """The squares whose content differs between two positions."""
        size = len(given) // 2
        pairs = zip(self._kinds(*given[:size]), self._kinds(*given[size:]), strict=True)
        changed = reduce(operator.or_, (a ^ b for a, b in pairs))
        return split(changed, self._rules.board.words)

    def _turned(self, *words: Bits) -> Sequence[Bits]:
        """The words as the other side sees them."""
        return turned(self._rules.word_names, words)

    def _pieces(self, *words: Bits) -> Bits:
        """The number of pieces on the board, of both sides."""
        own, opp = self._rules.join(words)[:2]
        return popcount(own | opp)

    def _step_words_only(self, *given: Bits) -> tuple[Bits, ...]:
        """Only the words after an action, as the other side sees them.

        For games whose turn always passes and whose rules do not ask for `to_move`.
        """
        *words, action = given
        played = self._rules.split(self._play(*words, 0, action))
        return turned(self._rules.word_names[: self._rules.known_words], played)

    def _sample(self, *words: Bits) -> Bits:
        """A uniform choice of a set bit of all words but the last, which is random.

        The action is where the k-th set bit is, k from 0, and k is the high word of the product
        of the random bits and the count: https://arxiv.org/abs/1805.10941.
        """
        *legal, random = words
        counts = [popcount(word) for word in legal]
        total = reduce(operator.add, counts)
        noop = (nonzero(total) ^ 1) << (self._rules.noop & 63)  # where nothing is legal
        legal[-1] = legal[-1] | noop
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
    """The bits of `a` where the mask is 1, and of `b` where it is 0."""
    return b ^ ((a ^ b) & mask)


def _even(*given: Bits) -> tuple[int, int]:
    """The heuristic of games that have none: the value of every position that is not over is 0."""
    return 0, 0


def by_name(rules: Rules, rule: Callable[..., Any], *given: str) -> Callable[..., Any]:
    """Return a rule as a function of all words and the values named by `given`, in this order.

    The rule is called with those that its parameters name; TypeError for a parameter that is
    neither a word nor one of `given`.
    """
    names = (*rules.squares, *rules.numbers, *given)
    places: list[int] = []
    for parameter in inspect.signature(rule).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            places += range(len(names))
        elif parameter.name in names:
            places.append(names.index(parameter.name))
        else:
            what = f"parameter of {type(rules).__name__}.{rule.__name__}"
            raise TypeError(unknown(what, parameter.name, names))

    def on_words(*words: Any) -> Any:
        values = (*rules.join(words), *words[len(rules.word_names) :])
        width = WIDTH.set(rules.board.words)
        try:
            return rule(*(values[place] for place in places))
        finally:
            WIDTH.reset(width)

    return on_words
