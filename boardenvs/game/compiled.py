"""A game's rules compiled, and with them all that is done with a batch of its positions."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property, lru_cache, reduce
from operator import or_
from typing import Any

import numpy as np

from boardenvs.game.kernels import Kernels
from boardenvs.game.rules import DRAW, ILLEGAL_ACTION_REWARD, Rules
from boardenvs.game.state import (
    BoolArray,
    FloatArray,
    Int8Array,
    IntArray,
    State,
    Transition,
    WordArray,
    empty_state,
    put,
    state_words,
    take,
)
from boardenvs.kernel import Kernel, get_backend
from boardenvs.kernel.layout import unpack


@dataclass(frozen=True)
class CompiledRules(Rules):
    """What follows from the rules for a batch of positions, a `State` of B rows."""

    id: str

    @cached_property
    def kernels(self) -> Kernels:
        """The rules as functions on words, for one board and for a batch."""
        # A game with more than its equality sees shares nothing with those that are equal to it.
        seen = {f.name for f in fields(self) if f.compare}
        return _kernels_of(self) if seen.issuperset(self.__getstate__()) else Kernels(self)

    def __getstate__(self) -> dict[str, Any]:
        # What is computed from the rest is left out: functions made by exec do not pickle.
        kind = type(self)
        return {
            name: value
            for name, value in vars(self).items()
            if not isinstance(getattr(kind, name, None), cached_property)
        }

    @cached_property
    def observation_shape(self) -> tuple[int, int, int]:
        return (*self.board, self.kernels.num_planes)

    def empty(self, batch: int) -> State:
        """A state of this game of uninitialised arrays."""
        return empty_state(batch, len(self.word_names), self.legal_words)

    # ---- actions -----------------------------------------------------------------------------

    def legal(self, state: State, out: BoolArray | None = None) -> BoolArray:
        """The legal actions, (B, A) bool; all False where terminated. Written to `out` if given."""
        flags = None if out is None else out.view(np.uint8)
        mask: BoolArray = unpack(state.legal_bits, self.num_actions, flags).view(np.bool_)
        return mask

    def is_legal(self, state: State, actions: IntArray) -> BoolArray:
        """Whether row i's action is legal, (B,) bool; actions out of range are not."""
        index = np.asarray(actions).astype(np.intp, copy=False)
        legal: BoolArray = np.empty(len(index), np.bool_)
        self.kernels.is_legal.batch([state.legal_bits, index.view(np.uint64)], [legal])
        return legal

    def sample(self, state: State, rng: np.random.Generator) -> IntArray:
        """A uniformly random legal action for each row, (B,) int64; noop where terminated."""
        actions = np.empty(len(state.ply), np.int64)
        bits = _random_words(rng, len(actions))
        self.kernels.sample.batch([state.legal_bits, bits], [actions])
        return actions

    # ---- plies -------------------------------------------------------------------------------

    def _step(self, state: State, actions: IntArray) -> State:
        """See `Game.step`; legality is not checked."""
        index = np.asarray(actions).astype(np.intp, copy=False)
        frozen = np.flatnonzero(state.terminated)
        if frozen.size:
            index = index.copy()
            index[frozen] = self.noop
        new = self.empty(len(index))
        self.kernels.step_words.batch(
            [*state_words(state), index.view(np.uint64)],
            [*new.words, new.legal_bits, new.to_move, new.terminated],
        )
        np.add(state.ply, 1, out=new.ply)
        if frozen.size:
            put(new, frozen, take(state, frozen))
        return new

    def step_batch(
        self,
        state: State,
        actions: IntArray,
        waiting: BoolArray | None = None,
        *,
        all_legal: bool = False,
    ) -> Transition:
        """Play one ply in every row except the `waiting` ones, (B,) bool.

        Rows with an illegal action, and those that wait, stay as they are; what is over must wait.
        `actions` is (B,) int; with `all_legal` no row waits, and all actions are known to be legal,
        which saves time. The input state is not modified.
        """
        actions = np.asarray(actions)
        if waiting is None:
            waiting = np.zeros(len(actions), np.bool_)
        if get_backend() == "numba":
            return self._step_batch_compiled(state, actions, waiting)
        return self._step_batch_by_parts(state, actions, waiting, all_legal=all_legal)

    def _step_batch_compiled(
        self, state: State, actions: IntArray, waiting: BoolArray
    ) -> Transition:
        """One call of machine code."""
        size = len(actions)
        new = self.empty(size)
        terminated, truncated, illegal = (np.empty(size, np.bool_) for _ in range(3))
        signs = np.empty(size, np.int8)
        self.kernels.step_batch.batch(
            [*state.arrays, actions.astype(np.intp, copy=False), waiting],
            [*new.arrays, terminated, truncated, illegal, signs],
        )
        return Transition(new, signs.astype(np.float64), terminated, truncated, illegal)

    def _step_batch_by_parts(
        self, state: State, actions: IntArray, waiting: BoolArray, *, all_legal: bool
    ) -> Transition:
        """In NumPy, where each operation is a pass over the batch, what few rows need is done for
        these rows alone.
        """
        size = len(actions)
        illegal: BoolArray = np.zeros(size, np.bool_)
        if not all_legal:
            illegal = ~(self.is_legal(state, actions) | waiting)
        idle = illegal | waiting
        if all_legal or not idle.any():
            new = self._step(state, actions)
            over = self.is_over(new)
        else:
            rows = np.flatnonzero(~idle)
            played = self._step(take(state, rows), actions[rows])
            new = State.of_arrays(x.copy() for x in state.arrays)
            put(new, rows, played)
            over = np.zeros(size, np.bool_)
            over[rows] = self.is_over(played)
        rewards = np.zeros(size)
        truncated: BoolArray = np.zeros(size, np.bool_)
        ended = np.flatnonzero(over)
        if ended.size:
            final = take(new, ended)
            same = final.to_move == state.to_move[ended]  # as the side that has moved
            rewards[ended] = np.sign(self.score_margin(final)) * np.where(same, 1.0, -1.0) + 0.0
            truncated[ended] = self.is_truncated(final)
        rewards[illegal] = ILLEGAL_ACTION_REWARD
        return Transition(new, rewards, (over & ~truncated) | illegal, truncated, illegal)

    # ---- ends and values ---------------------------------------------------------------------

    def score_margin(self, state: State) -> IntArray:
        """Own minus opposing points of the side to move, (B,) int64; see `points`."""
        return _difference(self.kernels.points, state_words(state)[:-1])

    def results(self, state: State) -> FloatArray:
        """The goal values by role that each row would give, over or not, (B, 2) float."""
        sign = np.sign(self.score_margin(state))
        sign[state.to_move == 1] *= -1
        return DRAW + DRAW * np.stack([sign, -sign], axis=1)

    def goal(self, state: State) -> FloatArray:
        """Goal values by role, 100 / 50 / 0, (B, 2) float; 0 until terminated."""
        return np.where(state.terminated[:, None], self.results(state), 0.0)

    def is_truncated(self, state: State) -> BoolArray:
        """Where the cap on plies ends a game that is not over, (B,) bool."""
        if self.max_plies is None:
            return np.zeros(len(state.ply), np.bool_)
        return (state.ply >= self.max_plies) & ~state.terminated

    def wiped_out(self, state: State) -> BoolArray:
        """Which sides have no piece left, the one to move and the other, (2, B) bool."""
        width = self.board.words
        sides = [reduce(or_, state.words[k : k + width]) for k in (0, width)]
        found: BoolArray = np.stack(sides) == 0
        return found

    def is_over(self, state: State) -> BoolArray:
        """Where the game has ended, by its rules or by the cap on plies, (B,) bool."""
        over: BoolArray = state.terminated | self.is_truncated(state)
        return over

    def values(self, state: State) -> IntArray:
        """The value of each position to its side to move by the heuristic, (B,) int64.

        NotImplementedError where the game has none.
        """
        if not self.has_heuristic:
            raise NotImplementedError(self.no_heuristic)
        return _difference(self.kernels.evaluate, state_words(state))

    @cached_property
    def feature_sizes(self) -> dict[str, int]:
        """Of each of the `features` the number that it stays below."""
        return {
            name: f.size
            for name, f in self.kernels.named_features(*self.start_words(), 0, 0).items()
        }

    def feature_numbers(self, state: State) -> IntArray:
        """The `features` of each row, in their order, (B, features) int64."""
        numbers = np.empty((len(self.feature_sizes), len(state.ply)), np.uint64)
        if len(numbers):
            self.kernels.features.batch(state_words(state), list(numbers))
        return numbers.T.astype(np.int64)

    def piece_counts(self, state: State) -> IntArray:
        """How many pieces are on each board, (B,) int64."""
        counts = np.empty(len(state.ply), np.int64)
        self.kernels.pieces.batch(list(state.words), [counts])
        return counts

    def empty_squares(self, state: State) -> IntArray:
        """How many squares in play are empty on each board, (B,) int64."""
        squares: IntArray = self.board.size - self.holes.bit_count() - self.piece_counts(state)
        return squares

    def kinds_on(self, state: State) -> WordArray:
        """The squares of each of the `kinds`, (kinds, W, B), W words a board."""
        width = self.board.words
        found = np.empty((self.kernels.num_kinds * width, len(state.ply)), np.uint64)
        self.kernels.kinds.batch(list(state.words), list(found))
        return found.reshape(-1, width, len(state.ply))

    # ---- observations ------------------------------------------------------------------------

    def observe(self, state: State, out: Int8Array | None = None) -> Int8Array:
        """What the side to move sees, (B, R, F, C) int8 of 0 and 1, indexed [row, y-1, x-1, plane],
        of boards with R ranks and F files.

        A view of memory that holds the planes first, (B, C * R * F) int8: `out`, if given.
        """
        bits = self._empty_planes(state) if out is None else out
        self.kernels.planes.batch(state_words(state), [bits])
        return self._as_planes(bits)

    def observe_with_legal(
        self, state: State, planes: Int8Array | None = None, mask: BoolArray | None = None
    ) -> tuple[Int8Array, BoolArray]:
        """`observe` and `legal` at once, which is faster; written to `planes` (B, C * R * F) int8
        and `mask` (B, A) bool where they are given.
        """
        planes = self._empty_planes(state) if planes is None else planes
        if mask is None:
            mask = np.empty((len(planes), self.num_actions), np.bool_)
        self.kernels.observe.batch([*state_words(state), state.legal_bits], [planes, mask])
        return self._as_planes(planes), mask

    def _empty_planes(self, state: State) -> Int8Array:
        return np.empty((len(state.ply), self.kernels.num_planes * self.board.size), np.int8)

    def _as_planes(self, bits: Int8Array) -> Int8Array:
        shape = (len(bits), self.kernels.num_planes, *self.board)
        return bits.reshape(shape).transpose(0, 2, 3, 1)


def _difference(kernel: Kernel, words: list[IntArray]) -> IntArray:
    """What a rule gives the side to move less what it gives the other, (B,) int64."""
    mine, theirs = np.empty((2, len(words[0])), np.int64)
    kernel.batch(words, [mine, theirs])
    return mine - theirs


def _random_words(rng: np.random.Generator, count: int) -> WordArray:
    """Uniformly random words, (count,)."""
    if isinstance(rng.bit_generator, np.random.PCG64):
        # The default: its raw words are the same ones, in half the time.
        return rng.bit_generator.random_raw(count)
    return rng.integers(1 << 64, size=count, dtype=np.uint64)


@lru_cache(maxsize=64)
def _kernels_of(rules: CompiledRules) -> Kernels:
    """Of equal games the same: each environment that is made by a name makes a game, and machine
    code stays in memory until the process ends.
    """
    return Kernels(rules)
