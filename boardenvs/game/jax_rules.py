"""A game's rules as pure functions of JAX, on one board: `jax.vmap` makes batches of them.

They are made of the same traced programs as the rules everywhere else, and give the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from boardenvs.utils.imports import extra

with extra("jax"):
    import jax
    import jax.numpy as jnp

import numpy as np

from boardenvs.game.game import Game
from boardenvs.game.rules import swap_sides
from boardenvs.game.state import State, WordArray
from boardenvs.kernel import Kernel
from boardenvs.kernel.jax_words import Stored, bits_of
from boardenvs.kernel.jax_writer import compile_jax


class JaxPosition(NamedTuple):
    """One position; the fields mean what they mean in `game.state.State`.

    A word is a pair of uint32 arrays (low, high).
    """

    words: tuple[Stored, ...]
    legal_bits: tuple[Stored, ...]
    to_move: jax.Array  # () int32
    ply: jax.Array  # () int32
    terminated: jax.Array  # () bool
    history: Stored | None = None  # a pair of (H,), in games that have one


class JaxRules:
    """The rules of a game in JAX. All functions take one board; they may be jitted and vmapped."""

    def __init__(self, game: Game) -> None:
        self.game = game
        kernels = game.kernels
        if game.history:
            self._words_after = self._compiled(kernels.words_after, pieces=True)
            self._begin = self._compiled(kernels.begin, pieces=True)
        else:
            self._step_words = self._compiled(kernels.step_words, pieces=True)
        self._planes = self._compiled(kernels.planes, pieces=True)
        self._sample = self._compiled(kernels.sample, pieces=True)
        self._is_legal = self._compiled(kernels.is_legal)
        self._points = self._compiled(kernels.points)
        with jax.ensure_compile_time_eval():  # it may be made where a function is being traced
            starts = self.boards(game.init(1))
            self.start: JaxPosition = jax.tree.map(lambda x: x[0], starts)

    def _compiled(self, kernel: Kernel, pieces: bool = False) -> Callable[..., Any]:
        return compile_jax(kernel.program(), kernel.name, pieces)

    def boards(self, state: State) -> JaxPosition:
        """Return a batch of positions in JAX: every array has B rows."""
        return JaxPosition(
            tuple(map(self.stored, state.words)),
            tuple(self.stored(word) for word in state.legal_bits.T),
            jnp.asarray(state.to_move, jnp.int32),
            jnp.asarray(state.ply, jnp.int32),
            jnp.asarray(state.terminated),
            None if state.history is None else self.stored(state.history),
        )

    def stored(self, numbers: WordArray) -> Stored:
        """Return words of NumPy, (B,) uint64, in JAX."""
        low, high = numbers, numbers >> np.uint64(32)
        return jnp.asarray(low.astype(np.uint32)), jnp.asarray(high.astype(np.uint32))

    def step_words(self, board: JaxPosition, action: jax.Array) -> JaxPosition:
        """Return the board after a legal action, () int; legality and the end are not checked."""
        size, history, ply = len(board.words), None, board.ply + 1
        if board.history is None:
            *after, to_move, over = self._step_words(*board.words, board.to_move, board.ply, action)
        else:
            *words, to_move = self._words_after(*board.words, board.to_move, action)
            halves = zip(board.words[-2], board.history, strict=True)
            low, high = (jnp.concatenate([key[None], past[:-1]]) for key, past in halves)
            again = (low == words[-2][0]) & (high == words[-2][1])
            repeats = jnp.sum(again, dtype=jnp.uint32)
            history, words[-1] = (low, high), (repeats, jnp.zeros_like(repeats))
            *legal, over = self._begin(*words, to_move, ply)
            after = [*words, *legal]
        return JaxPosition(
            tuple(after[:size]),
            tuple(after[size:]),
            to_move[0].astype(jnp.int32),
            ply,
            over[0] != 0,
            history,
        )

    def is_truncated(self, board: JaxPosition) -> jax.Array:
        """Return whether the cap on plies ends the game here, undecided, () bool."""
        cap = self.game.max_plies
        if cap is None:
            return jnp.zeros_like(board.terminated)
        return (board.ply >= cap) & ~board.terminated

    def is_over(self, board: JaxPosition) -> jax.Array:
        """Return whether the game has ended, by its rules or by the cap on plies, () bool."""
        return board.terminated | self.is_truncated(board)

    def outcome(self, board: JaxPosition, role: jax.Array) -> jax.Array:
        """Return the result for this role if the game ended here, () float32: +1, 0 or -1."""
        points = self._points(*board.words, board.to_move)
        mine, theirs = (low.astype(jnp.int32) for low, _ in points)
        sign = jnp.where(board.to_move == role, 1.0, -1.0).astype(jnp.float32)
        return sign * jnp.sign(mine - theirs).astype(jnp.float32)

    def legal(self, board: JaxPosition) -> jax.Array:
        """Return the legal actions, (A,) bool; all False where terminated."""
        return bits_of(board.legal_bits)[: self.game.num_actions]

    def is_legal(self, board: JaxPosition, action: jax.Array) -> jax.Array:
        """Return whether the action is legal, () bool; numbers that are no action are not."""
        ((flag, _),) = self._is_legal(*board.legal_bits, action)
        return jnp.asarray(flag == 1)

    def observe(self, board: JaxPosition) -> jax.Array:
        """Return the observation of the side to move, (R, F, C) bool, as `Game.observe`."""
        return self.planes(board).reshape(-1, *self.game.board).transpose(1, 2, 0)

    def planes(self, board: JaxPosition) -> jax.Array:
        """Return the observation plane by plane, each square by square, (C * R * F,) bool: what
        networks take.
        """
        bits = bits_of(self._planes(*board.words, board.to_move, board.ply))
        return bits[: np.prod(self.game.observation_shape)]

    def swap_sides(self, board: JaxPosition) -> JaxPosition:
        """Return the position with the other side to move, for `observe` only."""
        words = swap_sides(self.game.word_names, board.words)
        return board._replace(words=words, to_move=1 - board.to_move)

    def by_mover(self, board: JaxPosition) -> tuple[JaxPosition, jax.Array]:
        """Return the position as its mover sees it, and where each action is there, (A,) int."""
        views, size = self.game.views, len(board.words)
        view = board.to_move * views.of_second
        image = self._compiled(self.game.kernels.view, pieces=True)
        words = tuple(image(*board.words, *board.legal_bits, view))
        seen = board._replace(words=words[:size], legal_bits=words[size:], to_move=view * 0)
        return seen, jnp.asarray(views.images)[view]

    def sample(self, board: JaxPosition, key: jax.Array) -> jax.Array:
        """Return a uniformly random legal action, () int32; noop where terminated."""
        low, high = jax.random.bits(key, (2,), jnp.uint32)
        return self.sample_by(board, (low, high))

    def sample_by(self, board: JaxPosition, random: Stored) -> jax.Array:
        """Return the choice of `sample` by a random word."""
        ((action, _),) = self._sample(*board.legal_bits, random)
        return jnp.asarray(action.astype(jnp.int32))


def choose(condition: jax.Array, first: Any, second: Any) -> Any:
    """`first` where the condition is true, else `second`; both are trees of arrays of the shape of
    the condition, or of any shape if the condition is ().
    """
    return jax.tree.map(lambda x, y: jnp.where(condition, x, y), first, second)
