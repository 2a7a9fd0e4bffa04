"""The rules of a game compiled: what follows from them on words, for one board and for a batch.

`words` are a position's, as its side to move sees them; `legal` has a bit for each action.

| kernel | takes | returns | used by |
|---|---|---|---|
| begin | words, to_move, ply | legal, over | positions from words, repeated positions |
| key | words, to_move | a hash of the position | positions from words, with a history |
| step_words | words, to_move, ply, action | words, legal, to_move, over | `Position.step`, search |
| step_words_no_legal | the same | words, to_move, over | the last ply of a search |
| words_after | words, to_move, action | words, to_move | exact ends, JAX with a history |
| step_observe | as step_words | the same, planes, mask | `Position.step_observe` |
| step_batch | a row's state, action, waits | state, ends, illegal, reward | `Game.step_batch` |
| planes, observe | words, to_move, ply; legal | planes; and mask | observations |
| is_legal, sample | legal, an action or random bits | a flag, an action | steps, random players |
| points, evaluate | words, to_move; ply | the values of both sides | ends, alpha-beta |
| features, kinds, digit, changed, pieces, stable | words | what each counts | evaluations |
| swap_sides | words | words as the other side sees them | learnt evaluations |
| view | words, legal, a number | words, legal | what networks see |
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Sequence
from functools import partial, reduce
from itertools import chain
from traceback import extract_tb
from typing import TYPE_CHECKING, Any

from boardenvs.board import bitboard
from boardenvs.game.rules import BEFORE, REPEATS, Rules, swap_sides
from boardenvs.game.views import view
from boardenvs.kernel import ALL, Bits, Kernel, less, nonzero, popcount, spread, when
from boardenvs.kernel.wide import WIDTH, pack, split
from boardenvs.utils.checks import quote, unknown
from boardenvs.utils.splitmix import GOLDEN, mix

if TYPE_CHECKING:
    from boardenvs.game.game import Game


class Kernels:
    """The rules of one game, each compiled on first use for one board and for a batch."""

    def __init__(self, rules: Game) -> None:
        self._rules = rules
        self.moves = by_name(rules, rules.moves, "to_move")
        self._play = by_name(rules, rules.play, "to_move", "action")
        before = [BEFORE + name for name in (*rules.squares, *rules.numbers)]
        self._again = by_name(rules, rules.again, "to_move", "action", *before)
        self._repetition_key = by_name(rules, rules.repetition_key, "to_move")
        self.over = by_name(rules, rules.over, "moves", "to_move", "ply", "repeats")
        self._points = by_name(rules, rules.points, "to_move", "repeats")
        self._planes = by_name(rules, rules.planes, "to_move", "ply", "repeats")
        self._evaluate = by_name(rules, rules.evaluate, "to_move", "ply", "repeats")
        self._kinds = by_name(rules, rules.kinds)
        self.named_features = by_name(rules, rules.features, "to_move", "ply")
        self._check_returns()
        self.num_planes = len(self._planes(*rules.start_words(), 0, 0))
        self.num_kinds = len(self._kinds(*rules.start_words()))
        size, legal = len(rules.word_names), rules.legal_words
        after = (*[1] * size, legal, 1, 1)
        planes, actions = self.num_planes * rules.board.size, rules.num_actions
        self.begin = Kernel(self._begin, size + 2, "begin", (legal, 1))
        self.key = Kernel(self._key, size + 1, "key")
        self.step_words = Kernel(self._step_words, size + 3, "step_words", after)
        self.step_observe = Kernel(
            self._step_observe, size + 3, "step_observe", (*after, -planes, -actions)
        )
        self.step_words_no_legal = Kernel(
            self._step_words_no_legal, size + 3, "step_words_no_legal"
        )
        self.step_batch = Kernel(
            self._step_batch, (*after, 1, 1, 1), "step_batch", (*after, *[1] * 5)
        )
        self.words_after = Kernel(self._words_after, size + 2, "words_after")
        stable = by_name(rules, rules.stable)
        self.stable = Kernel(
            lambda *words: split(stable(*words), rules.board.words), size, "stable"
        )
        self.sample = Kernel(self._sample, (legal, 1), "sample")
        self.is_legal = Kernel(self._is_legal, (legal, 1), "is_legal")
        self.points = Kernel(self._points, size + 1, "points")
        self.planes = Kernel(self._seen, size + 2, "planes", (-planes,))
        sizes = (*[1] * size, 1, 1, legal)
        self.observe = Kernel(self._observe, sizes, "observe", (-planes, -actions))
        evaluate = self._evaluate if rules.has_heuristic else _even
        self.evaluate = Kernel(evaluate, size + 2, "evaluate")
        self.features = Kernel(self._features, size + 2, "features")
        self.kinds = Kernel(self._kinds_in_words, size, "kinds")
        self.forcing = Kernel(self._forcing, (*[1] * size, 1, legal), "forcing", (legal,))
        self.digit = Kernel(self._digit, size + 1, "digit")
        self.changed = Kernel(self._changed, 2 * size, "changed")
        self.swap_sides = Kernel(self._swap_sides, size, "swap_sides")
        self.pieces = Kernel(self._pieces, size, "pieces")
        sizes = (*[1] * size, legal, 1)
        self.view = Kernel(partial(view, rules), sizes, "view", (*[1] * size, legal))

    def _check_returns(self) -> None:
        """ValueError if a rule returns another number of words than it must, or `play` has a Table
        that is too short for the last action: machine code does not check the index.
        """
        rules, start = self._rules, self._rules.start_words()
        size, parts = len(rules.squares) + len(rules.numbers), len(rules.action_sizes)
        self._check_tuple("moves", self.moves(*start, 0), parts)
        try:
            played = self._play(*start, 0, rules.noop)
        except ValueError as error:
            if not isinstance(error.__cause__, IndexError):
                raise
            raise ValueError(
                f"{rules.id}: play of action {rules.noop}, noop: {error.__cause__}; one that is "
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

    def _key(self, *inputs: Bits) -> Bits:
        """Return a hash of the position, given words and to_move: of the values that identify it,
        each mixed as SplitMix64 does. It is never 0, which stands for no position.
        """
        width = self._rules.board.words
        words = chain.from_iterable(split(x, width) for x in self._repetition_key(*inputs))
        return reduce(operator.xor, (mix(x ^ k * GOLDEN & ALL) for k, x in enumerate(words))) | 1

    def _begin(self, *inputs: Bits) -> tuple[Bits, ...]:
        """Return the words of the legal actions, and 1 if the game is over, given words, to_move,
        ply.
        """
        *words, to_move, ply = inputs
        parts = self.moves(*words, to_move)
        live = self.over(*words, parts, to_move, ply) ^ 1
        moves = pack(parts, self._rules.action_sizes)
        legal = [word & spread(live) for word in moves]
        noop = live & (nonzero(reduce(operator.or_, moves)) ^ 1)
        place, shift = divmod(self._rules.noop, 64)
        if place < len(legal):
            noop = legal.pop() | noop << shift
        return (*legal, noop, live ^ 1)

    def _step_words(self, *inputs: Bits) -> tuple[Bits, ...]:
        """Play a legal action, given words, to_move, ply and the action.

        Returns the words as the side then to move sees them, the words of its legal actions, which
        side it is, and 1 if the game is over; in a game with a history, as if the position had not
        been there before: see
        `stepping`.
        """
        *before, ply, action = inputs
        *after, then = self._words_after(*before, action)
        *legal, over = self._begin(*after, then, ply + 1)
        return (*after, *legal, then, over)

    def _words_after(self, *inputs: Bits) -> tuple[Bits, ...]:
        """Return only the words after an action, as the side then to move sees them, and which side
        it is, given words, to_move and the action.
        """
        *words, to_move, action = inputs
        played = self._rules.split(self._play(*words, to_move, action))
        after, then = self._passed_on(words, played, to_move, action)
        if self._rules.history:
            after = (*after, self._key(*after, 0, 0, then), 0)
        return (*after, then)

    def _passed_on(
        self, before: Sequence[Bits], played: Sequence[Bits], to_move: Bits, action: Bits
    ) -> tuple[Sequence[Bits], Bits]:
        """Return the words after a move as the next side to move sees them, and which it is."""
        rules = self._rules
        others = swap_sides(rules.word_names[: rules.known_words], played)
        if rules.alternates:
            return others, to_move ^ 1
        remembered = before[rules.known_words :]
        again = self._again(*played, *remembered, to_move, action, *rules.join(before))
        words = [
            mine if mine is theirs else _choose(spread(again), mine, theirs)
            for mine, theirs in zip(played, others, strict=True)
        ]
        return words, to_move ^ 1 ^ again

    def _step_observe(self, *inputs: Bits) -> tuple[Bits, ...]:
        """`_step_words` and then `_observe`, of the side then to move."""
        after = self._step_words(*inputs)
        words, legal, to_move = self._parts(after[:-1])
        ply = inputs[-2] + 1 & ALL
        return (*after, *self._observe(*words, to_move, ply, *legal))

    def _parts(self, words: Sequence[Bits]) -> tuple[Sequence[Bits], Sequence[Bits], Any]:
        """Split into the words of a position, of its legal actions, and the rest."""
        size = len(self._rules.word_names)
        end = size + self._rules.legal_words
        rest = words[end:]
        return words[:size], words[size:end], rest[0] if len(rest) == 1 else rest

    def _step_words_no_legal(self, *inputs: Bits) -> tuple[Bits, ...]:
        """`_step_words` without legal actions: far less work if `over` does not need them."""
        words, _, rest = self._parts(self._step_words(*inputs))
        return (*words, *rest)

    def _step_batch(self, *inputs: Bits) -> tuple[Bits, ...]:
        """Return a row's step in a batch: its state, its action and whether it waits for its next
        game.

        Gives the state after it, and then the flags terminated, truncated and illegal and, as a
        signed number, the reward to the mover: 1, 0 or -1. An illegal action loses; it changes
        nothing, and nor does a row that waits.
        """
        words, legal, (to_move, ply, terminated, action, waits) = self._parts(inputs)
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
        sign = when(ended | truncated, self._mover_won, *new, then, *mover)
        moved = to_move ^ plays if self._rules.alternates else _choose(here, then, to_move)
        return (
            *(_choose(here, b, a) for a, b in zip(words, new, strict=True)),
            *(_choose(here, b, a) for a, b in zip(legal, moves, strict=True)),
            moved,
            ply + plays,
            _choose(here, over, terminated),
            ended | illegal,
            truncated,
            illegal,
            sign - illegal,
        )

    def _mover_won(self, *inputs: Bits) -> Bits:
        """Return the reward at the end to the side that has moved: 1, 0 or, as a signed number, -1.

        Takes the words, to_move and, where it may be the one to move, the side that has moved.
        """
        size = len(self._rules.word_names)
        then, *movers = inputs[size:]
        theirs, mine = self._points(*inputs[:size], then)
        for mover in movers:
            same = spread(then ^ mover ^ 1)
            mine, theirs = _choose(same, theirs, mine), _choose(same, mine, theirs)
        return (less(theirs, mine) - less(mine, theirs)) & ALL

    def _is_legal(self, *words: Bits) -> Bits:
        """Return the flag 1 where the action, the last word, is legal by the other words."""
        *legal, action = words
        index = action >> 6
        while len(legal) > 1:  # halves the words by each binary digit of the index
            odd = spread(index & 1)
            pairs = [_choose(odd, b, a) for a, b in zip(legal[::2], legal[1::2], strict=False)]
            legal, index = pairs + legal[2 * len(pairs) :], index >> 1
        return (legal[0] >> (action & 63)) & less(action, self._rules.num_actions)

    def _observe(self, *inputs: Bits) -> Sequence[Bits]:
        """Return the planes, and the legal actions as they are given."""
        count = len(self._rules.word_names) + 2
        return (*self._seen(*inputs[:count]), *inputs[count:])

    def _seen(self, *inputs: Bits) -> Sequence[Bits]:
        """Return the planes, one after the other."""
        planes = self._planes(*inputs)
        return pack(planes, (self._rules.board.size,) * len(planes))

    def _features(self, *inputs: Bits) -> Sequence[Bits]:
        """Return the numbers of the features; of a game that has none a 0 that nobody reads."""
        features = self.named_features(*inputs)
        return [feature.number for feature in features.values()] or [0]

    def _forcing(self, *inputs: Bits) -> Sequence[Bits]:
        """Return the words of the forcing legal moves, given words, to_move and all legal ones."""
        size = len(self._rules.word_names) + 1
        parts = by_name(self._rules, self._rules.forcing, "to_move")(*inputs[:size])
        forcing = [*pack(parts, self._rules.action_sizes), 0]
        return [a & b for a, b in zip(inputs[size:], forcing, strict=False)]

    def _kinds_in_words(self, *words: Bits) -> Sequence[Bits]:
        """Return the words of each kind's squares, one kind after the other."""
        width = self._rules.board.words
        return [word for squares in self._kinds(*words) for word in split(squares, width)]

    def _digit(self, *inputs: Bits) -> Bits:
        """Return the kind of piece on a square, from 1, or 0 if empty, given words and square."""
        *words, square = inputs
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

    def _changed(self, *inputs: Bits) -> Sequence[Bits]:
        """Return the squares whose content differs between two positions."""
        size = len(inputs) // 2
        pairs = zip(self._kinds(*inputs[:size]), self._kinds(*inputs[size:]), strict=True)
        changed = reduce(operator.or_, (a ^ b for a, b in pairs))
        return split(changed, self._rules.board.words)

    def _swap_sides(self, *words: Bits) -> Sequence[Bits]:
        """Return the words as the other side sees them."""
        return swap_sides(self._rules.word_names, words)

    def _pieces(self, *words: Bits) -> Bits:
        """Return the number of pieces on the board, of both sides."""
        own, opp = self._rules.join(words)[:2]
        return popcount(own | opp)

    def _sample(self, *words: Bits) -> Bits:
        """Return a uniform choice of a set bit of all words but the last, which is random.

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
    """Return the bits of `a` where the mask is 1, and of `b` where it is 0."""
    return b ^ ((a ^ b) & mask)


def _even(*inputs: Bits) -> tuple[int, int]:
    """Return the heuristic of games that have none: the value of every position that is not over is
    0.
    """
    return 0, 0


def by_name(rules: Rules, rule: Callable[..., Any], *inputs: str) -> Callable[..., Any]:
    """Return a rule as a function of all words and then the values named by `given`.

    The rule is called with those that its parameters name; TypeError for a parameter that is
    neither a word nor one of `given`. `repeats`, if it is given, is the last: it is read from the
    words, and 0 in a game without a history.
    """
    names = (*rules.squares, *rules.numbers, *inputs)
    places: list[int] = []
    for parameter in inspect.signature(rule).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            places += (k for k, name in enumerate(names) if name != REPEATS or rules.history)
        elif parameter.name in names:
            places.append(names.index(parameter.name))
        else:
            what = f"parameter of {type(rules).__name__}.{rule.__name__}"
            raise TypeError(unknown(what, parameter.name, names))
    size = len(rules.word_names)

    def on_words(*words: Any) -> Any:
        repeats = words[size - 1] if rules.history else 0
        values = (*rules.join(words), *words[size:], repeats)
        width, board = WIDTH.set(rules.board.words), bitboard.PLAYED_ON.set(rules.board)
        try:
            return rule(*(values[place] for place in places))
        except IndexError as error:  # of a Table, on ints
            frames = extract_tb(error.__traceback__)
            line = [x.line for x in frames if x.name != "__getitem__"][-1]
            raise ValueError(f"{rules.id}: {rule.__name__}: {error}, in {line!r}") from error
        finally:
            WIDTH.reset(width)
            bitboard.PLAYED_ON.reset(board)

    return on_words
